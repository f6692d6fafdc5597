import { AppError } from '../../core/errors.js'
import { invalidField } from '../../core/fields.js'
import { searchWords } from '../../core/search/words.js'
import { merge } from '../../service/merges.js'
import * as lists from '../../service/postlists.js'
import * as posts from '../../service/posts.js'
import { mergingScript } from '../kit/assets.js'
import { isolated } from '../kit/bidi.js'
import type { Fields, LiveView, View } from '../kit/page.js'
import { Field } from './form.js'
import { Marked } from './marked.js'

/** Posts that are offered. */
export const MOST_OFFERED = 10

/** What a form offers as the post that stays. */
interface Offered {
  number: number
  title: string
  voters: { votesCount: number; votes_hidden?: boolean }
}

/** What is no number and no address, but may be a slug. */
export const wordsIn = ({ into = '' }: Fields): string | undefined => {
  const text = into.trim().slice(0, 200)
  return text === '' || /^#?\d+$|^#\d+ \u00B7 |\/posts\//.test(text) ? undefined : text
}

/** Other posts that have the words. */
export async function foundBy(view: LiveView, words: string, except: readonly { slug: string }[]) {
  const limit = MOST_OFFERED + except.length
  const { posts: rows } = await view.call(lists.list, { query: words, limit, votes: false })
  return rows.filter(({ slug }) => !except.some((each) => each.slug === slug)).slice(0, MOST_OFFERED)
}

/** Why the words found each. */
export const reasonsFor = (words: string, found: readonly unknown[]) => found.map(() => ({ words: searchWords(words) }))

/** The number, slug or address of a post as somebody gives it, or the number with its title, as a script writes it. */
const postIn = (given: string): string => {
  const numbered = /^#\d+(?= \u00B7 )/.exec(given)?.[0]
  if (numbered !== undefined) return numbered
  const slug = /\/posts\/([^/?#\s]+)/.exec(given)?.[1]
  return slug === undefined ? given : decoded(slug)
}

function decoded(slug: string): string {
  try {
    return decodeURIComponent(slug)
  } catch {
    return slug // an address that was cut, or in another encoding
  }
}

/** What a form gives as the post that stays. The words that found what is chosen are still in the field. */
export const targetIn = ({ into, chosen }: Fields): string =>
  postIn((chosen && wordsIn({ into }) ? chosen : into?.trim()) || chosen || '')

/** The post that a form names; undefined where it is only words. */
export async function targetNamed(view: LiveView, given: string) {
  try {
    return (await view.call(posts.show, { id: given })).post
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return undefined
    throw error
  }
}

/** The address has the number of the post that others were merged into; what is said of it has its title too. */
export async function nameStanding(view: LiveView, flash: 'mergedInto' | 'mergedStays'): Promise<void> {
  const said = view.said.find((each) => each.flash === flash)
  const post = said?.count ? await targetNamed(view, `#${said.count}`) : undefined
  if (said && post) said.name = isolated(`#${post.number} ${post.title}`)
}

/** What is wrong with the field. */
export const wrongTarget = (code: string, message: string, value = ''): AppError =>
  invalidField({ code, message, field: 'into', rule: message, value: value.slice(0, 100) })

/** One post that may stay, as a choice. */
export function TargetChoice({ view: { t }, post, words = [], checked, autofocus = false }: ChoiceProps) {
  const { number, title, voters } = post
  return (
    <label class="check">
      <input type="radio" name="chosen" value={number} checked={checked} autofocus={autofocus} />{' '}
      <span>
        <bdi>
          <Marked text={title} words={words} />
        </bdi>{' '}
        <span class="soft">
          {voters.votes_hidden ? <bdi>#{number}</bdi> : t('merge.votes', { number, count: voters.votesCount })}
        </span>
      </span>
    </label>
  )
}

interface ChoiceProps {
  view: View
  post: Offered
  /** Words to mark. */
  words?: readonly string[]
  checked: boolean
  autofocus?: boolean
}

/** Posts to choose the one that stays from, of which the script takes those that words found. */
export const OfferedTargets = ({ view, found, reasons, words, chosen }: OfferedProps) =>
  found.length === 0 ? null : (
    <fieldset class="reasons" data-found="">
      <legend>{words ? view.t('merge.found', { words }) : view.t('merge.like')}</legend>
      {found.map((post, at) => (
        <TargetChoice
          view={view}
          post={post}
          words={reasons[at]?.words ?? []}
          checked={chosen === String(post.number)}
        />
      ))}
    </fieldset>
  )

interface OfferedProps {
  view: View
  found: readonly Offered[]
  reasons: readonly { words: readonly string[] }[]
  /** What was searched for. */
  words: string | undefined
  /** The number of the one that is chosen. */
  chosen: string | undefined
}

/** The field for the number, the address or words, which the script looks for while they are typed. */
export const TargetField = ({ view, found, words, label, hint, autofocus, required }: FieldProps) => (
  <>
    <Field
      view={view}
      of={merge}
      name="into"
      label={label}
      hint={hint}
      value={words ?? ''}
      autofocus={autofocus}
      required={required}
    />
    <p class="hidden" role="status" data-offered="">
      {words && !view.form.error ? announced(view, found.length) : ''}
    </p>
    <script src={view.href(mergingScript.path)} type="module" />
  </>
)

interface FieldProps {
  view: View
  found: readonly unknown[]
  words: string | undefined
  label: string
  hint: string
  autofocus: boolean
  /** Whether no post is offered to choose. */
  required: boolean
}

/** Announced to screen readers while someone types. The script reads it from this page. */
const announced = ({ t }: View, count: number): string =>
  count === 0 ? t('merge.none') : `${t('merge.count', { count })} ${t('merge.keys')}`
