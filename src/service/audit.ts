import * as Type from 'typebox'
import {
  eventsBelowOne,
  eventsOfBlock,
  hasEvent,
  hashOfBlock,
  listSeals,
  missingNewest,
  newestEventId,
  newestRequest,
  newestSeal,
  sealUntil,
  unsealedRequests,
} from '../db/seals.js'
import type { Db, SealRow } from '../db/tables.js'
import { findOwner } from '../db/users.js'
import { operation } from './lib/operation.js'
import { fields, nullable } from './lib/schemas.js'

/** Blocks that one request checks. */
const MAX_SEALS = 20

/** Maximum age of unsealed events while serve runs. It seals every ten seconds and when it stops. */
const SEALED_WITHIN = 5 * 60_000

const Finding = Type.Object({
  after: Type.Integer({ description: 'The id of the last event before the ones concerned' }),
  until: Type.Integer({ description: 'The id of the last event concerned' }),
  problem: Type.String({ description: 'What does not match' }),
})
export type Finding = Type.Static<typeof Finding>

export const verify = operation({
  id: 'audit.verify',
  summary: 'Check the hashes of event blocks for changed or removed events',
  http: 'GET /audit 200',
  access: 'owner',
  errors: [],
  input: fields({
    after: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      default: 0,
      description: 'The `next` of the previous response',
    }),
    expect: Type.Optional(
      Type.String({
        pattern: '^\\d{1,15}:[0-9a-f]{64}$',
        rule: 'the head that an earlier check printed, such as 1200:9f86…',
        description: 'The head of an earlier check, which must still be part of the chain',
      }),
    ),
  }),
  output: Type.Object({
    findings: Type.Array(Finding),
    checked: Type.Integer({ description: 'Events that were checked' }),
    head: nullable('string', { description: 'Id and hash of the last block; null while there is none' }),
    unsealed: Type.Integer({ description: 'Ids after the last block, at most: serve seals them within seconds' }),
    next: nullable('integer', { description: 'Send it as `after` to check the next events; null at the end' }),
  }),
  async run({ db }, { after, expect }) {
    const found = await listSeals(db, after, MAX_SEALS)
    const findings = expect === undefined ? [] : await expectHead(db, expect)
    let before: Pick<SealRow, 'last_id' | 'hash'> = { last_id: after, hash: '' }
    if (after > 0) before = (await sealUntil(db, after)) ?? before
    let checked = 0
    for (const seal of found) {
      const { count, problem } = await checkBlock(db, before, seal)
      checked += count
      if (problem !== undefined) findings.push({ after: before.last_id, until: seal.last_id, problem })
      before = seal
    }
    const head = await newestSeal(db)
    const isEnd = found.length < MAX_SEALS
    if (isEnd) findings.push(...(await outsideBlocks(db, head?.last_id ?? 0)))
    return {
      findings,
      checked,
      head: head ? `${head.last_id}:${head.hash}` : null,
      unsealed: Math.max(0, (await newestEventId(db)) - (head?.last_id ?? 0)),
      next: isEnd ? null : before.last_id,
    }
  },
})

/** What is wrong with the events that are in no block. */
async function outsideBlocks(db: Db, sealedUntil: number): Promise<Finding[]> {
  const newest = await newestRequest(db, sealedUntil)
  const before = newest === undefined ? '' : new Date(Date.parse(newest) - SEALED_WITHIN).toISOString()
  const found = [
    [await eventsBelowOne(db), 'Events were added: no event has an id of 0 or less.'],
    [
      await unsealedRequests(db, { after: sealedUntil, before }),
      'Events of requests are in no block, although later ones followed for five minutes. Hashes were removed.',
    ],
    [await missingNewest(db), 'The newest events are missing.'],
    [await missingSetup(db), 'The event of the setup is missing, although the site has an owner. Events were removed.'],
  ] as const
  return found.flatMap(([range, problem]) => (range ? [{ after: range.first - 1, until: range.last, problem }] : []))
}

/** Its event is the first of a site, if not the first of all. */
async function missingSetup(db: Db): Promise<{ first: number; last: number } | undefined> {
  const isMissing = (await findOwner(db)) !== undefined && !(await hasEvent(db, 'site.set_up'))
  return isMissing ? { first: 1, last: 1 } : undefined
}

async function checkBlock(
  db: Db,
  before: Pick<SealRow, 'last_id' | 'hash'>,
  { after_id, last_id, events: expected, hash, version }: SealRow,
): Promise<{ count: number; problem?: string }> {
  const events = await eventsOfBlock(db, { after: after_id, until: last_id, limit: expected + 1 })
  const count = events.length
  if (after_id !== before.last_id)
    return {
      count,
      problem: 'This block does not begin where the one before ended: a block is missing, or was changed.',
    }
  if (count < expected) return { count, problem: `${expected - count} of ${expected} events are missing.` }
  if (count > expected) return { count, problem: `There are more than the ${expected} events of this block.` }
  if (hashOfBlock(before.hash, events, version) !== hash)
    return { count, problem: 'An event of this block was changed, or a hash of this block or the one before.' }
  return { count }
}

/** A chain that was made anew as a whole matches itself, but not what was noted elsewhere. */
async function expectHead(db: Db, expect: string): Promise<Finding[]> {
  const [id, hash] = [Number(expect.split(':')[0]), expect.split(':')[1]]
  const seal = await sealUntil(db, id)
  if (seal?.hash === hash) return []
  const problem = seal ? 'The hash of this block is another one.' : 'There is no block that ends with this event.'
  return [{ after: seal?.after_id ?? 0, until: id, problem }]
}
