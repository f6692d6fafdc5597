import * as service from '../../service/merges.js'
import * as posts from '../../service/posts.js'
import { AppError, type ErrorCode } from '../../core/errors.js'
import { invalidField } from '../../core/fields.js'
import { searchWords } from '../../core/words.js'
import * as lists from '../../service/postlists.js'
import { cameFrom } from '../kit/addresses.js'
import { mergingScript } from '../kit/assets.js'
import { links } from '../kit/links.js'
import { listed } from '../kit/fields.js'
import { action, page, Redirect, type Fields, type LiveView, type View } from '../kit/page.js'
import { teamFrame } from '../kit/teamframe.js'
import { Field, Form, Hidden, Submit, Summary } from '../parts/form.js'
import { Marked } from '../parts/marked.js'
import { Refused } from '../parts/refused.js'
import { withChoices } from '../parts/rowchoices.js'
import { postAt } from './posts.js'

/** The form that merges a post: it offers similar posts, and takes the number or address of any other. */
export const mergePost = page({
  cache: 'never',
  signedIn: true,
  frame: teamFrame,
  forms: [service.merge],
  async load(view) {
    const post = await postAt(view)
    if (!view.can('post:update')) throw new Redirect(links.post(post.slug))
    const words = wordsIn(view.form.error ? view.form.values : view.query)
    if (words) {
      const found = await foundBy(view, words, post.slug)
      return { post, found, reasons: found.map(() => ({ words: searchWords(words) })), words }
    }
    const { posts: found, reasons } = await view.call(posts.similar, {
      title: post.title,
      except: post.postId,
      limit: MOST,
    })
    return { post, found, reasons, words }
  },
  title: ({ t }, { post: { title } }) => t('merge.of', { title }),
  show(view, { post, found, reasons, words }) {
    const { t, form } = view
    return (
      <div class="narrow">
        <h1>{t('merge.of', { title: post.title })}</h1>
        <Summary
          view={view}
          text={form.error?.code === 'CONTENT_CHANGED' ? t('decision.why.CONTENT_CHANGED') : undefined}
        />
        <p>{post.voters.votes_hidden ? t('merge.whatHidden') : t('merge.what', { count: post.voters.votesCount })}</p>
        <Form view={view} to={`${links.post(post.slug)}/merge`}>
          <Hidden name="to" value={cameFrom(view)} />
          <Refused view={view} of={service.merge} />
          {found.length > 0 ? (
            <fieldset>
              <legend>{words ? t('merge.found', { words }) : t('merge.like')}</legend>
              {found.map(({ number, title, voters }, at) => (
                <label class="check">
                  <input type="radio" name="chosen" value={number} checked={form.values.chosen === String(number)} />{' '}
                  <span>
                    <bdi>
                      <Marked text={title} words={reasons[at]?.words ?? []} />
                    </bdi>{' '}
                    <span class="soft">
                      {voters.votes_hidden ? (
                        <bdi>#{number}</bdi>
                      ) : (
                        t('merge.votes', { number, count: voters.votesCount })
                      )}
                    </span>
                  </span>
                </label>
              ))}
            </fieldset>
          ) : null}
          <Field
            view={view}
            of={service.merge}
            name="into"
            label={t(found.length > 0 ? 'merge.other' : 'merge.into')}
            hint={t('merge.hint')}
            value={words ?? ''}
            autofocus={!form.error}
          />
          <p class="hidden" role="status" data-offered="">
            {words && !form.error ? offered(view, found.length) : ''}
          </p>
          <div class="buttons">
            <Submit>{t('merge.send')}</Submit>
            <a class="button plain" href={view.href(cameFrom(view) ?? links.post(post.slug))}>
              {t('form.cancel')}
            </a>
          </div>
        </Form>
        <script src={view.href(mergingScript.path)} type="module" />
      </div>
    )
  },
})

/** Announced to screen readers while someone types. The script reads it from this page. */
const offered = ({ t }: View, count: number): string =>
  count === 0 ? t('merge.none') : `${t('merge.count', { count })} ${t('merge.keys')}`

