import type { Post } from '../../service/lib/postshapes.js'
import { merge as mergePosts } from '../../service/merges.js'
import * as lists from '../../service/postlists.js'
import { cameFrom, within, withQuery } from '../kit/addresses.js'
import { listed, pathAndQuery } from '../kit/fields.js'
import { action, page, Redirect, type Fields, type LiveView, type View } from '../kit/page.js'
import { Empty } from '../parts/empty.js'
import { Check, Form, Hidden, Submit, Summary } from '../parts/form.js'
import {
  foundBy,
  OfferedTargets,
  reasonsFor,
  TargetChoice,
  TargetField,
  targetIn,
  targetNamed,
  wordsIn,
  wrongTarget,
} from '../parts/mergetarget.js'
import { numberOf } from '../parts/posttable.js'
import { Refused } from '../parts/refused.js'
import { itemOf } from './eachdecision.js'
import { done, HOME } from './posts.js'

const PATH = `${HOME}/merge`
/** Posts that one merge takes, and posts that one search names. */
const [MOST, AT_ONCE] = [100, 40]
/** What its address says. The form of the table has fields for other changes too. */
const ASKED = new Set(['ids', 'to', 'all', 'into'])

const backOf = (view: View): string => cameFrom(view) ?? HOME

/** The numbers of the chosen posts, which a form that is shown again has and its address may lack. */
const numbersIn = (view: View): string[] => {
  const sent = listed(view.form.values.ids)
  const given = sent.length > 0 ? sent.map((each) => itemOf(each).id) : view.queried('ids')
  return [...new Set(given.flatMap((text) => /^#?0*(\d{1,9})$/.exec(text)?.[1] ?? []))].slice(0, MOST)
}

/** The chosen posts that there are, first the one that others are most likely merged into. */
async function chosenIn(view: LiveView, numbers: readonly string[]): Promise<Post[]> {
  const found: Post[] = []
  for (let at = 0; at < numbers.length; at += AT_ONCE) {
    const query = numbers.slice(at, at + AT_ONCE).map((number) => `#${number}`).join(' ') // prettier-ignore
    found.push(...(await view.call(lists.list, { query, limit: AT_ONCE, votes: false })).posts)
  }
  return found.toSorted(
    (one, other) =>
      Number(isHidden(one)) - Number(isHidden(other)) ||
      other.voters.votesCount - one.voters.votesCount ||
      one.number - other.number,
  )
}

/** Nothing is merged into a hidden post. */
const isHidden = ({ is_spam: isSpam, is_held: isHeld }: Post): boolean => isSpam === true || isHeld === true

/** Merges the chosen posts of the table into one of them, or into another. */
export const mergeChosen = page({
  cache: 'never',
  section: 'posts',
  of: mergePosts,
  forms: [mergePosts],
  async load(view) {
    const numbers = numbersIn(view)
    if (Object.keys(view.query).some((name) => !ASKED.has(name)))
      throw new Redirect(withQuery(PATH, { to: view.query.to, all: view.query.all, ids: numbers }))
    const chosen = await chosenIn(view, numbers)
    const words = wordsIn(view.form.error ? view.form.values : view.query)
    const found = words ? await foundBy(view, words, chosen) : []
    return { chosen, found, words, gone: numbers.length - chosen.length }
  },
  title: ({ t }, { chosen }) =>
    chosen.length === 0 ? t('posts.mergeInto') : t('merge.chosen', { count: chosen.length }),
  show(view, { chosen, found, words, gone }) {
    const { t, form, href, query } = view
    const [first] = chosen
    const cancel = (
      <a class="button plain" href={href(backOf(view))}>
        {t('form.cancel')}
      </a>
    )
    if (!first)
      return (
        <Empty title={gone > 0 ? t('merge.gone', { count: gone }) : t('posts.unchosen')} isPage>
          <p>{cancel}</p>
        </Empty>
      )
    // A new search clears the choice
    const isSearched = words !== undefined && form.values.searched !== words
    const preset = words || chosen.length === 1 || isHidden(first) ? undefined : String(first.number)
    const named = isSearched ? undefined : (form.values.chosen ?? preset)
    return (
      <div class="narrow">
        <h1>{t('merge.chosen', { count: chosen.length })}</h1>
        <Summary view={view} />
        <p>{t('merge.whatChosen')}</p>
        {gone > 0 ? <p class="note">{t('merge.gone', { count: gone })}</p> : null}
        {query.all ? <p class="note">{t('merge.chosenOnly')}</p> : null}
        <Form view={view} to={withQuery(PATH, { to: backOf(view), ids: chosen.map(({ number }) => String(number)) })}>
          <Hidden name="to" value={backOf(view)} />
          <Hidden name="ids" value={chosen.map((post) => `${numberOf(post)} ${post.updatedAt}`).join('\n')} />
          <Hidden name="searched" value={words} />
          <Refused view={view} of={mergePosts} />
          {chosen.length === 1 ? (
            <Chosen view={view} post={first} />
          ) : (
            <fieldset class="reasons">
              <legend>{t('merge.stays')}</legend>
              {chosen.map((post) =>
                isHidden(post) ? (
                  <Chosen view={view} post={post} />
                ) : (
                  <TargetChoice
                    view={view}
                    post={post}
                    checked={named === String(post.number)}
                    autofocus={!form.error && preset === String(post.number)}
                  />
                ),
              )}
            </fieldset>
          )}
          {words ? (
            <OfferedTargets view={view} found={found} reasons={reasonsFor(words, found)} words={words} chosen={named} />
          ) : null}
          <TargetField
            view={view}
            found={found}
            words={words}
            label={t(preset === undefined && !words ? 'merge.into' : 'merge.other')}
            hint={t('merge.hint')}
            autofocus={!form.error && preset === undefined}
            required={found.length === 0 && (chosen.length === 1 || isHidden(first))}
          />
          <Check
            view={view}
            name="tell"
            label={t('merge.tell')}
            checked={chosen.length === 1}
            isSent={form.error !== undefined}
          />
          <div class="buttons">
            <Submit>{t('merge.send')}</Submit>
            {cancel}
          </div>
        </Form>
      </div>
    )
  },
})

/** A chosen post that cannot be the one to keep. */
const Chosen = ({ view: { t }, post }: { view: View; post: Post }) => (
  <p>
    <bdi>{`#${post.number} ${post.title}`}</bdi> {post.is_spam ? <span class="mark spam">{t('mark.spam')}</span> : null}
    {post.is_held ? <span class="mark">{t('mark.held')}</span> : null}
  </p>
)

/** The number of the post that stays, once it is found. */
const targets = new WeakMap<Fields, number>()

/** The posts that a form merges: all that it names but the one that stays. */
const othersIn = (form: Fields) =>
  listed(form.ids)
    .map(itemOf)
    .filter(({ id }) => id !== `#${targets.get(form)}`)

export const merge = action({
  operation: mergePosts,
  page: async () => mergeChosen,
  many: ['ids'],
  async before(view, form) {
    if (!view.viewer) return undefined
    const { into = '', searched } = form
    if (into.trim() === '' && !form.chosen) throw wrongTarget('MERGE_WITHOUT', view.t('merge.without'))
    const words = wordsIn(form)
    // What was chosen before the words were looked for is not meant
    if (words && searched !== words) form.chosen = undefined
    const given = targetIn(form)
    const target = await targetNamed(view, given)
    const [, number] = /^#?(\d+)$/.exec(given) ?? []
    if (target && number !== undefined && Number(number) !== target.number)
      throw wrongTarget(
        'MERGE_MERGED',
        view.t('merge.isMerged', { from: `#${number}`, into: `#${target.number}` }),
        into,
      )
    if (!target && words && !form.chosen) {
      const { length } = await foundBy(view, words, [])
      throw wrongTarget('MERGE_WORDS', view.t(length > 0 ? 'merge.words' : 'merge.none'), into)
    }
    if (target) targets.set(form, target.number)
    if (listed(form.ids).length > 0 && othersIn(form).length === 0)
      throw wrongTarget('MERGE_ITSELF', view.t('merge.itself'), into)
    return undefined
  },
  input: (_view, form) => ({
    ids: othersIn(form).map(({ id }) => id),
    into: targets.has(form) ? `#${targets.get(form)}` : targetIn(form),
    quiet: form.tell !== 'true',
    if_updated_at: othersIn(form).map(({ version }) => version),
  }),
  done(_view, answer, form) {
    const target = targets.get(form)
    const isSaid = target !== undefined && answer.outcomes.some(({ outcome }) => outcome !== 'failed')
    const back = within(form.to) ?? HOME
    // A form that is sent twice merges nothing the second time, and the posts are merged
    const changed = answer.outcomes.filter(({ outcome }) => outcome !== 'failed').length
    return done({ ...answer, changed }, back, 'postsMerged', {
      ...(isSaid && { more: [{ flash: 'mergedStays', count: target }] }),
      at: pathAndQuery(back)[0] === HOME ? back : HOME,
    })
  },
})
