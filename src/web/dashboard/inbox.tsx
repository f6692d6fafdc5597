import { excerptOf } from '../../core/markdown/excerpt.js'
import { AppError } from '../../core/errors.js'
import { links } from '../../core/pagelinks.js'
import * as service from '../../service/moderation.js'
import { move as movePosts } from '../../service/postmoves.js'
import { pageNumber, withParameters } from '../kit/addresses.js'
import { isolated } from '../kit/bidi.js'
import { page, Redirect, type LiveView, type View } from '../kit/page.js'
import { Empty } from '../parts/empty.js'
import { assertTidy, boardsWith, roadmapsWith } from '../parts/lists.js'
import { KeyHelp } from '../parts/keyhelp.js'
import { nameStanding } from '../parts/mergetarget.js'
import { Pager } from '../parts/pager.js'
import { Person } from '../parts/person.js'
import { addressOf } from '../parts/postquery.js'
import { choicesOf } from '../parts/rowchoices.js'
import { AuthorFacts, Reports } from '../parts/reports.js'
import { sectionsFor } from '../parts/sections.js'
import { Time } from '../parts/time.js'
import { Top } from '../parts/top.js'
import { decides, Decisions, KEYS, Pick, RowVerbs, type Decidable } from './decisions.js'
import { EachChoice, StatusChoice } from './eachdecision.js'
import { ByBlocked, daysOf, Filters, HOME, isSnoozed, reasonOf, tabOf } from './inboxfilters.js'
import { moreWays, pageOf, placeOf, Repeats, Ways } from './inboxways.js'
import { Snoozed } from './snoozing.js'
import { anchorOf, goneOf, Unmet } from './unmet.js'

const POSTS = '/dashboard/posts'
/** The keys of the links of a row. */
const WAYS = [
  ['r', 'comment.reply'],
  ['n', 'comment.writeNote'],
  ['m', 'post.changeStatus'],
  ['i', 'action.merge'],
  ['#', 'action.delete'],
] as const
const SIZE = 20
/** What blocked people wrote that one button hides: as much as a change of many takes. */
const MOST_BLOCKED = 100
/** Days without a status after which a post is late. */
const LATE = 7
/** Characters of a text that are shown. */
const SHOWN = 600

/** People who cannot moderate are redirected to their first section. */
async function load(view: LiveView) {
  if (!view.may(service.list)) {
    const [first] = sectionsFor(view)
    throw first ? new Redirect(first.path) : new AppError('NOT_FOUND', 'There is no such page.')
  }
  assertTidy(view)
  const [reason, days, { board }] = [reasonOf(view), daysOf(view), view.query]
  const found = await view.call(service.list, {
    ...(reason && { reasons: [reason] }),
    ...(isSnoozed(view) && { snoozed: true }),
    ...(board !== undefined && { boardId: [board] }),
    days,
    limit: SIZE,
    page: pageNumber(view),
  })
  if (found.items.length === 0 && found.total > 0)
    throw new Redirect(withParameters(view.url, { page: found.total_pages === 1 ? undefined : found.total_pages }))
  await nameStanding(view, 'mergedInto')
  const stages = view.may(movePosts) ? (await roadmapsWith(view)).rows : []
  nameStatus(view, stages)
  const counts = await view.call(service.count, { days })
  const said = view.said.find(({ flash }) => flash === 'decidedBlock')
  const isAbout = counts.reasons.blocked > 0 && (said || (tabOf(view) === undefined && board === undefined))
  const blocked = isAbout ? (await view.call(service.list, { reasons: ['blocked'], limit: MOST_BLOCKED })).items : []
  // The list scrolls to the next row, so its top may be out of sight
  if (said) said.more = <ByBlocked view={view} rows={blocked.map(rowOf)} isSaid />
  return {
    ...found,
    counts,
    blocked: said ? [] : blocked,
    boards: await boardsWith(view, board),
    stages,
    gone: await goneOf(view, found.items),
  }
}

/** Replaces the url of a status in the message with its name. */
function nameStatus(view: View, stages: readonly { name: string; url: string }[]): void {
  const said = view.said.find(({ flash }) => flash === 'decidedStatus')
  const stage = stages.find(({ url }) => url === view.query.now)
  if (said) Object.assign(said, stage ? { name: isolated(stage.name) } : { flash: 'decidedKeep' })
}

