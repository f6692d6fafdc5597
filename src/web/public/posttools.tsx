import { links } from '../../core/pagelinks.js'
import type { DashboardPost } from '../../service/lib/postshapes.js'
import type { Reported } from '../../service/reports.js'
import type { View } from '../kit/page.js'
import { Form, Hidden } from '../parts/form.js'
import { Icon } from '../parts/icon.js'
import { MergeLink } from '../parts/mergelink.js'
import { ReportLink } from '../parts/report.js'

interface Props {
  view: View
  post: DashboardPost
  isFollowed: boolean
  /** What the viewer has reported. */
  reported: readonly Reported[]
}

/** The actions that the viewer may take on a post. */
export function PostTools({ view, post, isFollowed, reported }: Props) {
  const { t, href } = view
  const path = links.post(post.slug)
  const isCopy = view.copiedAt !== undefined
  return (
    <div class="tools" data-live="tools">
      <Form view={view} to={`${path}/${isFollowed ? 'unfollow' : 'follow'}`}>
        <button type="submit" class="button">
          <Icon name="bell" /> {t(isFollowed ? 'follow.stop' : 'follow.start')}
        </button>
      </Form>
      {isCopy ? null : (
        <a href={href(path)} data-copy={view.absolute(path)} data-copied={t('action.copied')} aria-live="polite">
          {t('action.copyLink')}
        </a>
      )}
      {isCopy ? null : (
        <a href={href(`${path}/similar`)} rel="nofollow">
          {t('similar.title')}
        </a>
      )}
      {view.can('post:update') ? <a href={href(`${path}/update`)}>{t('update.post')}</a> : null}
      <MergeLink view={view} post={post} />
      {post.may.includes('update') ? <a href={href(`${path}/edit`)}>{t('action.edit')}</a> : null}
      {post.may.includes('delete') || post.others_took_part ? (
        <a href={href(`${path}/delete`)}>{t('action.delete')}</a>
      ) : null}
      {post.may.includes('spam') && post.is_held ? (
        <Form view={view} to={`${path}/keep`}>
          <Hidden name="if_updated_at" value={post.updatedAt} />
          <button type="submit" class="link">
            {t('action.publish')}
          </button>
        </Form>
      ) : null}
      {post.may.includes('spam') ? (
        <Form view={view} to={`${path}/${post.is_spam ? 'keep' : 'spam'}`}>
          <Hidden name="if_updated_at" value={post.updatedAt} />
          <button type="submit" class="link">
            {t(post.is_spam ? 'action.notSpam' : 'action.spam')}
          </button>
        </Form>
      ) : null}
      {view.viewer?.userId === post.author.userId || post.may.includes('spam') ? null : (
        <ReportLink view={view} to={`${path}/report`} id={post.postId} reported={reported} />
      )}
    </div>
  )
}
