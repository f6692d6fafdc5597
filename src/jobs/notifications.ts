import { tell } from '../service/lib/news.js'
import { consumer } from './consumer.js'

/** Tells the followers of a post what became of it, on their page of notifications. */
export const notifications = consumer({
  name: 'notifications',
  actions: ['post.updated', 'comment.created', 'comment.kept', 'comment.updated'],
  handle: (event, { db, now, signal }) => tell(db, event, { now, signal }),
})
