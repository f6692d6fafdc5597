import { AppError } from '../../core/errors.js'
import { links } from '../../core/pagelinks.js'
import { audience } from '../../service/audience.js'
import type { Outcome as OutcomeOfOne } from '../../service/lib/bulk.js'
import { merge as mergePosts } from '../../service/merges.js'
import * as moderation from '../../service/moderationmany.js'
import { move as movePosts, nowhere } from '../../service/postmoves.js'
import { nothingGiven, tag as tagPosts } from '../../service/posttags.js'
import { pageNumber, within, withParameters } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import {
  action,
  page,
  Redirect,
  type AnyPage,
  type Fields,
  type Flash,
  type LiveView,
  type Outcome,
  type Said,
  type View,
} from '../kit/page.js'
import { Empty } from '../parts/empty.js'
import { KeyHelp } from '../parts/keyhelp.js'
import { Pager } from '../parts/pager.js'
import { UnclearPerson } from '../parts/personfilter.js'
import { ActivePostFilters, PostFilters } from '../parts/postfilters.js'
import { addressOf } from '../parts/postquery.js'
import { Failures, keysOf, PostRows, Problem, someHidden, type Rest } from '../parts/postrows.js'
import { Top } from '../parts/top.js'
import { questionOf } from './eachdecision.js'
import { load } from './posttabledata.js'
import { betweenSteps, isStep, MOST, MOST_TOLD, stepDone } from './poststeps.js'
import { SavedViews } from '../parts/savedviews.js'

export const HOME = '/dashboard/posts'

/** The keys of the rows, and what undoes the last change. */
const KEYS = [
  ['j', 'shortcuts.next'],
  ['k', 'shortcuts.previous'],
  ['x', 'shortcuts.choose'],
  ['X', 'shortcuts.chooseRange'],
  ['o', 'shortcuts.open'],
  ['u', 'shortcuts.undo'],
] as const

/** The page at its own address, where a form shows it again. */
const atHome = (view: LiveView, rest?: Rest): LiveView => ({
  ...view,
  path: HOME,
  ...(rest?.at ? asked(rest.at) : { url: HOME + view.url.slice(view.path.length) }),
  ...(rest && { form: { ...view.form, values: { ids: chosenOf(rest) } } }),
})

/** What an address of the table asks for. */
function asked(url: string): Pick<View, 'url' | 'query' | 'queried'> {
  const { searchParams } = new URL(url, 'http://site.invalid')
  return { url, query: Object.fromEntries(searchParams), queried: (name) => searchParams.getAll(name) }
}

/** After a change, `rest` says what came of it. */
const pageWith = (rest?: Rest): AnyPage => {
  let shown = rest
  return page({
    cache: 'never',
    section: 'posts',
    async load(view) {
      try {
        return await load(atHome(view, rest))
      } catch (error) {
        if (!rest || !(error instanceof Redirect)) throw error
        // The change left fewer pages. A redirect to the last one would lose what came of it.
        shown = { ...rest, at: error.to }
        return load(atHome(view, shown))
      }
    },
    title: ({ t }) => t('nav.posts'),
    show: (view, data) => <Posts view={atHome(view as LiveView, shown)} {...data} rest={rest} />,
  })
}

const chosenOf = ({ failed }: Rest): string => failed.map(({ given }) => given).join('\n')

export const postsPage = pageWith()

/** Bulk forms post to their own address. Reloading that address leads to the list. */
export const sentTo = page({
  cache: 'never',
  section: 'posts',
  load(view) {
    throw new Redirect(withParameters(atHome(view).url, {}))
  },
  title: () => '',
  show: () => <></>,
})

type Data = Awaited<ReturnType<typeof load>>

function Posts({ view, rest, ...data }: Data & { view: View; rest: Rest | undefined }) {
  const { t, href } = view
  const { filter, facets, saved, tags, opened, spam, unclear, error } = data
  const can = {
    moves: data.places !== undefined,
    tags: tags.length > 0 && view.may(tagPosts),
    merges: view.may(mergePosts),
    decides: view.may(moderation.decideMany),
  }
  const refused = error && !unclear ? { ...view, form: { values: {}, error } } : view
  const isFiltered = Object.keys(filter).some((field) => field !== 'sort' && field !== 'withoutSpam')
  const leavesOut = !filter.spam && view.can('board:read')
  return (
    <>
      <Top view={view} title={t('nav.posts')} count={t('board.posts', { count: data.total })}>
        {data.rows.length > 0 && Object.values(can).some(Boolean) ? (
          <KeyHelp view={view} keys={[...KEYS, ...keysOf({ ...can, hidden: someHidden(data.rows) })]} />
        ) : null}
        <SavedViews
          view={view}
          path={HOME}
          saved={saved}
          opened={opened}
          filter={leavesOut ? { ...filter, withoutSpam: true } : filter}
        />
      </Top>
      {rest ? <Failures view={view} rest={rest} rows={data.rows} /> : <Problem view={refused} />}
      <UnclearPerson view={view} unclear={unclear} />
      <PostFilters
        view={view}
        path={HOME}
        filter={filter}
        facets={facets}
        tags={tags}
        isUnclear={unclear !== undefined}
      />
      <ActivePostFilters view={view} path={HOME} filter={filter} facets={facets} tags={tags} />
      {spam ? (
        <p class="note">
          {t('posts.spamLeftOut')}{' '}
          <a href={href(addressOf(HOME, { ...filter, withoutSpam: false, spam: true }))}>
            {t('posts.showSpam', { number: spam })}
          </a>
        </p>
      ) : null}
      {opened && opened.missing.length > 0 ? (
        <p class="note">{t('views.missing', { count: opened.missing.length })}</p>
      ) : null}
      {data.rows.length > 0 ? (
        <PostRows
          view={view}
          path={HOME}
          rows={data.rows}
          query={filter.query ?? ''}
          places={data.places}
          tags={tags}
          all={
            data.total > data.rows.length
              ? { count: Math.min(data.total, MOST), isNewest: data.total > MOST }
              : undefined
          }
        />
      ) : isFiltered || error || unclear ? (
        <Empty title={t('empty.filtered')}>
          <p>
            <a class="button plain" href={href(HOME)}>
              {t('empty.showAll')}
            </a>
          </p>
        </Empty>
      ) : (
        <Empty title={t('empty.posts')}>
          <p>
            {t('posts.emptyNext')} <code>feedbackctl posts create - &lt; posts.csv</code>
          </p>
          <a class="button primary" href={href(links.newPost)}>
            {t('post.new')}
          </a>
        </Empty>
      )}
      <Pager view={view} page={pageNumber(view)} pages={data.pages} isCapped={data.isCapped} />
      {data.rows.length > 0 ? (
        <p class="next csv">
          <a
            href={href(
              withParameters(links.postsFile + view.url.slice(view.path.length), {
                page: undefined,
                sort: undefined,
                ...(leavesOut && { spam: 'false' }),
              }),
            )}
          >
            {t('list.csv')}
          </a>
        </p>
      ) : null}
    </>
  )
}

