import type { ComponentChildren } from 'preact'
import type { Key } from '../../core/catalogue.js'
import { isId } from '../../core/ids.js'
import { decideMany } from '../../service/moderationmany.js'
import { withParameters } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import { action, Redirect, type AnyAction, type AnyPage, type Fields, type Said, type View } from '../kit/page.js'
import type { Section } from '../kit/sections.js'
import { Form, Hidden } from '../parts/form.js'
import { choicesIn, nextOf } from '../parts/rowchoices.js'
import { ApplyEach, eachOf, itemOf, questionOf, statusOf, type Item } from './eachdecision.js'
import { snoozeQuestion } from './snoozing.js'
import { anchorOf, unmetIn } from './unmet.js'

/** What is decided with a button. `block` also blocks the author. */
type Verb = 'keep' | 'spam' | 'block' | 'snooze' | 'wake' | 'delete'
const VERBS = {
  keep: { label: 'decision.keep', flash: 'decidedKeep', key: 'e', kind: 'plain' },
  spam: { label: 'decision.spam', flash: 'decidedSpam', key: 's', kind: 'plain' },
  block: { label: 'decision.block', flash: 'decidedBlock', key: 'b', kind: 'danger' },
  snooze: { label: 'decision.snooze', flash: 'decidedSnooze', key: 'z', kind: 'plain' },
  wake: { label: 'decision.wake', flash: 'decidedWake', key: 'z', kind: 'plain' },
  delete: { label: 'action.delete', flash: 'decidedDelete', key: undefined, kind: 'danger' },
} as const satisfies Record<Verb, { label: Key; flash: Said['flash']; key: string | undefined; kind: string }>

/** The keys of a page with such rows. */
export const KEYS: readonly (readonly [key: string, does: Key])[] = [
  ['j', 'shortcuts.next'],
  ['k', 'shortcuts.previous'],
  ['x', 'shortcuts.choose'],
  ['X', 'shortcuts.chooseRange'],
  ['o', 'shortcuts.open'],
  ...(['keep', 'spam', 'block'] as const).map((verb) => [VERBS[verb].key, VERBS[verb].label] as const),
  ['u', 'shortcuts.undo'],
]

const isVerb = (text: string | undefined): text is Verb => text !== undefined && Object.hasOwn(VERBS, text)

/** A post or comment of a list, as a form names it. */
export interface Decidable {
  id: string
  updated_at: string
  /** Delete has no button in a row: one link there asks first. */
  verbs: readonly Verb[]
}

/** The id, and the version that was shown. If the text has changed since, the decision is refused. */
export const valueOf = ({ id, updated_at: version }: Decidable): string => `${id} ${version}`

/** A form around rows, that decides about the chosen ones, or about one. */
export function Decisions({ view, rows, hasEach = false, isQueue = false, children }: DecisionsProps) {
  const { t } = view
  const verbs = (Object.keys(VERBS) as Verb[]).filter((verb) => rows.some((row) => row.verbs.includes(verb)))
  if (verbs.length === 0) return <>{children}</>
  return (
    <Form view={view} to={withParameters(view.url, {})} class="bulk">
      {/* Enter in a checkbox sends the first button, and decides nothing */}
      <button type="submit" name="verb" value="none" hidden />
      {hasEach ? <Hidden name="rows" value={rows.map(valueOf).join()} /> : null}
      {isQueue ? <Hidden name="waiting" value="true" /> : null}
      {children}
      <div class="verbs" role="group" aria-label={t('decision.forChosen')}>
        <span>{t('decision.forChosen')}</span> <output data-count={t('decision.chosen', { count: 2 })} />
        {verbs.map((verb) => (
          <button
            type="submit"
            class={`button ${VERBS[verb].kind}`}
            name="verb"
            value={verb}
            data-many={VERBS[verb].key ?? '#'}
          >
            {t(VERBS[verb].label)}
          </button>
        ))}
        {hasEach ? <ApplyEach view={view} /> : null}
      </div>
    </Form>
  )
}

interface DecisionsProps {
  view: View
  rows: readonly Decidable[]
  /** Whether each row has a choice of its own, see `EachChoice`. */
  hasEach?: boolean
  /** Whether the rows wait: what somebody else decides meanwhile stands. */
  isQueue?: boolean
  children: ComponentChildren
}

/** The checkbox of a row. What could not be decided stays chosen. */
export const Pick = ({ view, row, label, isChosen = false }: PickProps) => (
  <span class="pick">
    {row.verbs.length === 0 ? null : (
      <input
        type="checkbox"
        name="chosen"
        value={valueOf(row)}
        checked={isChosen || unmetIn(view).has(row.id)}
        aria-label={view.t('table.choose', { name: label })}
        data-key="x"
      />
    )}
  </span>
)

interface PickProps {
  view: View
  row: Decidable
  label: string
  /** Whether it was chosen before another row was decided. */
  isChosen?: boolean | undefined
}

/**
 * The buttons of one row. `next` is the row after it, which is where the keyboard goes on; a form that names its rows
 * needs none.
 */
export function RowVerbs({ view, row, next, about, hasKeys = true, more, children }: RowVerbsProps) {
  const button = (verb: Verb) => (
    <button
      type="submit"
      class={`button ${VERBS[verb].kind}`}
      name="one"
      value={`${verb} ${valueOf(row)} ${next ?? ''}`.trim()}
      data-key={hasKeys ? VERBS[verb].key : undefined}
    >
      {view.t(VERBS[verb].label)}
    </button>
  )
  const verbs = row.verbs.filter((verb) => verb !== 'delete')
  const isFirst = (verb: Verb) => !more || verb === 'keep' || verb === 'spam'
  return (
    <span class="buttons" role="group" aria-labelledby={about}>
      {verbs.filter(isFirst).map(button)}
      {children}
      {more ? (
        <details class="picks">
          <summary class="button plain">{view.t('decision.more')}</summary>
          <span class="buttons">
            {verbs.filter((verb) => !isFirst(verb)).map(button)}
            {more}
          </span>
        </details>
      ) : null}
    </span>
  )
}

