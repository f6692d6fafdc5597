import { links } from '../../core/pagelinks.js'
import type { Move } from '../../service/posthistory.js'
import { isolated } from '../kit/bidi.js'
import type { View } from '../kit/page.js'
import { BoardSwatch, FormerSwatch } from './chip.js'
import { nameOf } from './person.js'
import { Time } from './time.js'

/** Through which roadmaps and boards a post went, and what was merged into it, oldest first. */
export const History = ({ view, slug, moves }: { view: View; slug: string; moves: readonly Move[] }) =>
  moves.length === 0 ? null : (
    <details class="history">
      <summary>{view.t('history.title')}</summary>
      <ol>
        {moves.toReversed().map((move) => {
          return (
            <li>
              <Time view={view} at={move.movedAt} />
              <span>
                {move.to && move.kind === 'roadmap' ? <FormerSwatch color={move.to.color} /> : null}
                {move.to && move.kind !== 'roadmap' ? <BoardSwatch board={move.to} /> : null} {sentenceOf(view, move)}
                {move.comment_id ? (
                  <>
                    {' '}
                    <a href={view.href(links.comment(slug, move.comment_id))}>{view.t('history.message')}</a>
                  </>
                ) : null}
                {move.movedBy ? (
                  <span class="soft"> {view.t('history.by', { name: isolated(nameOf(view, move.movedBy)) })}</span>
                ) : null}
              </span>
            </li>
          )
        })}
      </ol>
    </details>
  )

/** A whole sentence, because languages order its parts differently. */
function sentenceOf({ t }: View, { kind, from, to, merged }: Move): string {
  if (kind === 'merge') return t('history.merged', { number: merged?.number ?? 0, title: isolated(merged?.title) })
  if (!from && !to) return t(kind === 'roadmap' ? 'post.noRoadmap' : 'post.noBoard') // of one that is deleted
  const what = from && to ? 'moved' : to ? 'added' : 'removed'
  return t(`history.${kind}.${what}`, { from: isolated(from?.name), to: isolated(to?.name) })
}
