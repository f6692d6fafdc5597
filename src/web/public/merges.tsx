import { links } from '../../core/pagelinks.js'
import * as service from '../../service/merges.js'
import * as posts from '../../service/posts.js'
import { errorIn } from '../../service/lib/bulk.js'
import { cameFrom } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import { action, page, Redirect, type Fields, type LiveView, type View } from '../kit/page.js'
import { teamFrame } from '../kit/teamframe.js'
import { Form, Hidden, Submit, Summary } from '../parts/form.js'
import {
  foundBy,
  MOST_OFFERED,
  OfferedTargets,
  reasonsFor,
  TargetField,
  targetIn,
  targetNamed,
  wordsIn,
  wrongTarget,
} from '../parts/mergetarget.js'
import { mergeRefusal } from '../parts/mergelink.js'
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
    if (!view.may(service.merge)) throw new Redirect(links.post(post.slug))
    const words = wordsIn(view.form.error ? view.form.values : view.query)
    if (words) {
      const found = await foundBy(view, words, [post])
      return { post, found, reasons: reasonsFor(words, found), words }
    }
    const { posts: found, reasons } = await view.call(posts.similar, {
      title: post.title,
      except: post.postId,
      limit: MOST_OFFERED,
    })
    return { post, found, reasons, words }
  },
  title: ({ t }, { post: { title } }) => t('merge.of', { title }),
  show(view, { post, found, reasons, words }) {
    const { t, form, href } = view
    if (post.merge_refused && !form.error)
      return (
        <div class="narrow">
          <h1>{t('merge.of', { title: post.title })}</h1>
          <p class="note" role="note">
            {mergeRefusal(view, post.merge_refused)}
          </p>
          <a class="button plain" href={href(pageOf(view, post.slug))}>
            {t('voters.back')}
          </a>
        </div>
      )
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
          <OfferedTargets view={view} found={found} reasons={reasons} words={words} chosen={form.values.chosen} />
          <TargetField
            view={view}
            found={found}
            words={words}
            label={t(found.length > 0 ? 'merge.other' : 'merge.into')}
            hint={t('merge.hint')}
            autofocus={!form.error}
            required={found.length === 0}
          />
          <div class="buttons">
            <Submit>{t('merge.send')}</Submit>
            <a class="button plain" href={href(cameFrom(view) ?? links.post(post.slug))}>
              {t('form.cancel')}
            </a>
          </div>
        </Form>
      </div>
    )
  },
})

/** A button of the queue sends the version that it stands beside. */
const inputOf = ({ params: { slug = '' }, query: { seen } }: Pick<View, 'params' | 'query'>, form: Fields) => ({
  ids: [slug],
  into: targetIn(form),
  ...(seen && { if_updated_at: [seen] }),
})

/** The post that a form names; undefined where it is only words. */
const targetOf = (view: LiveView, form: Fields) => targetNamed(view, targetIn(form))

/** The page of the post, for the team where the form is of the dashboard. */
const pageOf = (view: View, slug: string): string =>
  cameFrom(view)?.startsWith('/dashboard') ? links.teamPost(slug) : links.post(slug)

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
    if (into.trim() === '' && !form.chosen) throw wrongTarget('MERGE_WITHOUT', view.t('merge.without'), into)
    const words = form.chosen ? undefined : wordsIn(form)
    if (words && (await targetOf(view, form)) === undefined) {
      const { length } = await foundBy(view, words, [{ slug: view.params.slug ?? '' }])
      throw wrongTarget('MERGE_WORDS', view.t(length > 0 ? 'merge.words' : 'merge.none'), into)
    }
    const { outcomes } = await view.dryRun(service.merge, inputOf(view, form))
    const error = outcomes[0]?.error
    if (error) throw errorIn(error)
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