interface RowVerbsProps {
  view: View
  row: Decidable
  next?: string | undefined
  /** The id of what names the row. */
  about: string
  /** Whether they have keys. On the page of one post, some have another meaning. */
  hasKeys?: boolean
  /** What else there is to do, which is folded with all but the first two buttons. */
  more?: ComponentChildren
  /** What is beside the first buttons. */
  children?: ComponentChildren
}

/** What a form says: the button of one row, the choice of each, or that for the chosen ones. */
function sentBy(form: Fields): { verb: Verb | 'each' | undefined; items: Item[]; next: string | undefined } {
  const [one, id = '', version = '', named = ''] = (form.one ?? '').split(' ')
  const next = form.rows === undefined ? named : nextOf(form, id)
  if (one) return { verb: verbOf(one), items: [{ id, version, status: statusOf(form, id) }], next: isId(next) ? next : undefined } // prettier-ignore
  if (form.verb === 'each' || form.verb === 'rest') return { verb: 'each', items: eachOf(form), next: undefined }
  const items = listed(form.chosen).map(itemOf)
  return { verb: verbOf(form.verb), items: items.map((item) => ({ ...item, status: statusOf(form, item.id) })), next: undefined } // prettier-ignore
}

/** At noon in UTC it is the same day nearly everywhere. */
const dayOf = (date = ''): string => (/^\d{4}-\d\d-\d\d$/.test(date) ? `${date}T12:00:00Z` : date)

const verbOf = (word: string | undefined): Verb | undefined => (isVerb(word) ? word : undefined)

function inputOf(view: View, form: Fields) {
  const { verb, items } = sentBy(form)
  const choices = choicesIn(form)
  if (verb === undefined) throw new Redirect(withParameters(view.url, { done: 'decidedNone', choices }))
  if (items.length === 0) throw new Redirect(withParameters(view.url, { done: 'chooseFirst', choices }))
  return {
    ...(verb === 'each'
      ? {
          decisions: items.map(({ decision = 'keep' }) => decision),
          roadmapIds: items.map(({ status = '' }) => status),
        }
      : { decision: verb === 'block' ? 'spam' : verb }),
    ...(verb === 'keep' &&
      items.some(({ status }) => status) && { roadmapIds: items.map(({ status = '' }) => status) }),
    ...(verb === 'block' && { block: true }),
    ...(verb === 'snooze' && { until: form.until || dayOf(form.date) }),
    ids: items.map((item) => item.id),
    if_updated_at: items.map(({ version }) => version),
    ...(form.waiting && { if_waiting: true }),
  } as const
}

/** The url of the status that all decided posts have now; undefined if they differ or have none. */
function statusGiven(items: readonly Item[], decided: ReadonlySet<string>): string | undefined {
  const given = items.filter(({ id }) => decided.has(id))
  const isKept = given.every(({ decision = 'keep', status }) => decision === 'keep' && status === given[0]?.status)
  return (isKept && given[0]?.status) || undefined
}

/** The action of such a form, on a page that shows the list again. Before something is deleted, a page says what is lost. */
export const decides = (
  page: () => Promise<AnyPage>,
  section: Section,
  /** Where it leads if that is not the list again. */
  leads = (_view: View, to: string, _verb: string | undefined): string => to,
): AnyAction =>
  action({
    operation: decideMany,
    page,
    many: ['chosen'],
    async before(view, form) {
      const { verb, items } = sentBy(form)
      const back = withParameters(view.url, { choices: choicesIn(form) })
      if (verb === 'snooze' && items.length > 0 && view.viewer) {
        const attempt = (until = form.until) => view.dryRun(decideMany, inputOf(view, { ...form, until }))
        const asked = await snoozeQuestion(view, form, { attempt, back })
        return asked && { ...asked, section }
      }
      const isLoss = verb === 'delete' || items.some(({ decision }) => decision === 'delete')
      if (!isLoss || form.confirmed || !view.viewer) return undefined
      const { outcomes } = await view.dryRun(decideMany, inputOf(view, form))
      if (outcomes.every(({ lost }) => lost === undefined)) return undefined // the action says why
      return { ...questionOf(view, { form, outcomes, back }), section }
    },
    input: inputOf,
    done(view, { outcomes, changed, undo }, form) {
      const { verb, items, next } = sentBy(form)
      const unmet = outcomes.flatMap(({ given, error }) => (error ? [`${given}.${error.code}`] : []))
      const decided = new Set(outcomes.flatMap(({ given, error }) => (error ? [] : [given])))
      const gone = outcomes.flatMap(({ given, error }) => (error?.code.endsWith('_NOT_FOUND') ? [given] : []))
      const status = verb === undefined || verb === 'keep' || verb === 'each' ? statusGiven(items, decided) : undefined
      const flash = status ? 'decidedStatus' : verb === 'each' ? 'decidedEach' : VERBS[verb ?? 'keep'].flash
      const to = withParameters(view.url, {
        unmet: unmet.join(','),
        choices: form.rows === undefined ? view.queried('choices') : choicesIn(form, new Set([...decided, ...gone])),
        now: status,
      })
      return {
        to: leads(view, next === undefined || unmet.length > 0 ? to : `${to}#${anchorOf(next)}`, verb),
        flash: changed === 0 ? 'decidedNone' : { flash, count: changed },
        undo: undo?.undo_id,
      }
    },
  })