interface Done {
  outcomes: readonly OutcomeOfOne[]
  changed: number
  undo: { undo_id: string } | null
}

/**
 * How many people a new status of these posts will tell. Undefined if it tells nobody, if the reader may not know, or if
 * the posts move to another board too: other people may read them there.
 */
async function willTell(view: LiveView, { ids, roadmapId, boardId, quiet }: Fields): Promise<Said | undefined> {
  const [first, ...also] = listed(ids)
  const isNews = roadmapId && roadmapId !== 'none' && !boardId && !quiet
  if (!view.viewer || first === undefined || !isNews || !view.may(audience)) return undefined
  try {
    const { audience: found } = await view.call(audience, { post_id: first, also, roadmapId, message: false, most: MOST_TOLD }) // prettier-ignore
    if (found.is_capped) return { flash: 'tellsMany', count: MOST_TOLD }
    return { flash: 'tells', count: found.people }
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return undefined // the change itself says what is wrong
    throw error
  }
}

/** Back to the list, or the list with what could not be done, and what could be. */
export function done(
  { outcomes, changed, undo }: Done,
  to: string | undefined,
  flash: Flash,
  { more = [], at }: { more?: readonly Said[] | undefined; at?: string | undefined } = {},
): Outcome {
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed')
  const id = undo?.undo_id
  return {
    to: within(to) ?? HOME,
    flash: [{ flash, count: changed }, ...more],
    undo: id,
    ...(failed.length > 0 && { again: pageWith({ changed, failed, undo: id, at, flash }) }),
  }
}

const many = ['ids']

/** Counted before the change, because a status that a post has already is no news. */
const told = new WeakMap<Fields, Said>()

export const move = action({
  operation: movePosts,
  page: async () => postsPage,
  many,
  async before(view, form) {
    if (form.all && !form.boardId && !form.roadmapId) throw nowhere()
    const between = await betweenSteps(view, form, 'postsChanged')
    const tells = between || isStep(form) ? undefined : await willTell(view, form)
    if (tells) told.set(form, tells)
    return between
  },
  input: (_view, { ids, boardId, roadmapId, quiet }) => ({
    ids: listed(ids),
    ...(boardId && { boardId }),
    ...(roadmapId && { roadmapId }),
    ...(quiet && { quiet: quiet === 'true' }),
  }),
  done(view, answer, form) {
    if (isStep(form)) return stepDone(view, form, answer, 'postsChanged')
    const isWhole = answer.outcomes.every(({ error }) => error === undefined) // the count is of all of them
    const tells = isWhole && answer.changed > 0 ? told.get(form) : undefined
    return done(answer, form.to, 'postsChanged', { more: tells && [tells] })
  },
})

/** Posts get tags, and lose others. */
export const tag = action({
  operation: tagPosts,
  page: async () => postsPage,
  many: [...many, 'add', 'remove'],
  before(view, form) {
    if (form.all && !form.add && !form.remove) throw nothingGiven()
    return betweenSteps(view, form, 'postsChanged')
  },
  input: (_view, form) => ({ ids: listed(form.ids), add: listed(form.add), remove: listed(form.remove) }),
  done: (view, answer, form) =>
    isStep(form) ? stepDone(view, form, answer, 'postsChanged') : done(answer, form.to, 'postsChanged'),
})

const decidedFlash = ({ decision }: Fields): Flash =>
  decision === 'spam' ? 'postsSpam' : decision === 'delete' ? 'postsDeleted' : 'postsKept'

export const decide = action({
  operation: moderation.decideMany,
  page: async () => postsPage,
  many,
  /** What is lost is said before it is deleted. */
  async before(view, form) {
    const between = await betweenSteps(view, form, decidedFlash(form))
    if (between || isStep(form)) return between
    const ids = listed(form.ids)
    if (form.decision !== 'delete' || form.confirmed || !view.viewer || ids.length === 0) return undefined
    const { outcomes } = await view.dryRun(moderation.decideMany, { ids, decision: 'delete' })
    if (outcomes.every(({ lost }) => lost === undefined)) return undefined // the action says why
    return { ...questionOf(view, { form, outcomes, back: within(form.to) ?? HOME }), section: 'posts' }
  },
  input: (_view, { ids, decision }) => ({ ids: listed(ids), decision }),
  done: (view, answer, form) =>
    isStep(form) ? stepDone(view, form, answer, decidedFlash(form)) : done(answer, form.to, decidedFlash(form)),
})
