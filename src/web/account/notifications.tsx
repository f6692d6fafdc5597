import { excerptOf } from '../../core/markdown/excerpt.js'
import { links } from '../../core/pagelinks.js'
import { unescaped } from '../../core/text.js'
import * as service from '../../service/notifications.js'
import type { Notification } from '../../service/notifications.js'
import { pageNumber } from '../kit/addresses.js'
import { isolated } from '../kit/bidi.js'
import { action, Ended, page, type View } from '../kit/page.js'
import { StatusSwatch } from '../parts/chip.js'
import { Empty } from '../parts/empty.js'
import { Form, Hidden } from '../parts/form.js'
import { Pager } from '../parts/pager.js'
import { nameOf } from '../parts/person.js'
import { Time } from '../parts/time.js'

/** Notifications on a page. */
const SIZE = 30

/** What whoever is signed in was told, newest first. */
export const notifications = page({
  cache: 'actor',
  signedIn: true,
  isUnlisted: true,
  load: (view) => view.call(service.list, { page: pageNumber(view), limit: SIZE }),
  title: ({ t }) => t('notifications.title'),
  show(view, { notifications: rows, page_info: info }) {
    const { t } = view
    const [newest] = rows
    if (!newest && pageNumber(view) === 1)
      return (
        <Empty title={t('notifications.none')} isPage>
          <p>{t('notifications.explained')}</p>
          <a class="button plain" href={view.href('/settings/notifications')}>
            {t('ways.title')}
          </a>
        </Empty>
      )
    return (
      <div class="narrow">
        <h1>{t('notifications.title')}</h1>
        {view.unread > 0 && newest && pageNumber(view) === 1 ? (
          <Form view={view} to="/notifications/read">
            <Hidden name="until" value={String(newest.id)} />
            <button type="submit" class="button plain">
              {t('notifications.readAll')}
            </button>
          </Form>
        ) : null}
        <ol class="notifications" data-live="notifications">
          {rows.map((each) => (
            <li class={each.readAt === null ? 'unread' : undefined}>
              <a href={view.href(links.notification(each.id))}>
                {each.roadmap ? <StatusSwatch {...each.roadmap} /> : null}
                <span>{sentenceOf(view, each)}</span>
              </a>
              {each.readAt === null ? <span class="mark">{t('notifications.unread')}</span> : null}
              {each.comment ? (
                <p class="soft" dir="auto">
                  {excerptOf(unescaped(each.comment.body), LONGEST)}
                </p>
              ) : null}
              <p class="facts">
                <Time view={view} at={each.createdAt} />
              </p>
            </li>
          ))}
        </ol>
        <Pager view={view} page={pageNumber(view)} pages={0} hasNext={info.has_next_page} />
        <p class="next">
          <a href={view.href('/settings/notifications')}>{t('ways.title')}</a>
        </p>
      </div>
    )
  },
})

/** A whole sentence, because languages order its parts differently. */
function sentenceOf(view: View, { kind, post, roadmap, merged, user }: Notification): string {
  const facts = {
    title: isolated(post.title),
    name: isolated(user ? nameOf(view, user) : view.t(kind === 'reply' ? 'person.deleted' : 'notifications.team')), // the operator has no account
    status: isolated(roadmap?.name),
  }
  if (merged) return view.t('notifications.mergedOf', { ...facts, merged: isolated(merged.title) })
  return view.t(`notifications.${kind === 'status' && !roadmap ? 'update' : kind}`, facts)
}

const LONGEST = 160

/** Marks one as read, and leads to what it is about. */
export const open = page({
  cache: 'never',
  signedIn: true,
  isUnlisted: true,
  ends: true,
  async load(view): Promise<never> {
    const { notification } = await view.call(service.show, { id: Number(view.params.id) })
    await view.call(service.read, { id: notification.id })
    const { post, comment } = notification
    throw new Ended({ to: comment ? links.comment(post.slug, comment.id) : links.post(post.slug) })
  },
  title: () => '',
  show: () => <></>,
})

export const read = action({
  operation: service.read,
  input: (_view, { until }) => (until ? { until: Number(until) } : {}),
  done: () => ({ to: '/notifications', flash: 'notificationsRead' }),
})
