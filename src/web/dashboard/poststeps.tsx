import type { ComponentChildren } from 'preact'
import type { Key } from '../../core/catalogue.js'
import { AppError } from '../../core/errors.js'
import { links } from '../../core/pagelinks.js'
import { audienceAll } from '../../service/audienceall.js'
import type { Outcome as OutcomeOfOne } from '../../service/lib/bulk.js'
import * as posts from '../../service/postlists.js'
import { within, withParameters } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import type { Fields, Flash, LiveView, Outcome, View } from '../kit/page.js'
import { AnswerTitle } from '../parts/answertitle.js'
import { Form, Hidden, Submit } from '../parts/form.js'
import { FormsScript } from '../parts/formsscript.js'
import { boardsWith, roadmapsWith, tagsOffered } from '../parts/lists.js'
import { reasonOf } from '../parts/postrows.js'
import { askedOf, inTable } from '../parts/postquery.js'
import { Top } from '../parts/top.js'

/** Posts of one step: what one change of many takes. */
const STEP = 100
/** Posts of a filter that are changed from one page: the newest. */
export const MOST = 5000
/** What is said of those who are told counts up to so many people. */
export const MOST_TOLD = 1000
/** Posts that could not be changed, of which the last page says why. */
const MOST_NAMED = 100

/** What is left of a change of all posts of a filter, and what came of its steps. The form of each step carries it. */
interface Steps {
  rest: string[]
  total: number
  made: number
  failed: { given: string; code: string }[]
  undos: string[]
}

/** Whether a form is a step of such a change. */
export const isStep = (form: Fields): boolean => form.total !== undefined

const stepsOf = (form: Fields): Steps => ({
  rest: listed(form.rest),
  total: Number(form.total) || 0,
  made: Number(form.made) || 0,
  failed: listed(form.failed).map((each) => {
    const [given = '', code = ''] = each.split('.')
    return { given, code }
  }),
  undos: listed(form.undos),
})

/** The posts of the step that is not made are left too. */
const stoppedAt = (form: Fields): Steps => {
  const steps = stepsOf(form)
  return { ...steps, rest: [...listed(form.ids), ...steps.rest] }
}

/** The numbers of the posts that the address asks for, and what would be lost with them. */
async function allOf(view: LiveView) {
  const { sort: _order, ...filter } = inTable(askedOf(view))
  const found = { numbers: [] as string[], votes: 0, comments: 0 }
  let after: string | null | undefined
  do {
    const { posts: rows, page_info: info } = await view.call(posts.list, { ...filter, sort: 'newest', votes: false, limit: STEP, ...(after && { after }) }) // prettier-ignore
    for (const { number, voters, commentsCount } of rows) {
      found.numbers.push(`#${number}`)
      found.votes += voters.votesCount
      found.comments += commentsCount
    }
    after = info.has_next_page ? info.end_cursor : undefined
  } while (after && found.numbers.length < MOST)
  return found
}

/**
 * How many people are told of a new status of all posts of the filter. Undefined if it tells nobody, if the reader may not know,
 * or if the posts move to another board too: other people may read them there.
 */
async function tellsOf(view: LiveView, { roadmapId, boardId, quiet }: Fields): Promise<string | undefined> {
  if (!view.path.endsWith('/posts/move') || !roadmapId || roadmapId === 'none' || boardId || quiet) return undefined
  if (!view.may(audienceAll)) return undefined
  const { sort: _order, ...filter } = inTable(askedOf(view))
  try {
    const { audience } = await view.call(audienceAll, { ...filter, to: roadmapId, most: MOST_TOLD })
    const { people: count, is_capped: isCapped } = audience
    if (!isCapped) return view.t('flash.tells', { count })
    if (count === 0) return undefined // older posts are not counted, and may have followers
    return view.t(count < MOST_TOLD ? 'steps.tellsAtLeast' : 'flash.tellsMany', { count })
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return undefined // the change itself says what is wrong
    throw error
  }
}

