import { randomBytes } from 'node:crypto'
import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { isId, newId } from '../core/ids.js'
import { PERMISSIONS, type Permission } from '../core/permissions.js'
import { LENGTHS } from '../core/lengths.js'
import {
  countKeys,
  deleteKey,
  findKeyById,
  findListedKey,
  insertKey,
  listKeys,
  type KeyFilter,
  type NamedKey,
} from '../db/keys.js'
import type { Sorting } from '../db/paging.js'
import type { KeyRow } from '../db/tables.js'
import { lockUser } from '../db/users.js'
import { assertOwner, can } from './lib/access.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { hashOfKey, KEY_PREFIX } from './lib/keys.js'
import { operation } from './lib/operation.js'
import { pageFields, uncountedKeys, uncountedPage, type Listing } from './lib/paging.js'
import { userNotFound } from './lib/people.js'
import { fields, inPath, nullable, oneLine, someOf } from './lib/schemas.js'
import { assertStillSignedIn, personOf } from './lib/sessions.js'
import { MOST_SEARCHED, searched, textField, textMatcher } from './lib/textsearch.js'
import { orderFields, periodFields, periodFrom } from './lib/times.js'

/** Keys that a person can have. */
const MAX_KEYS = 100
const DAY_MS = 24 * 60 * 60 * 1000

export const Key = Type.Object({
  keyId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  permissions: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'What the key may do at most; null: everything its user may do',
  }),
  user: Type.Object({ userId: Type.String({ format: 'uuid' }), username: Type.String() }),
  createdAt: Type.String({ format: 'date-time' }),
  expiresAt: Type.String({ format: 'date-time' }),
  lastUsedAt: nullable('string', { description: 'The hour of the last request with it; null before the first' }),
})
export type Key = Type.Static<typeof Key>

/** Without a limit a page has all keys of a person, as before there were pages. */
const KEYS: Listing<NamedKey> = { row: 'key', rows: 'Keys', id: 'keyId', size: 1000, pages: 1000 }

export const list = operation({
  id: 'keys.list',
  summary: 'List your API keys, oldest first',
  http: 'GET /keys 200',
  access: 'session',
  errors: ['USER_NOT_FOUND'],
  input: fields({
    all: Type.Boolean({ default: false, description: "List everyone's keys; only for the owner" }),
    query: textField('keys', { within: 'name', most: MOST_SEARCHED }),
    ...orderFields('asc'),
    ...pageFields(KEYS),
    ...periodFields('keys created'),
  }),
  output: Type.Object({ keys: Type.Array(Key), ...uncountedKeys }),
  async run(ctx, { all, query, created, since, until, ...page }) {
    if (all) assertOwner('owner', ctx.actor)
    const userId = all ? undefined : await personOf(ctx)
    const filter: KeyFilter & Sorting = { userId, created, ...periodFrom({ since, until }) }
    const hasText = textMatcher(query)
    const { rows: keys, keys: place } = await uncountedPage(KEYS, page, {
      ...searched(
        {
          find: (after) => findListedKey(ctx.db, filter, after),
          read: (slice) => listKeys(ctx.db, filter, slice),
        },
        hasText && (({ name }) => hasText(name)),
      ),
      show: (rows) => rows.map(toKey),
    })
    return { keys, ...place }
  },
})

/** All keys of a person, oldest first. */
export const keysOf = async ({ db }: Context, userId: string): Promise<Key[]> =>
  (await listKeys(db, { userId, created: 'asc' }, { limit: MAX_KEYS })).map(toKey)

export const show = operation({
  id: 'keys.show',
  summary: 'Show an API key, without the key itself',
  http: 'GET /keys/:keyId 200',
  access: 'session',
  errors: ['KEY_NOT_FOUND', 'USER_NOT_FOUND'],
  input: fields({ keyId: inPath('Id of the key', 'key') }),
  output: Type.Object({ key: Key }),
  subject: keyOf,
  async run({ db }, _input, { keyId }) {
    const key = await findListedKey(db, { userId: undefined }, keyId)
    if (!key) throw keyNotFound()
    return { key: toKey(key) }
  },
})

