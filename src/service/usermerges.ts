import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { LENGTHS } from '../core/lengths.js'
import { quoted } from '../core/text.js'
import { lock } from '../db/counters.js'
import type { UserRow } from '../db/tables.js'
import { mergeUser } from '../db/usermerges.js'
import { deleteUser, lockUser, updateUser } from '../db/users.js'
import { change, type Change } from './lib/change.js'
import { operation } from './lib/operation.js'
import { findPerson, namingPeople, User, userNotFound, userShown } from './lib/people.js'
import { fields } from './lib/schemas.js'
import { holderOf, userPolicy } from './lib/userpolicy.js'
import { userOf, who } from './users.js'

const count = (description: string) => Type.Integer({ description })

export const merge = operation({
  id: 'users.merge',
  summary: 'Give what a person without an address had in another product to their account here; cannot be undone',
  http: 'POST /users/:user/merge 200',
  access: 'owner',
  sensitive: true,
  errors: ['USER_NOT_FOUND', 'MERGE_REFUSED'],
  input: fields({
    user: who,
    into: Type.String({
      minLength: 1,
      description: 'Id, e-mail address or user name of the account that the person has here',
      names: 'user',
    }),
  }),
  output: Type.Object({
    user: User,
    merged: Type.Object({
      posts: count('Posts that the account is the author of now'),
      comments: count('Comments that it is the author of now'),
      votes: count('Votes that it has now'),
      repeated: count('Votes for posts for which the account had voted too: one of them counts'),
    }),
  }),
  subject: userOf('owner'),
  run: (ctx, { into: given }, { userId, username }) =>
    change(ctx, async (tx) => {
      const into = await findPerson(tx, given.trim())
      if (!into) throw new AppError('USER_NOT_FOUND', noAccount(given, username, namingPeople(tx.actor)))
      if (into.userId === userId) throw new AppError('MERGE_REFUSED', 'An account cannot be merged into itself.')
      await lock(tx.db, 'post_counts')
      const [from, target] = await locked(tx, userId, into.userId)
      userPolicy.assert('merge', tx.actor, await holderOf(tx.db, from))
      const merged = await mergeUser(tx.db, { userId, intoId: target.userId })
      await described(tx, target, from)
      if (!(await deleteUser(tx.db, from))) throw userNotFound()
      tx.record('user.merged', target.userId, undefined, userId)
      const user = await lockUser(tx.db, target.userId) // with the counts of triggers
      return { ...(await userShown(tx, user ?? target)), merged }
    }),
})

/** Whoever changes the address of a placeholder meanwhile comes before or after. */
async function locked({ db }: Change, ...ids: [string, string]): Promise<[UserRow, UserRow]> {
  const rows = new Map<string, UserRow>()
  for (const id of ids.toSorted()) {
    const row = await lockUser(db, id)
    if (!row) throw userNotFound()
    rows.set(id, row)
  }
  return ids.map((id) => rows.get(id)) as [UserRow, UserRow] // each was found
}

/** The account gets the name if it has none, and the notes are added to its own. */
async function described({ db, now }: Change, user: UserRow, { name, notes }: UserRow): Promise<void> {
  const both = [user.notes, notes].filter(Boolean).join('\n\n').slice(0, LENGTHS.notes)
  const changed = await updateUser(db, user.userId, {
    name: user.name || name,
    notes: both || null,
    updatedAt: now().toISOString(),
  })
  if (!changed || changed === 'taken') throw userNotFound()
}

function noAccount(given: string, username: string, naming: string): string {
  const none = `User ${quoted(given)} not found.`
  return given.includes('@')
    ? `${none} If they have no account here, make this the address of ${quoted(username)}: whoever reads its mail then signs in to that account.`
    : `${none} ${naming}`
}