/** The question before the first step, or what came of the steps where somebody stopped. */
export async function betweenSteps(view: LiveView, form: Fields, flash: Flash) {
  if (!view.viewer) return undefined
  const shown = { section: 'posts' as const }
  if (isStep(form)) return form.stop ? { ...shown, ...resultOf(view, form, stoppedAt(form), flash) } : undefined
  if (!form.all) return undefined
  const { t } = view
  const { numbers, votes, comments } = await allOf(view)
  if (numbers.length === 0) return undefined
  const title = t(form.decision === 'delete' ? 'steps.deleteTitle' : 'steps.title', { count: numbers.length })
  const tells = await tellsOf(view, form)
  const steps: Steps = { rest: numbers, total: numbers.length, made: 0, failed: [], undos: [] }
  const show = (
    <div class="narrow" data-back={view.href(within(form.to) ?? '/dashboard/posts')}>
      <FormsScript view={view} />
      <AnswerTitle view={view}>{title}</AnswerTitle>
      {form.decision === 'delete' ? null : (
        <ul>
          {(await changesOf(view, view.path.endsWith('/posts/tag'), form)).map((text) => (
            <li>
              <bdi>{text}</bdi>
            </li>
          ))}
        </ul>
      )}
      {tells === undefined ? null : <p>{tells}</p>}
      <p>{t('steps.explained', { count: Math.ceil(numbers.length / STEP) })}</p>
      <p>
        {form.decision === 'delete'
          ? t('decision.deleteLoss', {
              votes: t('user.voted', { count: votes }),
              comments: t('comment.count', { count: comments }),
            })
          : t('steps.undo')}
      </p>
      <Next view={view} form={form} steps={steps}>
        <Submit kind={form.decision === 'delete' ? 'danger' : 'primary'}>
          {t(form.decision === 'delete' ? 'action.delete' : 'steps.start')}
        </Submit>
        <a class="button plain" href={view.href(within(form.to) ?? '/dashboard/posts')}>
          {t('form.cancel')}
        </a>
      </Next>
    </div>
  )
  return { ...shown, title, show }
}

/** What the posts become, in words. */
async function changesOf(
  view: LiveView,
  isTagging: boolean,
  { decision, roadmapId, boardId, ...form }: Fields,
): Promise<string[]> {
  const { t } = view
  if (decision) return [t(decision === 'spam' ? 'posts.spam' : 'posts.keep')]
  const nameOf = (rows: readonly { url: string; name: string }[], url: string, none?: Key) =>
    rows.find((row) => row.url === url)?.name ?? (none !== undefined && url === 'none' ? t(none) : url)
  const tagged = [
    ...listed(form.add).map((url) => [url, 'posts.addTag'] as const),
    ...listed(form.remove).map((url) => [url, 'posts.removeTag'] as const),
  ]
  if (isTagging) {
    const { rows } = await tagsOffered(view)
    return tagged.map(([url, key]) => view.words.labelled(t(key), nameOf(rows, url)))
  }
  return [
    ...(roadmapId ? [view.words.labelled(t('filter.roadmap'), nameOf((await roadmapsWith(view)).rows, roadmapId, 'post.noRoadmap'))] : []), // prettier-ignore
    ...(boardId ? [view.words.labelled(t('filter.board'), nameOf((await boardsWith(view)).rows, boardId, 'post.noBoard'))] : []), // prettier-ignore
  ]
}

const CARRIED = ['to', 'roadmapId', 'boardId', 'quiet', 'decision', 'add', 'remove'] as const