export const create = operation({
  id: 'keys.create',
  summary: 'Create an API key for a program; the key is shown only once',
  http: 'POST /keys 201',
  access: 'session',
  sensitive: true,
  errors: ['USER_NOT_FOUND', 'KEY_LIMIT'],
  input: fields({
    name: Type.String({ ...oneLine(LENGTHS.name), description: 'What the key is for' }),
    permissions: Type.Optional(
      someOf(PERMISSIONS, {
        rule: 'a list of permissions, each of them one that GET /roles/permissions (feedbackctl roles permissions) names',
        description: 'Permissions that the key is limited to; you can give only those you have',
      }),
    ),
    days: Type.Integer({ minimum: 1, maximum: 3650, default: 90, inDays: true, description: 'Days until it expires' }),
  }),
  output: Type.Object({
    key: Key,
    token: Type.String({ description: 'The key itself; send it as "Authorization: Bearer <token>"' }),
  }),
  async run(ctx, { name, permissions: given, days }) {
    assertGiven(ctx, given)
    const [userId, now] = [await personOf(ctx), ctx.now()]
    const token = KEY_PREFIX + randomBytes(32).toString('base64url')
    const row = {
      keyId: newId(),
      keyHash: hashOfKey(token),
      userId,
      name,
      permissions: given ? JSON.stringify(given) : null,
      createdAt: now.toISOString(),
      expiresAt: new Date(now.getTime() + days * DAY_MS).toISOString(),
    }
    return change(ctx, async ({ db, record }) => {
      const user = await lockUser(db, userId) // so that two requests do not exceed the number together
      if (!user) throw userNotFound()
      await assertStillSignedIn({ db, actor: ctx.actor }, user)
      if ((await countKeys(db, userId)) >= MAX_KEYS)
        throw new AppError('KEY_LIMIT', `This account has ${MAX_KEYS} API keys. Revoke one that is not used any more.`)
      await insertKey(db, row)
      record('key.created', row.keyId, name)
      return { key: toKey({ ...row, username: user.username, lastUsedAt: null }), token: ctx.dryRun ? '' : token }
    })
  },
})

export const revoke = operation({
  id: 'keys.revoke',
  summary: 'Revoke an API key: requests with it are refused immediately',
  http: 'DELETE /keys/:keyId 204',
  access: 'session',
  errors: ['KEY_NOT_FOUND', 'USER_NOT_FOUND'],
  input: fields({ keyId: inPath('Id of the key', 'key') }),
  output: Type.Undefined(),
  subject: keyOf,
  run: (ctx, _input, key) =>
    change(ctx, async ({ db, record }) => {
      if (!(await deleteKey(db, key.keyId))) throw keyNotFound()
      record('key.revoked', key.keyId, key.name, key.userId === ctx.actor.userId ? undefined : key.userId)
      return undefined
    }),
})

/** The keys of others exist only for the owner. */
async function keyOf(ctx: Context, { keyId }: Record<string, unknown>): Promise<KeyRow> {
  const key = typeof keyId === 'string' && isId(keyId) ? await findKeyById(ctx.db, keyId.toLowerCase()) : undefined
  if (!key || (!ctx.actor.isOwner && key.userId !== ctx.actor.userId)) throw keyNotFound()
  return key
}

const keyNotFound = () => new AppError('KEY_NOT_FOUND', 'API key not found. It may have been revoked already.')

function assertGiven({ actor }: Context, given: readonly Permission[] = []): void {
  const lacking = given.find((permission) => !can(actor, permission))
  if (lacking)
    throw new AppError(
      'NOT_ENOUGH_PERMISSION',
      `You cannot give the permission ${lacking} to a key, because you do not have it.`,
    )
}

const toKey = ({ keyId, name, permissions, userId, username, createdAt, expiresAt, lastUsedAt }: NamedKey): Key => ({
  keyId,
  name,
  permissions: permissions === null ? null : (JSON.parse(permissions) as Permission[]),
  user: { userId, username },
  createdAt,
  expiresAt,
  lastUsedAt,
})
