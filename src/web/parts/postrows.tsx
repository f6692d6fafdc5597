import { links } from '../../core/pagelinks.js'
import type { Outcome } from '../../service/lib/bulk.js'
import type { Post } from '../../service/lib/postshapes.js'
import { merge } from '../../service/merges.js'
import { decideMany } from '../../service/moderationmany.js'
import { tag as tagPosts } from '../../service/posttags.js'
import { withParameters } from '../kit/addresses.js'
import type { Flash, View } from '../kit/page.js'
import { TellNobody } from './audience.js'
import { Form, Hidden, messageOf, Summary } from './form.js'
import { numberOf, PostTable } from './posttable.js'

/** What a change did not do, said above the rows. */
export interface Rest {
  changed: number
  failed: readonly Outcome[]
  undo: string | undefined
  /** The address of the rows, where the form was on another page. */
  at: string | undefined
  /** What is said of those that were changed. */
  flash: Flash
}

/** What is wrong with a form: without a chosen row, in words that say so. */
export function Problem({ view }: { view: View }) {
  const isUnchosen = view.form.error?.errors?.some(({ field }) => field === 'ids') ?? false
  if (!isUnchosen) return <Summary view={view} />
  return (
    <div class="summary" role="alert" tabIndex={-1} autofocus>
      <h2>{view.t('posts.unchosen')}</h2>
    </div>
  )
}

export function Failures({
  view,
  rest: { changed, failed, undo, flash },
  rows,
}: {
  view: View
  rest: Rest
  rows: readonly Post[]
}) {
  const titles = new Map(rows.map((post) => [numberOf(post), post.title]))
  const { t } = view
  return (
    <div class="summary" role="alert" tabIndex={-1} autofocus>
      <h2>{t('posts.failed', { count: failed.length })}</h2>
      <ul>
        {failed.map(({ given, error }) => (
          <li>
            <bdi>{[given, titles.get(given)].join(' ').trim()}</bdi>: {reasonOf(view, error)}
          </li>
        ))}
      </ul>
      {changed > 0 ? <p>{t(`flash.${flash}`, { count: changed })}</p> : null}
      {undo === undefined ? null : (
        <Form view={view} to={links.undo(undo)}>
          <Hidden name="to" value={withParameters(view.url, {})} />
          <button type="submit" class="button plain" data-key="u">
            {t('undo.button')}
          </button>
        </Form>
      )}
    </div>
  )
}

export function reasonOf(view: View, error: Outcome['error']): string {
  const own = `posts.why.${error?.code}`
  if (view.words.has(own)) return view.words.t(own)
  return error ? messageOf(view, error.code, error.message, error.reason) : ''
}

const DECIDES = { spam: 'posts.spam', keep: 'posts.keep', delete: 'action.delete' } as const
const DECIDE_KEYS = { spam: 's', keep: 'e', delete: '#' } as const

/** The keys of what can be done with the chosen rows. */
export const keysOf = ({
  moves,
  tags,
  merges,
  decides,
  hidden,
}: Record<'moves' | 'tags' | 'merges' | 'decides' | 'hidden', boolean>) => [
  ...(moves
    ? ([
        ['m', 'filter.roadmap'],
        ['v', 'filter.board'],
      ] as const)
    : []),
  ...(tags ? [['t', 'posts.addTag'] as const] : []),
  ...(merges ? [['i', 'posts.mergeInto'] as const] : []),
  ...(decides
    ? [...(hidden ? [['e', 'posts.keep'] as const] : []), ['s', 'posts.spam'] as const, ['#', 'action.delete'] as const]
    : []),
]

/** Whether any row is hidden as spam or held: only those can be published. */
export const someHidden = (rows: readonly Pick<Post, 'is_spam' | 'is_held'>[]): boolean =>
  rows.some(({ is_spam: isSpam, is_held: isHeld }) => isSpam === true || isHeld === true)

