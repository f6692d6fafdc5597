import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { quoted } from '../core/text.js'
import { countSuppressed, deleteBounces, findSuppressed, listSuppressed } from '../db/mailbounces.js'
import type { Page } from '../db/paging.js'
import { findUser } from '../db/users.js'
import { change } from './lib/change.js'
import { queueLetter } from './lib/mailings.js'
import { operation } from './lib/operation.js'
import { pageFields, pageKeys, sourceOf, uncountedKeys, uncountedPage, type Listing } from './lib/paging.js'
import { userNotFound } from './lib/people.js'
import { fields, inPath, nullable, oneOf } from './lib/schemas.js'
import { personOf } from './lib/sessions.js'
import { allMatching, MOST_SEARCHED, textField, textMatcher } from './lib/textsearch.js'
import { orderFields, periodFields, periodFrom } from './lib/times.js'
import { cancelQueued, listQueue, queueFields, retryQueued } from './mailqueue.js'

// Mails have links that sign people in, so no operation answers with their texts.

const Mail = Type.Object({
  mailId: Type.String({ format: 'uuid' }),
  recipient: Type.String(),
  subject: Type.String(),
  state: oneOf(['waiting', 'sending', 'failed', 'sent', 'cancelled'], {
    description: 'failed: refused so often that it is not tried again',
  }),
  attempts: Type.Integer({ description: 'Since it was queued, or last retried by hand' }),
  lastError: nullable('string', { description: 'The words of the mail server' }),
  createdAt: Type.String({ format: 'date-time' }),
  dueAt: nullable('string', { description: 'When it is tried next' }),
  sentAt: nullable('string'),
  cancelledAt: nullable('string'),
})

export const list = operation({
  id: 'mails.list',
  summary: 'List mails that wait or have failed, newest first, without their texts',
  http: 'GET /mails 200',
  access: 'owner',
  sensitive: true,
  errors: [],
  input: queueFields,
  output: Type.Object({ mails: Type.Array(Mail), total: Type.Integer(), ...pageKeys }),
  run: listQueue,
})

const mailId = inPath('Id of the mail, or the start of it')

export const retry = operation({
  id: 'mails.retry',
  summary: 'Send a waiting or failed mail now, with all its attempts again',
  http: 'POST /mails/:mailId/retry 200',
  access: 'owner',
  sensitive: true,
  errors: ['MAIL_NOT_FOUND', 'MAIL_NOT_WAITING'],
  input: fields({ mailId }),
  output: Type.Object({ mail: Mail }),
  run: async (ctx, input) => ({ mail: await retryQueued(ctx, input.mailId) }),
})

export const cancel = operation({
  id: 'mails.cancel',
  summary: 'Cancel a mail: it is never sent, and its text is erased',
  http: 'POST /mails/:mailId/cancel 200',
  access: 'owner',
  sensitive: true,
  errors: ['MAIL_NOT_FOUND', 'MAIL_NOT_WAITING'],
  input: fields({ mailId }),
  output: Type.Object({ mail: Mail }),
  run: async (ctx, input) => ({ mail: await cancelQueued(ctx, input.mailId) }),
})

export const test = operation({
  id: 'mails.test',
  summary: 'Queue a test mail to your own address; the list says what becomes of it',
  http: 'POST /mails/test 202',
  access: 'owner',
  limit: 'mail',
  mails: true,
  errors: ['USER_NOT_FOUND'],
  input: fields({}),
  output: Type.Object({ recipient: Type.String() }),
  async run(ctx) {
    const userId = await personOf(ctx)
    return change(ctx, async (tx) => {
      const user = await findUser(tx.db, userId)
      if (!user) throw userNotFound()
      await queueLetter(tx, 'test', user)
      tx.record('mail.tested', userId)
      return { recipient: user.email }
    })
  },
})

const Suppressed = Type.Object({
  userId: Type.String({ format: 'uuid' }),
  email: Type.String(),
  bounces: Type.Integer({ description: 'How often the mail server refused the address' }),
  reason: Type.String({ description: 'Its words, the last time' }),
  suppressedAt: Type.String({ format: 'date-time' }),
})
export type Suppressed = Type.Static<typeof Suppressed>

const SUPPRESSED: Listing<Suppressed> = { row: 'address', rows: 'Addresses', id: 'userId', size: 100 }

export const suppressed = operation({
  id: 'mails.suppressed',
  summary: 'List the addresses to which no notification is mailed, as the mail server refused them, the latest first',
  http: 'GET /mails/suppressed 200',
  access: 'owner',
  sensitive: true,
  errors: [],
  input: fields({
    query: textField('addresses', { within: "address or the mail server's words", most: MOST_SEARCHED }),
    ...orderFields('desc', 'Sort by the time since which no notification is mailed'),
    ...pageFields(SUPPRESSED),
    ...periodFields('addresses suppressed'),
  }),
  output: Type.Object({ suppressed: Type.Array(Suppressed), total_count: Type.Integer(), ...uncountedKeys }),
  async run({ db }, { query, created, since, until, ...page }) {
    const filter = { created, ...periodFrom({ since, until }) }
    const hasText = textMatcher(query)
    const read = (slice: Page<Suppressed>) => listSuppressed(db, filter, slice)
    const found = hasText && (await allMatching(read, ({ email, reason }) => hasText(email, reason)))
    const all = { find: (after: string) => findSuppressed(db, filter, after), read }
    const { rows, keys } = await uncountedPage(SUPPRESSED, page, {
      ...(found ? sourceOf(SUPPRESSED, found) : all),
      show: async (found) => found,
    })
    return { suppressed: rows, total_count: found?.length ?? (await countSuppressed(db, filter)), ...keys }
  },
})

export const unsuppress = operation({
  id: 'mails.unsuppress',
  summary: 'Mail notifications to an address again that the mail server refused',
  http: 'DELETE /mails/suppressed/:user 200',
  access: 'owner',
  sensitive: true,
  errors: ['USER_NOT_FOUND', 'MAIL_NOT_SUPPRESSED'],
  input: fields({ user: inPath('Id, e-mail address or user name of the user', 'user') }),
  output: Type.Object({ email: Type.String() }),
  run: (ctx, { user: given }) =>
    change(ctx, async (tx) => {
      const user = await findUser(tx.db, given)
      if (!user) throw new AppError('USER_NOT_FOUND', `User ${quoted(given)} not found.`)
      if (!(await deleteBounces(tx.db, user.userId)))
        throw new AppError('MAIL_NOT_SUPPRESSED', `The mail server does not refuse ${user.email}. Nothing was changed.`)
      tx.record('mail.resumed', user.userId)
      return { email: user.email }
    }),
})