/** The form of the next step. */
const Next = ({
  view,
  form,
  steps: { rest, total, made, failed, undos },
  goesOn = false,
  children,
}: {
  view: View
  form: Fields
  steps: Steps
  /** Whether a script sends it at once. */
  goesOn?: boolean
  children: ComponentChildren
}) => (
  <Form view={view} to={withParameters(view.url, {})} class="buttons" {...(goesOn && { 'data-steps': '' as const })}>
    {CARRIED.map((name) => (
      <Hidden name={name} value={form[name]} />
    ))}
    <Hidden name="ids" value={rest.slice(0, STEP).join('\n')} />
    <Hidden name="rest" value={rest.slice(STEP).join('\n')} />
    <Hidden name="total" value={String(total)} />
    <Hidden name="made" value={String(made)} />
    <Hidden name="failed" value={failed.map(({ given, code }) => `${given}.${code}`).join('\n')} />
    <Hidden name="undos" value={undos.join('\n')} />
    {children}
  </Form>
)

interface Done {
  outcomes: readonly OutcomeOfOne[]
  changed: number
  undo: { undo_id: string } | null
}

/** The page after a step: how far it is, with the next one, or what came of all. */
export function stepDone(view: View, form: Fields, { outcomes, changed, undo }: Done, flash: Flash): Outcome {
  const before = stepsOf(form)
  const failed = outcomes.flatMap(({ given, error }) => (error ? [{ given, code: error.code }] : []))
  const steps: Steps = {
    ...before,
    made: before.made + changed,
    failed: [...before.failed, ...failed].slice(0, MOST_NAMED),
    undos: [...(undo ? [undo.undo_id] : []), ...before.undos],
  }
  const to = within(form.to) ?? '/dashboard/posts'
  const { t } = view
  if (steps.rest.length === 0) {
    const isPlain = steps.failed.length === 0 && steps.undos.length <= 1
    if (isPlain) return { to, flash: { flash, count: steps.made }, undo: steps.undos[0] }
    return { to, section: 'posts', ...resultOf(view, form, steps, flash) }
  }
  const at = steps.total - steps.rest.length
  const title = t('steps.progress', { done: view.words.number(at), count: steps.total })
  const show = (
    <div class="narrow" data-back={view.href(to)}>
      <FormsScript view={view} />
      <h1>{title}</h1>
      <p class="flash" role="status" tabIndex={-1} autofocus>
        <progress max={steps.total} value={at} aria-label={title} /> {t(`flash.${flash}`, { count: steps.made })}
      </p>
      <Next view={view} form={form} steps={steps} goesOn>
        <Submit>{t('steps.next')}</Submit>
        <button type="submit" class="button plain" name="stop" value="yes">
          {t('steps.stop')}
        </button>
      </Next>
    </div>
  )
  return { to, title, section: 'posts', show }
}

/** What came of all steps, with one button that takes all of them back. */
function resultOf(view: View, form: Fields, { rest, total, made, failed, undos }: Steps, flash: Flash) {
  const { t, href } = view
  const to = within(form.to) ?? '/dashboard/posts'
  const title = t('steps.progress', { done: view.words.number(total - rest.length), count: total })
  const [newest, ...more] = undos
  const back = (
    <a class="button plain" href={href(to)}>
      {t('bulk.back')}
    </a>
  )
  const show = (
    <div class="narrow" data-back={href(to)}>
      <FormsScript view={view} />
      <Top view={view} title={title} />
      <p class="flash" role="status" tabIndex={-1} autofocus>
        {t(`flash.${flash}`, { count: made })}
      </p>
      {failed.length > 0 ? (
        <>
          <h2>{t('posts.failed', { count: failed.length })}</h2>
          <ul>
            {failed.map(({ given, code }) => (
              <li>
                <bdi>{given}</bdi>: {reasonOf(view, { code, message: code })}
              </li>
            ))}
          </ul>
        </>
      ) : null}
      {newest === undefined ? (
        <p>{back}</p>
      ) : (
        <Form view={view} to={links.undo(newest)} class="buttons">
          <Hidden name="to" value={to} />
          <Hidden name="more" value={more.join('\n')} />
          <button type="submit" class="button plain" data-key="u">
            {t('undo.button')}
          </button>
          {back}
        </Form>
      )}
    </div>
  )
  return { title, show }
}
