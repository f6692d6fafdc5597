import * as Type from 'typebox'
import { lock } from '../db/counters.js'
import { blockIn } from './lib/blocking.js'
import { eachOnce, idsField, outcomeError, refusalIn } from './lib/bulk.js'
import { change, type Change } from './lib/change.js'
import { operation } from './lib/operation.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { userOf } from './users.js'

const BlockOutcome = Type.Object({
  given: Type.String({ description: 'What the request said' }),
  outcome: oneOf(['changed', 'unchanged', 'failed']),
  userId: nullable('string', { description: 'null if nobody was found' }),
  username: nullable('string'),
  error: outcomeError,
})
type BlockOutcome = Type.Static<typeof BlockOutcome>

export const blockMany = operation({
  id: 'users.blockMany',
  summary: 'Block or unblock up to 100 users at once, with an outcome for each',
  http: 'POST /users/block 200',
  access: 'user:block',
  sensitive: true,
  errors: [],
  input: fields({
    users: idsField('Ids, user names or, with user:read, e-mail addresses', 'user'),
    block: Type.Boolean({ default: true, description: 'false: unblock them' }),
  }),
  output: Type.Object({
    outcomes: Type.Array(BlockOutcome, { description: 'One for each, in the order of the request' }),
    changed: Type.Integer(),
    failed: Type.Integer(),
  }),
  run: (ctx, { users, block: isBlock }) =>
    change(ctx, async (tx) => {
      await lock(tx.db, 'post_counts') // as decisions that block do: otherwise two requests could wait for each other
      const outcomes: BlockOutcome[] = []
      for (const given of eachOnce(users)) outcomes.push(await blockOutcome(tx, given, isBlock ? 'block' : 'unblock'))
      const count = (wanted: string) => outcomes.filter(({ outcome }) => outcome === wanted).length
      return { outcomes, changed: count('changed'), failed: count('failed') }
    }),
})

/** A refusal comes before anything is written, so the others are done all the same. */
async function blockOutcome(tx: Change, given: string, verb: 'block' | 'unblock'): Promise<BlockOutcome> {
  let found: Pick<BlockOutcome, 'userId' | 'username'> = { userId: null, username: null }
  try {
    const { userId, username } = await userOf('user:block')(tx, { user: given })
    found = { userId, username }
    const { isChanged } = await blockIn(tx, userId, verb)
    return { given, outcome: isChanged ? 'changed' : 'unchanged', ...found }
  } catch (error) {
    return { given, outcome: 'failed', ...found, error: refusalIn(error) }
  }
}
