import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/core/errors.js'
import { MERGED, SHOWN } from '../../src/core/hidden.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as follows from '../../src/service/follows.js'
import * as merges from '../../src/service/merges.js'
import * as notifications from '../../src/service/notifications.js'
import * as settings from '../../src/service/notificationsettings.js'
import * as posts from '../../src/service/posts.js'
import { move } from '../../src/service/postmoves.js'
import * as users from '../../src/service/users.js'
import * as votes from '../../src/service/votes.js'
import { MINUTE, newsSite, type NewsSite } from '../support/newssite.js'
import { assertProperty } from '../support/properties.js'
import { engines } from '../support/site.js'

const PEOPLE = ['ann', 'bea', 'cleo'] as const
const POSTS = ['Dark mode', 'Night theme', 'Sounds'] as const
const WAYS = ['page', 'mail', 'digest', 'page,mail', 'page,digest', 'none'] as const

type Person = (typeof PEOPLE)[number]

/** What happens to a site whose posts people follow. What the site refuses changes nothing, and is no failure. */
const STEPS: Record<
  string,
  (w: NewsSite, ids: readonly string[], at: { who: Person; post: number; n: number }) => Promise<unknown>
> = {
  vote: (w, ids, { who, post }) => w.as(w[who])(votes.add, { postId: ids[post] ?? '' }),
  unvote: (w, ids, { who, post }) => w.as(w[who])(votes.remove, { postId: ids[post] ?? '' }),
  follow: (w, ids, { who, post }) => w.as(w[who])(follows.follow, { post_id: ids[post] ?? '' }),
  unfollow: (w, ids, { who, post }) => w.as(w[who])(follows.unfollow, { post_id: ids[post] ?? '' }),
  comment: (w, ids, { who, post, n }) => w.as(w[who])(comments.create, { post_id: ids[post] ?? '', body: `Said ${n}` }),
  ship: (w, ids, { post }) => w.site.call(posts.update, { id: ids[post], roadmapId: w.shipped.id, partial: true }),
  plan: (w, ids, { post, n }) => w.site.call(posts.update, { id: ids[post], roadmapId: w.planned.id, message: `Planned ${n}`, partial: true }), // prettier-ignore
  quiet: (w, ids, { post }) => w.site.call(posts.update, { id: ids[post], roadmapId: w.planned.id, quiet: true, partial: true }), // prettier-ignore
  many: (w, ids) => w.site.call(move, { ids: [...ids], roadmapId: w.shipped.id }),
  merge: (w, ids, { post }) => w.site.call(merges.merge, { ids: [ids[post] ?? ''], into: ids[(post + 1) % ids.length] ?? '' }), // prettier-ignore
  unmerge: (w, ids, { post }) => w.site.call(merges.unmerge, { ids: [ids[post] ?? ''] }),
  hide: (w) => w.site.call(boards.update, { ...w.board, display: false }),
  show: (w) => w.site.call(boards.update, { ...w.board, display: true }),
  block: (w, _ids, { who }) => w.site.call(users.block, { user: w[who].userId }),
  unblock: (w, _ids, { who }) => w.site.call(users.unblock, { user: w[who].userId }),
  choose: (w, _ids, { who, n }) => w.as(w[who])(settings.update, { status: WAYS[n % WAYS.length], reply: WAYS[(n >> 3) % WAYS.length] }), // prettier-ignore
  read: (w, _ids, { who }) => w.as(w[who])(notifications.read, {}),
  tell: (w) => w.tell(),
  wait: async (w, _ids, { n }) => w.later((n % 400) * MINUTE),
  write: (w) => w.write(),
}

const step = fc.record({
  // What tells, and what becomes of it, more often than the rest
  verb: fc.oneof(fc.constantFrom('ship', 'plan', 'many', 'tell', 'write'), fc.constantFrom(...Object.keys(STEPS))),
  who: fc.constantFrom(...PEOPLE),
  post: fc.nat(POSTS.length - 1),
  n: fc.nat(1000),
})

