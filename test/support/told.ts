import type { Permission } from '../../src/core/permissions.js'
import { notifications as job } from '../../src/jobs/notifications.js'
import type { Call } from '../../src/service/lib/operation.js'
import { actorOf } from '../../src/service/lib/sessions.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as notifications from '../../src/service/notifications.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as votes from '../../src/service/votes.js'
import { makeSite, type Engine } from './site.js'

const log = { info: () => {}, warn: () => {}, error: () => {} }

/** A site with a post of Ann, for which Bea voted and on which Cleo commented; Dan has nothing to do with it. */
export async function world(engine: Engine) {
  const site = await makeSite(engine)
  const token = await site.owner()
  const { run: handle } = job({ mail: { url: 'sendmail:', from: '' } })
  const run = async () => void (await handle({ db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal })) // prettier-ignore
  const person = async (email: string, permissions: Permission[] = []) => site.member(permissions, { email })
  const [ann, bea, cleo, dan] = [
    await person('ann@example.org'),
    await person('bea@example.org'),
    await person('cleo@example.org'),
    await person('dan@example.org'),
  ]
  const people = { ann, bea, cleo, dan }
  for (const [username, { userId }] of Object.entries(people))
    await site.db.updateTable('users').set({ username }).where('userId', '=', userId).execute()
  const as = ({ token: its }: { token: string }): Call => async (...request) => site.callAs(await actorOf(`Bearer ${its}`, site.base))(...request) // prettier-ignore
  const { board } = await site.call(boards.create, { name: 'Ideas', display: true })
  const { roadmap: shipped } = await site.call(roadmaps.create, { name: 'Shipped', display: true })
  const { post } = await as(ann)(posts.create, { title: 'Dark mode', boardId: board.boardId })
  await as(bea)(votes.add, { postId: post.postId })
  const { activity } = await as(cleo)(comments.create, { post_id: post.postId, body: 'Me too' })
  await run() // begins at the newest event
  /** What each person has, newest first, with nothing for those who have nothing. */
  const told = async () => {
    await run()
    const found: Record<string, string[]> = {}
    for (const [name, one] of Object.entries(people)) {
      const { notifications: rows } = await as(one)(notifications.list, {})
      if (rows.length > 0) found[name] = rows.map(({ kind, roadmap, comment }) => [kind, roadmap?.name, comment?.body].filter(Boolean).join(' ')) // prettier-ignore
    }
    return found
  }
  const ship = (more: object = {}) =>
    site.call(posts.update, { id: post.postId, roadmapId: shipped.id, partial: true, ...more })
  /** A post of Dan. */
  const other = async () => (await as(dan)(posts.create, { title: 'Night theme' })).post.postId
  const inPost = { post_id: post.postId }
  return { site, token, run, as, ...people, people, board, shipped, post, comment: activity, told, ship, other, inPost }
}
export type World = Awaited<ReturnType<typeof world>>
