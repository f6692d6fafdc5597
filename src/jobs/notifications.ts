import type { DeliverySettings } from '../delivery/kinds.js'
import { tell } from '../service/lib/news.js'
import { consumer } from './consumer.js'
import type { Job } from './runner.js'

/** Tells people what became of posts that they follow, and who answers or mentions them, on their page of notifications and, where the site sends mail, by mail. */
export const notifications = ({ mail }: Pick<DeliverySettings, 'mail'>): Job =>
  consumer({
    name: 'notifications',
    actions: [
      'post.created',
      'post.kept',
      'post.reported',
      'comment.reported',
      'post.updated',
      'post.merged',
      'comment.created',
      'comment.kept',
      'comment.updated',
    ],
    handle: (event, { db, now, signal }) => tell(db, event, { now, signal, mail }),
  })
