import * as Type from 'typebox'
import { deleteIdentity, listIdentities } from '../db/identities.js'
import { endSessions, lockUser, updateUser } from '../db/users.js'
import { change } from './lib/change.js'
import { countWays, Identity, identityNotFound, identityPolicy, isLinked, PASSWORD, waysOf } from './lib/identities.js'
import { operation } from './lib/operation.js'
import { pageFields, pageKeys, pageOf, sourceOf, type Listing } from './lib/paging.js'
import { hasPassword } from './lib/passwords.js'
import { ownUser, userNotFound } from './lib/people.js'
import { fields, inPath } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'

/** Without a limit a page has all, as before there were pages. */
const IDENTITIES: Listing<Identity> = { row: 'way to sign in', rows: 'Ways to sign in', id: 'identityId', size: 1000 }

export const list = operation({
  id: 'identities.list',
  summary: 'List your ways to sign in',
  http: 'GET /identities 200',
  access: 'session',
  sensitive: true,
  errors: ['USER_NOT_FOUND'],
  input: fields(pageFields(IDENTITIES)),
  output: Type.Object({ identities: Type.Array(Identity), ...pageKeys }),
  async run(ctx, page) {
    const ways = sourceOf(IDENTITIES, await waysOf(ctx, await ownUser(ctx)))
    const { rows: identities, keys } = await pageOf(IDENTITIES, page, { ...ways, show: (rows) => rows })
    return { identities, ...keys }
  },
})

export const unlink = operation({
  id: 'identities.unlink',
  summary: 'Remove one of your ways to sign in, but not the last one: all other sessions end',
  http: 'DELETE /identities/:identityId 204',
  access: 'session',
  changesOwnRights: true,
  errors: ['IDENTITY_NOT_FOUND', 'LAST_IDENTITY', 'USER_NOT_FOUND'],
  input: fields({ identityId: inPath(`Id of the identity, or "${PASSWORD}"`, 'identity') }),
  output: Type.Undefined(),
  async run(ctx, { identityId: given }) {
    const userId = await personOf(ctx)
    return change(ctx, async ({ db, record }) => {
      const user = await lockUser(db, userId) // so that of two requests, one finds the last way
      if (!user) throw userNotFound()
      const linked = (await listIdentities(db, userId)).filter(isLinked)
      const ways = countWays(user, linked)
      if (given === PASSWORD && hasPassword(user)) {
        identityPolicy.assert('unlink', ctx.actor, { provider: PASSWORD, ways })
        await updateUser(db, userId, { password: null, updatedAt: ctx.now().toISOString() })
        record('user.password_removed', userId)
      } else {
        const identity = linked.find(({ identityId }) => identityId === given.toLowerCase())
        if (!identity) throw identityNotFound()
        identityPolicy.assert('unlink', ctx.actor, { ...identity, ways })
        await deleteIdentity(db, identity)
        record('identity.unlinked', identity.identityId, undefined, userId)
      }
      await endSessions(db, userId, ctx.actor.sessionId)
      return undefined
    })
  },
})