interface Mailed {
  recipient: string
  headers: string | null
  text: string
}

/** What may never be, whatever happened. `known` are the mails of before. */
async function assertSound(w: NewsSite, known: ReadonlySet<string>): Promise<Set<string>> {
  const { db } = w.site
  const told = await db.selectFrom('notifications').selectAll().execute()
  const own = told.filter(({ userId, actorId }) => userId === actorId)
  const quiet = await db.selectFrom('events').select('id').where('details', 'like', '%"quiet"%').execute()
  const silent = new Set(quiet.map(({ id }) => id))
  const mails = await db.selectFrom('deliveries').selectAll().where('priority', '=', 1).execute()
  const count = ({ headers }: Mailed) => Number((JSON.parse(headers ?? '{}') as Record<string, string>)['X-News-Count'])
  const mailed = told.filter(({ mailedAt }) => mailedAt !== null)
  const blocked = new Set((await db.selectFrom('users').select('email').where('isBlocked', '=', 1).execute()).map(({ email }) => email)) // prettier-ignore
  // News of a merge name the merged post, unless its board is private
  const titled = await db.selectFrom('posts').leftJoin('boards', 'boards.boardId', 'posts.boardId').select(['posts.title', 'posts.is_spam', 'boards.display']).execute() // prettier-ignore
  const hidden = titled.filter(({ display, is_spam }) => display === 0 || (is_spam !== SHOWN && is_spam !== MERGED))
  const fresh = mails.filter(({ deliveryId }) => !known.has(deliveryId))
  expect({
    own,
    told: told.filter(({ eventId, kind }) => silent.has(eventId) && kind !== 'mention'),
    empty: mails.filter((each) => !(count(each) >= 1)),
    // Each thing that was mailed is in one mail, and each mail has as many as it says
    counted: mails.reduce((sum, each) => sum + count(each), 0),
    toBlocked: fresh.filter(({ recipient }) => blocked.has(recipient)),
    unreadable: fresh.filter(({ text }) => hidden.some(({ title }) => text.includes(title))),
    waitsInTwoWays: told.filter(({ mailedAt, mailAt }) => mailedAt !== null && mailAt !== null),
  }).toEqual({ own: [], told: [], empty: [], counted: mailed.length, toBlocked: [], unreadable: [], waitsInTwoWays: [] }) // prettier-ignore
  return new Set(mails.map(({ deliveryId }) => deliveryId))
}

describe.each(engines)('whatever happens on %s', (engine) => {
  it('each thing is told once, in one way, to those who may know, and never to who did it', async () => {
    await assertProperty(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const w = await newsSite(engine)
        const ids = [w.post.postId]
        for (const title of POSTS.slice(1)) ids.push((await w.as(w.ann)(posts.create, { title, boardId: w.board.boardId })).post.postId) // prettier-ignore
        for (const who of PEOPLE) for (const post_id of ids) await w.as(w[who])(follows.follow, { post_id })
        let known = new Set<string>()
        for (const { verb, ...at } of [
          ...steps,
          { verb: 'tell', ...END },
          { verb: 'wait', ...END },
          { verb: 'write', ...END },
        ]) {
          // prettier-ignore
          await STEPS[verb]?.(w, ids, at).catch((error: unknown) => {
            if (!(error instanceof AppError) || error.status >= 500) throw error
          })
          if (verb === 'write') known = await assertSound(w, known)
        }
        // Nothing waits for ever: a week later all was mailed, or was no news any more
        w.later(8 * 24 * 60 * MINUTE)
        await w.write()
        await assertSound(w, known)
        expect(await w.site.db.selectFrom('notifications').selectAll().where('mailAt', 'is not', null).execute()).toEqual([]) // prettier-ignore
      }),
      { numRuns: 12 },
    )
  })
})

const END = { who: 'ann', post: 0, n: 399 } as const