/** The rows, and what can be done with those that are chosen. The buttons of one form lead to different addresses. */
export function PostRows({ view, path, rows, query, places, tags, all }: RowsProps) {
  const { t } = view
  const search = withParameters(view.url, {}).slice(view.path.length)
  const [moves, decides] = [places !== undefined, view.may(decideMany) && rows.some(({ may }) => may.includes('spam'))]
  const verbs = (['spam', 'keep', 'delete'] as const).filter((verb) => verb !== 'keep' || someHidden(rows))
  const deletes = decides && rows.some(({ may }) => may.includes('delete'))
  const tagged = view.may(tagPosts) && tags.length > 0
  const merges = view.may(merge)
  const canChoose = moves || tagged || merges || decides
  const table = <PostTable view={view} posts={rows} query={query} canChoose={canChoose} hasTags={tags.length > 0} />
  if (!canChoose) return table
  return (
    <Form view={view} to={`${path}/move${search}`} class="bulk">
      <Hidden name="to" value={withParameters(view.url, {})} />
      {table}
      <div class="verbs">
        <output data-count={t('posts.chosen', { count: 2 })} />
        {all === undefined ? null : (
          <label class="check">
            <input type="checkbox" name="all" value="true" />
            <span>{t(all.isNewest ? 'steps.newest' : 'steps.all', { count: all.count })}</span>
          </label>
        )}
        {places ? (
          <>
            <Where
              name="roadmapId"
              shortcut="m"
              label={t('filter.roadmap')}
              none={t('post.noRoadmap')}
              rows={places.roadmaps}
            />
            <Where
              name="boardId"
              shortcut="v"
              label={t('filter.board')}
              none={t('post.noBoard')}
              rows={places.boards}
            />
            {places.roadmaps.length > 0 ? <TellNobody view={view} /> : null}
            <button type="submit" class="button primary">
              {t('posts.move')}
            </button>
          </>
        ) : null}
        {tagged ? (
          <>
            <Where name="add" shortcut="t" label={t('posts.addTag')} rows={tags} />
            <Where name="remove" label={t('posts.removeTag')} rows={tags} />
            <button type="submit" class="button plain" formaction={view.href(`${path}/tag${search}`)}>
              {t('posts.changeTags')}
            </button>
          </>
        ) : null}
        {merges ? (
          <button
            type="submit"
            class="button plain"
            data-many="i"
            formaction={view.href(`${path}/merge`)}
            formmethod="get"
          >
            {t('posts.mergeInto')}
          </button>
        ) : null}
        {decides
          ? verbs
              .filter((verb) => verb !== 'delete' || deletes)
              .map((decision) => (
                <button
                  type="submit"
                  class={`button ${decision === 'delete' ? 'danger' : 'plain'}`}
                  name="decision"
                  value={decision}
                  data-many={DECIDE_KEYS[decision]}
                  formaction={view.href(`${path}/decide${search}`)}
                >
                  {t(DECIDES[decision])}
                </button>
              ))
          : null}
      </div>
    </Form>
  )
}

const Where = ({
  name,
  shortcut,
  label,
  none,
  rows,
}: {
  name: string
  /** The key that leads there. */
  shortcut?: string
  label: string
  /** What stands for none of them, where that can be chosen. */
  none?: string
  rows: readonly { name: string; url: string }[]
}) =>
  // prettier-ignore
  rows.length === 0 ? null : (
    <select name={name} aria-label={label} data-key={shortcut}>
      <option value="">{label}</option>
      {rows.map((row) => (
        <option value={row.url}>{row.name}</option>
      ))}
      {none === undefined ? null : <option value="none">{none}</option>}
    </select>
  )

interface Place {
  name: string
  url: string
}

interface RowsProps {
  view: View
  path: string
  rows: readonly Post[]
  /** Words to mark. */
  query: string
  /** How many posts of the filter can be changed in steps, the newest of more. Absent where this page has all of them. */
  all: { count: number; isNewest: boolean } | undefined
  /** Where posts can be moved to. Absent: they cannot be moved. */
  places: { boards: readonly Place[]; roadmaps: readonly Place[] } | undefined
  /** The tags of the site. */
  tags: readonly Place[]
}
