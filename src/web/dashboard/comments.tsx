import { AppError } from '../../core/errors.js'
import { excerptOf } from '../../core/markdown/excerpt.js'
import { links } from '../../core/pagelinks.js'
import * as service from '../../service/comments.js'
import { decideMany } from '../../service/moderationmany.js'
import { pageNumber } from '../kit/addresses.js'
import { page, type LiveView, type View } from '../kit/page.js'
import { Empty } from '../parts/empty.js'
import { errorText } from '../parts/form.js'
import { KeyHelp } from '../parts/keyhelp.js'
import { assertTidy, filterOf } from '../parts/lists.js'
import { Pager } from '../parts/pager.js'
import { Person, TeamMark } from '../parts/person.js'
import { fieldOf, nobodyIn, unclearPerson, UnclearPerson, type Unclear } from '../parts/personfilter.js'
import { Time } from '../parts/time.js'
import { Top } from '../parts/top.js'
import { decides, Decisions, KEYS, Pick, RowVerbs, type Decidable } from './decisions.js'
import { anchorOf, Unmet } from './unmet.js'
import { WordsField } from '../parts/wordsfield.js'

const HOME = '/dashboard/comments'
const SIZE = 20
/** Characters of a text that are shown. */
const SHOWN = 400
const KINDS = ['public', 'internal', 'spam'] as const
const FILTERS = ['q', 'author', 'kind', 'since'] as const

async function found(view: LiveView) {
  const { q, author, since, kind } = view.query
  const { activity, page_info: info } = await view.call(service.listAll, {
    limit: SIZE,
    page: pageNumber(view),
    ...(q && { query: filterOf(view) }),
    ...(author && { authorId: author.trim() }),
    ...(since && { since }),
    ...((kind === 'public' || kind === 'internal') && { visibility: [kind] }),
    ...(kind === 'spam' && { spam: true }),
  })
  return { rows: activity, hasNext: info.has_next_page }
}

type Found = Awaited<ReturnType<typeof found>>
type Listed = Found['rows'][number]

/** A filter that the operation refuses, as one by a person who is not there, is said above an empty list. */
async function load(view: LiveView): Promise<Found & { unclear?: Unclear | undefined; error?: AppError }> {
  assertTidy(view)
  const unclear = await unclearPerson(view, 'author')
  if (unclear) return { rows: [], hasNext: false, unclear }
  try {
    return await found(view)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error
    return { rows: [], hasNext: false, unclear: nobodyIn(view, 'author', error), error }
  }
}

export const comments = page({
  cache: 'never',
  section: 'comments',
  load,
  title: ({ t }) => t('comments.title'),
  show(view, { rows, hasNext, unclear, error }) {
    const { t } = view
    const isFiltered = FILTERS.some((name) => view.query[name] !== undefined)
    return (
      <>
        <Top view={view} title={t('comments.title')}>
          <KeyHelp view={view} keys={KEYS} />
        </Top>
        <UnclearPerson view={view} unclear={unclear} />
        <Filters view={view} isUnclear={unclear !== undefined} />
        {error && !unclear ? (
          <p role="alert">{error.errors?.map(({ message }) => message).join(' ') ?? errorText(view, error)}</p>
        ) : null}
        <Unmet view={view} titles={new Map(rows.map((row) => [row.id, titleOf(view, row)]))} />
        {rows.length === 0 ? (
          <Empty title={t(isFiltered ? 'empty.filtered' : 'comments.empty')}>
            {isFiltered ? (
              <p>
                <a class="button plain" href={view.href(HOME)}>
                  {t('empty.all')}
                </a>
              </p>
            ) : null}
          </Empty>
        ) : (
          <Decisions view={view} rows={rows.map((row) => rowOf(view, row))}>
            <ol class="inbox" aria-label={t('comments.title')}>
              {rows.map((row, index) => (
                <Comment view={view} row={row} next={rows[index + 1]?.id ?? row.id} />
              ))}
            </ol>
          </Decisions>
        )}
        <Pager view={view} page={pageNumber(view)} pages={0} hasNext={hasNext} />
      </>
    )
  },
})

export const decide = decides(async () => comments, 'comments')

const rowOf = (view: View, { id, comment }: Listed): Decidable => ({
  id,
  updated_at: comment.updated_at,
  verbs: [
    ...(!comment.may.includes('spam')
      ? []
      : comment.is_held
        ? (['keep', 'spam'] as const)
        : [comment.is_spam ? ('keep' as const) : ('spam' as const)]),
    ...(comment.may.includes('delete') && view.may(decideMany) ? (['delete'] as const) : []),
  ],
})

const titleOf = ({ t }: View, { post: { title } }: Listed): string => t('inbox.commentOn', { title })

/** Sent by its button or Enter alone, so that the keyboard can go through the choices. */
function Filters({ view, isUnclear }: { view: View; isUnclear: boolean }) {
  const { t, query, href } = view
  const offered = KINDS.filter((kind) => kind === 'public' || view.can(kind === 'spam' ? 'comment:update:any' : 'comment:view_internal')) // prettier-ignore
  return (
    <div class="filters">
      <details open={FILTERS.some((name) => query[name] !== undefined)}>
        <summary class="button plain">{t('filter.title')}</summary>
        <form class="buttons" action={href(HOME)}>
          <WordsField value={query.q} label={t('comments.words')} />
          <input
            type="text"
            name="author"
            value={query.author}
            maxLength={100}
            aria-label={t('comments.author')}
            placeholder={t('comments.author')}
            {...fieldOf('author', isUnclear)}
          />
          <select name="kind" aria-label={t('comments.kind')}>
            <option value="">{t('comments.every')}</option>
            {offered.map((kind) => (
              <option value={kind} selected={kind === query.kind}>
                {t(`comments.${kind}`)}
              </option>
            ))}
          </select>
          <label>
            {t('comments.since')} <input type="date" name="since" value={query.since} />
          </label>
          <button type="submit" class="button plain">
            {t('filter.apply')}
          </button>
        </form>
      </details>
    </div>
  )
}

function Comment({ view, row, next }: { view: View; row: Listed; next: string }) {
  const { t, href } = view
  const { id, author, comment, post } = row
  const name = `${anchorOf(id)}-title`
  const decidable = rowOf(view, row)
  return (
    <li>
      <article id={anchorOf(id)} tabIndex={-1} aria-labelledby={name} data-row>
        {decidable.verbs.length > 0 ? <Pick view={view} row={decidable} label={titleOf(view, row)} /> : null}
        <div>
          <h2 id={name}>
            <a href={href(links.comment(post.slug, id))} data-key="o">
              <bdi>{titleOf(view, row)}</bdi>
            </a>
          </h2>
          <p class="facts">
            {comment.is_internal ? <span class="mark">{t('mark.internal')}</span> : null}
            {comment.is_spam ? <span class="mark spam">{t('mark.spam')}</span> : null}
            {comment.is_held ? <span class="mark">{t('mark.held')}</span> : null}
            <Person view={view} person={author} />
            <TeamMark view={view} person={author} />
            <Time view={view} at={row.created_at} />
          </p>
          <p class="text" dir="auto">
            {excerptOf(comment.body, SHOWN)}
          </p>
          <RowVerbs view={view} row={decidable} next={next} about={name} />
        </div>
      </article>
    </li>
  )
}
