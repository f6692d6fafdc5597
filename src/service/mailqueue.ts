import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { parse } from '../core/fields.js'
import { isId, isIdStart } from '../core/ids.js'
import { printable, quoted } from '../core/text.js'
import {
  cancelDelivery,
  countDeliveries,
  deliveriesAfter,
  deliveriesStarting,
  findDelivery,
  listDeliveries,
  retryDelivery,
  type DeliveryFilter,
  type Envelope,
} from '../db/deliveries.js'
import type { Page, Sorting } from '../db/paging.js'
import type { Db } from '../db/tables.js'
import { mail as kind } from '../delivery/mail.js'
import { momentOf } from '../delivery/queue.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { pageFields, pageOf, sourceOf, type Listing } from './lib/paging.js'
import { fields } from './lib/schemas.js'
import { allMatching, MOST_SEARCHED, textField, textMatcher } from './lib/textsearch.js'
import { isWithin, orderFields, periodFields, periodFrom } from './lib/times.js'

// The mails among the deliveries. Their texts have links that sign people in: only who can open the database reads them.

/**
 * What becomes of a mail: it waits for its next attempt, a process is sending it in this moment, it was refused so often
 * that it is not tried again, it was sent, or it was cancelled.
 */
type State = 'waiting' | 'sending' | 'failed' | 'sent' | 'cancelled'

/** Times are ISO 8601. */
export interface Mail {
  mailId: string
  recipient: string
  subject: string
  state: State
  /** How often it was tried since it was queued, or since it was last retried by hand. */
  attempts: number
  lastError: string | null
  createdAt: string
  /** When it is tried next. */
  dueAt: string | null
  sentAt: string | null
  cancelledAt: string | null
}

export interface MailShown extends Mail {
  /** With the secret part of links left out. Empty after the mail was sent or cancelled. */
  text: string
}

/** How many candidates an error names. */
const MOST = 5

/** A mail in the list, whose cursor is named `mailId`. */
type Entry = Envelope & Pick<Mail, 'mailId'>

const entryOf = <Row extends Envelope>(row: Row): Row & Entry => ({ ...row, mailId: row.deliveryId })

const MAILS: Listing<Entry> = { row: 'mail', rows: 'Mails', id: 'mailId', size: 100 }

/** What `listQueue` takes. */
export const queueFields = fields({
  query: textField('mails', { within: 'recipient or subject', most: MOST_SEARCHED }),
  ...orderFields('desc'),
  ...pageFields(MAILS),
  ...periodFields('mails queued'),
  sent: Type.Boolean({ default: false, description: 'Also list sent and cancelled mails' }),
})

/** Lists queued and failed mails, or all. */
export async function listQueue({ db, now }: Context, given: unknown) {
  const { sent, query, created, since, until, ...page } = parse(queueFields, given) as Type.Static<typeof queueFields>
  const filter: DeliveryFilter & Sorting = { kind: kind.name, sent, created, ...periodFrom({ since, until }) }
  const hasText = textMatcher(query)
  const read = async (slice: Page<Entry>) => (await listDeliveries(db, filter, slice)).map((row) => entryOf(row))
  const found = hasText && (await allMatching(read, ({ recipient, subject }) => hasText(recipient, subject)))
  const total = found ? found.length : await countDeliveries(db, filter)
  const all = {
    total,
    async find(after: string) {
      const mail = await findDelivery(db, kind.name, after)
      return mail && isWithin(filter, mail.createdAt) ? entryOf(mail) : undefined
    },
    countAfter: (mail: Entry) => deliveriesAfter(db, filter, mail),
    read,
  }
  const { rows: mails, keys } = await pageOf<Entry, Mail>(MAILS, page, {
    ...(found ? sourceOf(MAILS, found) : all),
    show: (rows) => rows.map((row) => mailOf(row, now())),
  })
  return { mails, total, ...keys }
}

/** Ids of unsent mails, oldest first, except those being sent. */
export async function waitingMails({ db, now }: Context): Promise<string[]> {
  const rows = await listDeliveries(
    db,
    { kind: kind.name, sent: false, created: 'asc' },
    { limit: Number.MAX_SAFE_INTEGER },
  )
  return rows.filter((row) => stateOf(row, now()) !== 'sending').map(({ deliveryId }) => deliveryId)
}