/** Posts that are offered. */
const MOST = 10

/** What is no number and no address, but may be a slug. */
const wordsIn = ({ into = '' }: Fields): string | undefined => {
  const text = into.trim().slice(0, 200)
  return text === '' || /^#?\d+$|^#\d+ \u00B7 |\/posts\//.test(text) ? undefined : text
}

/** Other posts that have the words. */
async function foundBy(view: LiveView, words: string, except: string) {
  const { posts: rows } = await view.call(lists.list, { query: words, limit: MOST + 1, votes: false })
  return rows.filter(({ slug }) => slug !== except).slice(0, MOST)
}

/** The number, slug or address of a post as somebody gives it, or the number with its title, as a script writes it. */
const postIn = (given: string): string => {
  const numbered = /^#\d+(?= \u00B7 )/.exec(given)?.[0]
  if (numbered !== undefined) return numbered
  const slug = /\/posts\/([^/?#\s]+)/.exec(given)?.[1]
  return slug === undefined ? given : URI.test(slug) ? decodeURIComponent(slug) : slug
}
/** What can be decoded: every percent sign begins a byte. */
const URI = /^(?:[^%]|%[\da-f]{2})*$/i

/** A button of the queue sends the version that it stands beside. */
const inputOf = (
  { params: { slug = '' }, query: { seen } }: Pick<View, 'params' | 'query'>,
  { into, chosen }: Record<string, string | undefined>,
) => ({
  ids: [slug],
  // The words that found what is chosen are still in the field
  into: postIn((chosen && wordsIn({ into }) ? chosen : into?.trim()) || chosen || ''),
  ...(seen && { if_updated_at: [seen] }),
})

/** The post that a form names; undefined where it is only words. */
async function targetOf(view: LiveView, form: Fields) {
  try {
    return (await view.call(posts.show, { id: inputOf(view, form).into })).post
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return undefined
    throw error
  }
}

const wrong = (code: string, message: string, value: string) =>
  invalidField({ code, message, field: 'into', rule: message, value: value.slice(0, 100) })

/** From the team's page of the post to that of the post that stays; from another page, such as the inbox, back there. */
function afterMerge(view: View, into: string): string {
  const from = cameFrom(view)
  if (from === undefined) return links.post(into)
  return from.startsWith(links.teamPost('')) ? links.teamPost(into) : from
}

export const merge = action({
  operation: service.merge,
  page: async () => mergePost,
  many: ['chosen'], // the rows of the inbox
  /** Of one post, what refuses it refuses the whole. */
  async before(view, form) {
    if (!view.viewer) return undefined
    const { into = '' } = form
    if (into.trim() === '' && !form.chosen) throw wrong('MERGE_WITHOUT', view.t('merge.without'), into)
    const words = form.chosen ? undefined : wordsIn(form)
    if (words && (await targetOf(view, form)) === undefined) {
      const { length } = await foundBy(view, words, view.params.slug ?? '')
      throw wrong('MERGE_WORDS', view.t(length > 0 ? 'merge.words' : 'merge.none'), into)
    }
    const { outcomes } = await view.dryRun(service.merge, inputOf(view, form))
    const error = outcomes[0]?.error
    if (error) throw new AppError(error.code as ErrorCode, error.message)
    return undefined
  },
  input: inputOf,
  async done(view, { undo }, form) {
    const target = await targetOf(view, form)
    const to = afterMerge(view, target?.slug ?? inputOf(view, form).into)
    const isThere = target === undefined || to !== cameFrom(view)
    return {
      to: isThere ? to : withChoices(to, form),
      flash: isThere ? 'merged' : { flash: 'mergedInto', count: target.number },
      undo: undo?.undo_id,
    }
  },
})

export const unmerge = action({
  operation: service.unmerge,
  many: ['ids'],
  input: (_view, { ids }) => ({ ids: listed(ids) }),
  done: ({ params: { slug = '' } }, { changed }) => ({
    to: links.post(slug),
    flash: changed > 0 ? 'unmerged' : 'undoneNot',
  }),
})
