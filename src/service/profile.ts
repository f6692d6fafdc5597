import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { AUTO, LANGUAGES } from '../core/language.js'
import { PERMISSIONS } from '../core/permissions.js'
import type { UserRow } from '../db/tables.js'
import { deleteOneTimeTokensOf } from '../db/tokens.js'
import { endSessions, lockUser, updateUser } from '../db/users.js'
import { canNow } from './lib/access.js'
import { change } from './lib/change.js'
import { revokeKeys } from './lib/keys.js'
import { operation } from './lib/operation.js'
import {
  assertNewPassword,
  assertPasswordGiven,
  hashNewPassword,
  hasPassword,
  noPassword,
  passwordMatches,
} from './lib/passwords.js'
import { displayName, languageOf, languageShown, ownUser, passwordField, userNotFound } from './lib/people.js'
import { Shown, profileShown, type Shows } from './lib/shown.js'
import { accountPolicy } from './lib/userpolicy.js'
import { fields, nullable } from './lib/schemas.js'

const Profile = Type.Object({
  userId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  username: Type.String(),
  email: Type.String(),
})

export const profile = operation({
  id: 'users.profile',
  summary: 'Show your own account',
  http: 'GET /users/profile 200',
  access: 'signed-in',
  cache: 'actor',
  sensitive: true,
  errors: ['USER_NOT_FOUND'],
  input: fields({}),
  output: Type.Object({
    user: Type.Object({
      ...Profile.properties,
      isVerified: Type.Boolean(),
      hasPassword: Type.Boolean({ description: 'Whether you can sign in with a password' }),
      may: accountPolicy.field,
      language: Type.Optional(languageShown),
      ...Shown,
    }),
  }),
  async run(ctx) {
    const user = await ownUser(ctx)
    return {
      user: {
        ...toProfile(user),
        isVerified: user.isVerified === 1,
        hasPassword: hasPassword(user),
        may: accountPolicy.may(ctx.actor, user),
        ...languageOf(user),
        ...profileShown(user),
      },
    }
  },
})

export const updateProfile = operation({
  id: 'users.updateProfile',
  summary: 'Change your own name or language, or what your public profile shows',
  http: 'PATCH /users/profile 200',
  access: 'session',
  sensitive: true,
  errors: ['USER_NOT_FOUND', 'NAME_LENGTH'],
  input: fields({
    name: Type.Optional(
      Type.String({
        rule: displayName.rule,
        trim: true,
        plain: true,
        description: 'Display name of 1 to 100 characters, in any script',
      }),
    ),
    language: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        enum: [AUTO, ...LANGUAGES],
        description: 'Language of pages and mails; with auto, pages use the language that the browser asks for',
      }),
    ),
    showProfile: Type.Optional(Shown.showProfile),
    showVotes: Type.Optional(Shown.showVotes),
    showComments: Type.Optional(Shown.showComments),
  }),
  output: Type.Object({
    user: Type.Object({ ...Profile.properties, language: Type.Optional(languageShown), ...Shown }),
  }),
  async run(ctx, { name, language, showProfile, showVotes, showComments }) {
    const user = await ownUser(ctx)
    const shown = numbered({ showProfile, showVotes, showComments })
    if (name === undefined && language === undefined && Object.keys(shown).length === 0)
      return { user: { ...toProfile(user), ...languageOf(user), ...profileShown(user) } }
    const length = [...(name ?? '')].length
    if (name !== undefined && (length < 1 || length > 100))
      throw new AppError('NAME_LENGTH', `The name must be 1 to 100 characters long; this one has ${length}.`)
    return change(ctx, async ({ db, record }) => {
      const changed = await updateUser(db, user.userId, {
        ...(name !== undefined && { name }),
        ...(language !== undefined && { language: language === AUTO ? null : language }),
        ...shown,
        updatedAt: ctx.now().toISOString(),
      })
      if (!changed || changed === 'taken') throw userNotFound() // names are not unique, so it is never 'taken'
      record('user.updated', user.userId)
      return { user: { ...toProfile(changed), ...languageOf(changed), ...profileShown(changed) } }
    })
  },
})

export const changePassword = operation({
  id: 'users.changePassword',
  summary: 'Change your own password: all other sessions end, and all API keys are revoked',
  http: 'POST /users/password 204',
  access: 'session',
  changesOwnRights: true,
  limit: 'sign-in',
  errors: ['USER_NOT_FOUND', 'PASSWORD_MISSING', 'PASSWORD_COMMON', 'INCORRECT_PASSWORD'],
  input: fields({
    currentPassword: Type.Optional(
      nullable('string', { description: 'Current password', documentedFormat: 'password', secret: true }),
    ),
    password: passwordField,
  }),
  output: Type.Undefined(),
  async run(ctx, { currentPassword, password: wanted }) {
    const user = await ownUser(ctx)
    if (!hasPassword(user)) throw noPassword('choose one (POST /auth/password/reset)')
    assertPasswordGiven(currentPassword)
    assertNewPassword(wanted)
    if (!(await passwordMatches(ctx, user, currentPassword, user.email)))
      throw new AppError('INCORRECT_PASSWORD', 'The present password is wrong.')
    const password = await hashNewPassword(ctx, wanted, user.email)
    return change(ctx, async ({ db, record }) => {
      const now = await lockUser(db, user.userId)
      if (!now) throw userNotFound()
      if (now.password !== user.password)
        throw new AppError('INCORRECT_PASSWORD', 'The password has just changed. Give the new one.')
      await updateUser(db, user.userId, { password, updatedAt: ctx.now().toISOString() })
      await endSessions(db, user.userId, ctx.actor.sessionId)
      await deleteOneTimeTokensOf(db, user.userId, 'resetPassword')
      await revokeKeys({ db, record }, user.userId)
      record('user.password_set', user.userId)
      return undefined
    })
  },
})

export const permissions = operation({
  id: 'users.permissions',
  summary: 'List your own permissions, without those that wait until your address is confirmed',
  http: 'GET /users/permissions 200',
  access: 'signed-in',
  cache: 'actor',
  errors: [],
  input: fields({}),
  output: Type.Object({ permissions: Type.Array(Type.String()) }),
  async run({ actor }) {
    return { permissions: PERMISSIONS.filter((permission) => canNow(actor, permission)) }
  },
})

export const dashboard = operation({
  id: 'users.dashboard',
  summary: 'Check whether you may see the dashboard',
  http: 'GET /users/dashboard 200',
  access: 'dashboard:read',
  errors: [],
  input: fields({}),
  output: Type.Object({ access: Type.Boolean() }),
  async run() {
    return { access: true }
  },
})

/** The given settings as column values: 1 or 0. */
const numbered = (given: { [Name in keyof Shows]?: boolean | undefined }): Partial<Shows> =>
  Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value ? 1 : 0]])),
  )

const toProfile = ({ userId, name, username, email }: UserRow): Type.Static<typeof Profile> => ({
  userId,
  name,
  username,
  email,
})
