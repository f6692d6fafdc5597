import * as service from '../../service/merges.js'
import * as posts from '../../service/posts.js'
import { AppError, type ErrorCode } from '../../core/errors.js'
import { cameFrom } from '../kit/addresses.js'
import { links } from '../kit/links.js'
import { listed } from '../kit/fields.js'
import { action, page, Redirect, type View } from '../kit/page.js'
import { Field, Form, Hidden, Submit, Summary } from '../parts/form.js'
import { Marked } from '../parts/marked.js'
import { Refused } from '../parts/refused.js'
import { postAt } from './posts.js'

/** The form that merges a post: it offers similar posts, and takes the number or address of any other. */
export const mergePost = page({
  cache: 'never',
  signedIn: true,
  forms: [service.merge],
  async load(view) {
    const post = await postAt(view)
    if (!view.can('post:update')) throw new Redirect(links.post(post.slug))
    const { posts: found, reasons } = await view.call(posts.similar, {
      title: post.title,
      except: post.postId,
      limit: 10,
    })
    return { post, found, reasons }
  },
  title: ({ t }, { post: { title } }) => t('merge.of', { title }),
  show(view, { post, found, reasons }) {
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
              <legend>{t('merge.like')}</legend>
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
          />
          <div class="buttons">
            <Submit>{t('merge.send')}</Submit>
            <a class="button plain" href={view.href(cameFrom(view) ?? links.post(post.slug))}>
              {t('form.cancel')}
            </a>
          </div>
        </Form>
      </div>
    )
  },
})

/** The number, slug or address of a post as somebody gives it. */
const postIn = (given: string): string => {
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
  into: postIn(into?.trim() || chosen || ''),
  ...(seen && { if_updated_at: [seen] }),
})

/** From the team's page of the post to that of the post that stays; from another page, such as the inbox, back there. */
function afterMerge(view: View, into: string): string {
  const from = cameFrom(view)
  if (from === undefined) return links.post(into)
  return from.startsWith(links.teamPost('')) ? links.teamPost(into) : from
}

export const merge = action({
  operation: service.merge,
  page: async () => mergePost,
  /** Of one post, what refuses it refuses the whole. */
  async before(view, form) {
    if (!view.viewer) return undefined
    const { outcomes } = await view.dryRun(service.merge, inputOf(view, form))
    const error = outcomes[0]?.error
    if (error) throw new AppError(error.code as ErrorCode, error.message)
    return undefined
  },
  input: inputOf,
  done: (view, { undo }, form) => ({ to: afterMerge(view, inputOf(view, form).into), flash: 'merged', undo: undo?.undo_id }), // prettier-ignore
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