export const inbox = page({
  cache: 'never',
  section: 'inbox',
  isEntrance: true,
  load,
  title: ({ t }) => t('inbox.title'),
  show(view, { items, total, total_pages: pages, counts, boards, stages, blocked, gone }) {
    const { t } = view
    const rows = items.map(rowOf)
    const choices = choicesOf(view)
    const isFiltered = tabOf(view) !== undefined || view.query.board !== undefined
    return (
      <>
        <Top
          view={view}
          title={t('inbox.title')}
          count={t(isSnoozed(view) ? 'inbox.snoozedCount' : 'inbox.count', { count: total })}
        >
          <KeyHelp view={view} keys={[...KEYS, ...WAYS, ['z', 'decision.snooze']]} />
        </Top>
        <Filters view={view} counts={counts} boards={boards} />
        <ByBlocked view={view} rows={blocked.map(rowOf)} />
        <Unmet view={view} titles={new Map(items.map((item) => [item.id, titleOf(view, item)]))} gone={gone} />
        {items.length === 0 ? (
          <Empty title={t(isFiltered ? 'empty.filtered' : 'inbox.empty')}>
            {isFiltered || counts.decided === 0 ? null : <p>{t('inbox.decided', { count: counts.decided })}</p>}
            <p>
              <a class="button plain" href={view.href(isFiltered ? HOME : '/?sort=newest')}>
                {t(isFiltered ? 'empty.all' : 'inbox.newest')}
              </a>
            </p>
          </Empty>
        ) : (
          <Decisions view={view} rows={rows} hasEach isQueue={tabOf(view) !== 'snoozed'}>
            <ol class="inbox" aria-label={t('inbox.title')}>
              {items.map((item, index) => (
                <Waiting
                  view={view}
                  item={item}
                  row={rowOf(item)}
                  at={index}
                  stages={item.kind === 'post' ? stages : []}
                  choice={choices.get(item.id)}
                  next={items[index + 1]?.id ?? items[index - 1]?.id}
                />
              ))}
            </ol>
          </Decisions>
        )}
        {view.can('roadmap:read') ? (
          <p class="next">
            <a href={view.href(addressOf(POSTS, { waiting: LATE, sort: 'oldest' }))}>
              {t('inbox.late', { count: LATE })}
            </a>
          </p>
        ) : null}
        <Pager view={view} page={pageNumber(view)} pages={pages} />
      </>
    )
  },
})

export const decide = decides(async () => inbox, 'inbox')

/** Offers only decisions that change something. */
export const rowOf = (item: service.Item): Decidable => {
  const { id, updated_at, may, snoozed, is_spam: isSpam, reasons, author_is_blocked: isBlocked } = item
  const isDone = { spam: isSpam && reasons.length === 0, block: isBlocked, delete: false }
  const verbs = (['spam', 'block', 'delete'] as const).filter((verb) => may.includes(verb) && !isDone[verb])
  const waits = snoozed ? (['wake'] as const) : reasons.length > 0 ? (['snooze'] as const) : []
  return { id, updated_at, verbs: may.includes('spam') ? ['keep', ...verbs, ...waits] : [] }
}

const titleOf = ({ t }: View, { kind, post: { title } }: service.Item): string =>
  kind === 'post' ? title : t('inbox.commentOn', { title })

/** A post or comment that waits, and why. */
function Waiting({ view, item, row, at, stages, choice, next }: WaitingProps) {
  const { t, href } = view
  const { id, author, board, text, reports } = item
  const name = `${anchorOf(id)}-title`
  const marks = [...item.reasons.filter((reason) => reason !== 'reported'), ...(item.is_internal ? ['internal'] : [])]
  const whole = text ?? ''
  const hasStatus = row.verbs.length > 0 && stages.length > 0
  const excerpt = excerptOf(whole, SHOWN)
  return (
    <li>
      <article id={anchorOf(id)} tabIndex={-1} aria-labelledby={name} data-row>
        <Pick view={view} row={row} label={titleOf(view, item)} isChosen={choice?.isChosen} />
        <div>
          <h2 id={name}>
            <a href={href(pageOf(item, placeOf(view, id)))} data-key="o">
              <bdi>{titleOf(view, item)}</bdi>
            </a>
          </h2>
          <p class="facts">
            {reports.length > 0 ? (
              <strong class="mark spam">{t('inbox.reports', { count: reports.length })}</strong>
            ) : null}
            {marks.map((mark) => (
              <span class={mark === 'spam' || mark === 'blocked' ? 'mark spam' : 'mark'}>
                {t(
                  mark === 'internal' ? 'mark.internal' : `inbox.mark.${mark as 'new' | 'edited' | 'spam' | 'blocked'}`,
                )}
              </span>
            ))}
            {item.is_held ? <span class="mark">{t('mark.held')}</span> : null}
            {item.notes ? <span class="mark">{t('inbox.notes', { count: item.notes })}</span> : null}
            <Snoozed view={view} item={item} />
            <Person view={view} person={author} />
            <AuthorFacts view={view} account={item.author_account} />
            {board ? (
              <a href={href(links.board(board.url))}>
                <bdi>{board.name}</bdi>
              </a>
            ) : null}
            <Time view={view} at={item.waiting_since} />
          </p>
          {excerpt === '' ? null : (
            <p class="text" dir="auto">
              {excerpt}
            </p>
          )}
          <Reports view={view} reports={reports} />
          <Repeats view={view} item={item} />
          <RowVerbs view={view} row={row} about={name} more={moreWays({ view, item, next, hasStatus })}>
            {hasStatus ? <StatusChoice view={view} at={at} stages={stages} chosen={choice?.status} /> : null}
            <Ways view={view} item={item} next={next} />
          </RowVerbs>
          {row.verbs.length === 0 ? null : (
            <EachChoice
              view={view}
              at={at}
              about={name}
              canDelete={row.verbs.includes('delete')}
              chosen={choice?.word}
            />
          )}
        </div>
      </article>
    </li>
  )
}

interface WaitingProps {
  view: View
  item: service.Item
  row: Decidable
  /** Its place on the page. */
  at: number
  /** The statuses that it can get here. */
  stages: readonly { name: string; url: string }[]
  /** Its choices from before another row was decided. */
  choice: { word: string; status: string; isChosen: boolean } | undefined
  next: string | undefined
}
