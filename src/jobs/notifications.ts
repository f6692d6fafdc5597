import { tell } from '../service/lib/news.js'
import { consumer } from './consumer.js'
import type { Job } from './runner.js'

/** Tells the followers of a post what became of it, on their page of notifications and, where the site sends mail, by mail. */
export const notifications = ({ isMailed }: { isMailed: boolean }): Job =>
  consumer({
    name: 'notifications',
    actions: ['post.updated', 'comment.created', 'comment.kept', 'comment.updated'],
    handle: (event, { db, now, signal }) => tell(db, event, { now, signal, isMailed }),
  })
