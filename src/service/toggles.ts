import type { Action } from '../core/nouns.js'
import * as boardFollows from './boardfollows.js'
import * as follows from './follows.js'
import type { Context } from './lib/context.js'
import { stepOf, type Final, type Reversing, type Step, type Undone } from './lib/reversing.js'
import { personOf } from './lib/sessions.js'
import * as merges from './merges.js'
import * as moderation from './moderation.js'
import * as roles from './roles.js'
import * as users from './users.js'
import * as votes from './votes.js'

type Steps = (ctx: Context, event: Undone, person: string) => Promise<Step | Final>

/** What another event about the same row, or of the same person, takes back, whatever is there now. */
const toggle =
  (actions: readonly Action[], steps: Steps, isOfPerson = false): Reversing =>
  async (ctx, event) => {
    const person = event.person_id
    if (isOfPerson && person === null) return 'unkept'
    const step = await steps(ctx, event, person ?? '')
    if (typeof step === 'string') return step
    return { steps: [step], rivals: { actions, ...(isOfPerson && person !== null && { person }) } }
  }

const voting = toggle.bind(undefined, ['post.voted', 'post.unvoted'])
const assigning = toggle.bind(undefined, ['role.assigned', 'role.unassigned'])
const merging = toggle.bind(undefined, ['post.merged', 'post.unmerged'])
const blocking = toggle.bind(undefined, ['user.blocked', 'user.unblocked'])

const isOwn = async (ctx: Context, person: string): Promise<boolean> => (await personOf(ctx)) === person

const vote = (own: typeof votes.add | typeof votes.remove, other: typeof votes.assign | typeof votes.unassign) =>
  voting(
    async (ctx, { subject_id: id }, person) =>
      (await isOwn(ctx, person)) ? stepOf(own, { postId: id }) : stepOf(other, { post_id: id, user_id: person }),
    true,
  )

const assignment = (op: typeof roles.assign | typeof roles.unassign) =>
  assigning(async (_ctx, { subject_id: id }, person) => stepOf(op, { role_id: id, user_id: person }), true)

const follow = (op: typeof follows.follow) =>
  toggle(
    ['post.followed', 'post.unfollowed'],
    async (ctx, { subject_id: id }, person) => ((await isOwn(ctx, person)) ? stepOf(op, { post_id: id }) : 'own'),
    true,
  )

const followBoard = (op: typeof boardFollows.follow) =>
  toggle(
    ['board.followed', 'board.unfollowed'],
    async (ctx, { subject_id: url }, person) => ((await isOwn(ctx, person)) ? stepOf(op, { url }) : 'own'),
    true,
  )

const awake: Reversing = (ctx, event) => {
  const about = event.action.split('.')[0] as 'post' | 'comment'
  const others = (['snoozed', 'woken', 'kept', 'marked_spam', 'reopened'] as const).map((verb) => `${about}.${verb}` as const) // prettier-ignore
  return toggle(others, async (_ctx, { subject_id: id }) => stepOf(moderation.decide, { id, decision: 'wake' }))(
    ctx,
    event,
  )
}

/** Events that another event takes back, and how. */
export const TOGGLES: Readonly<Record<string, Reversing>> = {
  'post.snoozed': awake,
  'comment.snoozed': awake,
  'post.voted': vote(votes.remove, votes.unassign),
  'post.unvoted': vote(votes.add, votes.assign),
  'post.followed': follow(follows.unfollow),
  'post.unfollowed': follow(follows.follow),
  'board.followed': followBoard(boardFollows.unfollow),
  'board.unfollowed': followBoard(boardFollows.follow),
  'post.merged': merging(async (_ctx, { subject_id: id }) => stepOf(merges.unmerge, { ids: [id] })),
  'post.unmerged': merging(async (_ctx, { subject_id: id, details }) => {
    const into = details.find(({ field }) => field === 'merged_into')?.before
    return typeof into === 'string' ? stepOf(merges.merge, { ids: [id], into, quiet: true }) : 'unkept'
  }),
  'user.blocked': blocking(async (_ctx, { subject_id: user }) => stepOf(users.unblock, { user })),
  'user.unblocked': blocking(async (_ctx, { subject_id: user }) => stepOf(users.block, { user })),
  'role.assigned': assignment(roles.unassign),
  'role.unassigned': assignment(roles.assign),
}