/** A mail by its id, or the start of it. The links in its text sign people in: they are whole only with `links`. */
export async function showMail({ db, now }: Context, given: string, { links }: { links: boolean }): Promise<MailShown> {
  const row = await existing(db, await idOf(db, given))
  return { ...mailOf(row, now()), text: links ? row.text : withoutSecrets(row.text) }
}

/** Makes a mail due now, as if it had never been tried. "serve" sends it. */
export const retryQueued = (ctx: Context, given: string): Promise<Mail> =>
  settle(ctx, given, 'mail.retried', retryDelivery)

/** Makes sure that a mail is never sent, and erases its text. */
export const cancelQueued = (ctx: Context, given: string): Promise<Mail> =>
  settle(ctx, given, 'mail.cancelled', cancelDelivery)

async function settle(
  ctx: Context,
  given: string,
  action: 'mail.retried' | 'mail.cancelled',
  write: typeof retryDelivery,
): Promise<Mail> {
  const mailId = await idOf(ctx.db, given)
  return change(ctx, async ({ db, record }) => {
    const done = await write(db, mailId, momentOf(kind, ctx.now()))
    const mail = mailOf(await existing(db, mailId), ctx.now())
    if (!done) throw settled(mail)
    record(action, mailId)
    return mail
  })
}

function settled({ state, recipient }: Mail): AppError {
  const to = `The mail to ${recipient}`
  if (state === 'sent') return new AppError('MAIL_NOT_WAITING', `${to} was sent. Nothing was changed.`)
  if (state === 'cancelled')
    return new AppError('MAIL_NOT_WAITING', `${to} was cancelled, and its text erased. Nothing was changed.`)
  return new AppError('MAIL_NOT_WAITING', `${to} is being sent right now. Nothing was changed. Try again in a minute.`)
}

async function idOf(db: Db, given: string): Promise<string> {
  const start = given.trim().toLowerCase()
  if (isId(start)) return start
  const found = isIdStart(start) ? await deliveriesStarting(db, kind.name, start, MOST + 1) : []
  const [only] = found
  if (!only) throw notFound(given)
  if (found.length === 1) return only.deliveryId
  throw new AppError('AMBIGUOUS_NAME', `${quoted(given)} is the start of several ids. Give more characters of one.`, {
    errors: found.slice(0, MOST).map(({ deliveryId, recipient, subject }) => {
      const rule = `${deliveryId}   ${printable(subject)} (${recipient})`
      return { code: 'CANDIDATE', message: rule, field: 'mail', rule, value: deliveryId }
    }),
  })
}

async function existing(db: Db, mailId: string) {
  const row = await findDelivery(db, kind.name, mailId)
  if (!row) throw notFound(mailId)
  return row
}

const notFound = (given: string) =>
  new AppError(
    'MAIL_NOT_FOUND',
    `Mail ${quoted(given)} not found. Give its id, or at least four characters of the start.`,
  )

function mailOf(row: Envelope, now: Date): Mail {
  const { deliveryId: mailId, recipient, subject, attempts, lastError, createdAt, dueAt, sentAt, cancelledAt } = row
  return { mailId, recipient, subject, state: stateOf(row, now), attempts, lastError, createdAt, dueAt, sentAt, cancelledAt } // prettier-ignore
}

function stateOf({ sentAt, cancelledAt, dueAt, leasedUntil }: Envelope, now: Date): State {
  if (sentAt !== null) return 'sent'
  if (cancelledAt !== null) return 'cancelled'
  if (dueAt === null) return 'failed'
  const moment = momentOf(kind, now)
  return leasedUntil !== null && leasedUntil > moment.now && leasedUntil <= moment.leaseLimit ? 'sending' : 'waiting'
}

/** What comes after the path of an address: there the tokens are. */
const withoutSecrets = (text: string): string => text.replaceAll(/(https?:\/\/[^\s?#]+)[?#]\S*/g, '$1?…')
