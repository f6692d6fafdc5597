import { createHash, timingSafeEqual } from 'node:crypto'
import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { LENGTHS } from '../core/lengths.js'
import { visibleTotal } from '../db/counters.js'
import { countDue } from '../db/deliveries.js'
import { hasEvent } from '../db/events.js'
import { BACKUPS, readJobRun } from '../db/jobs.js'
import { countPosts } from '../db/posts/count.js'
import { newestApplied } from '../db/schema.js'
import { listServers, SEEN_WITHIN_MS } from '../db/servers.js'
import { readSettings, updateSettings } from '../db/settings.js'
import { assignEveryone, findOwner, userTotal } from '../db/users.js'
import type { Change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { boardName, newBoard } from './boards.js'
import { ADDRESS_ERRORS, assertAddressAllowed } from './blockeddomains.js'
import { usualRoadmaps } from './roadmaps.js'
import { queueLetter } from './lib/mailings.js'
import { operation } from './lib/operation.js'
import { assertNewPassword, hashNewPassword } from './lib/passwords.js'
import { fields, nullable } from './lib/schemas.js'
import { signIn } from './lib/signin.js'
import { assertSecretFits } from './lib/tokens.js'
import { assertEmail } from './lib/emails.js'
import { AuthUser, emailField, insertPerson, languageField, nameField, newUser, passwordField, setupCompleted } from './lib/people.js' // prettier-ignore

export const status = operation({
  id: 'site.status',
  summary: 'Show whether the site has an owner',
  http: 'GET /auth/setup 200',
  access: 'public',
  cache: 'public',
  errors: [],
  input: fields({}),
  output: Type.Object({ is_setup: Type.Boolean() }),
  async run({ db }) {
    return { is_setup: (await findOwner(db)) !== undefined }
  },
})

const Server = Type.Object({
  url: Type.String(),
  version: Type.String(),
  startedAt: Type.String({ format: 'date-time' }),
  host: Type.String({ description: 'Name of the machine' }),
  pid: Type.Integer({ description: 'Process id on that machine' }),
  workers: Type.Integer({ description: 'Processes that share the work' }),
})
export type Server = Type.Static<typeof Server>

const ScheduledBackups = Type.Object({
  madeAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: 'When the last was made' }),
  failedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When the last attempt failed, if none has succeeded since',
  }),
  error: Type.Union([Type.String(), Type.Null()], { description: 'Why it failed' }),
})

export const overview = operation({
  id: 'site.overview',
  summary: 'Show the servers of the site, its schema, and how much is in it',
  http: 'GET /site/overview 200',
  access: 'owner',
  errors: [],
  input: fields({}),
  output: Type.Object({
    title: Type.String(),
    is_setup: Type.Boolean(),
    servers: Type.Array(Server, { description: 'Servers seen in the last three minutes' }),
    schema: Type.String({ description: 'The last migration' }),
    people: Type.Integer(),
    boards: Type.Integer(),
    posts: Type.Integer(),
    mail_waiting: Type.Integer({ description: 'Mails that are still to be sent' }),
    mail_tested: Type.Boolean({
      description: 'Whether the owner has had a test mail sent, from a page or over the API',
    }),
    backups: Type.Union([ScheduledBackups, Type.Null()], {
      description: 'Backups on the schedule, and those that were asked for over HTTP; null before the first',
    }),
  }),
  async run({ db, now }) {
    const since = new Date(now().getTime() - SEEN_WITHIN_MS).toISOString()
    const everything = { boards: [], roadmaps: undefined, author: undefined, hidden: true } as const
    const rows = (await listServers(db, since)).toSorted((one, other) => (one.started_at < other.started_at ? -1 : 1))
    const isFirst = (row: (typeof rows)[number]) =>
      rows.find(({ host, pid }) => host === row.host && pid === row.pid) === row
    const run = await readJobRun(db, BACKUPS)
    const owner = await findOwner(db)
    return {
      title: (await readSettings(db)).title,
      is_setup: owner !== undefined,
      servers: rows.filter(isFirst).map(({ url, version, started_at: startedAt, host, pid }) => {
        const workers = rows.filter((row) => row.host === host && row.pid === pid).length
        return { url, version, startedAt, host, pid, workers }
      }),
      schema: (await newestApplied(db)) ?? '',
      people: await userTotal(db),
      boards: await visibleTotal(db, 'boards', ['public', 'private']),
      posts: (await countPosts(db, everything)).total,
      mail_waiting: await countDue(db, 'mail'),
      mail_tested: owner !== undefined && (await hasEvent(db, 'mail.tested', owner.userId)),
      backups: run ? { madeAt: run.done_at, failedAt: run.failed_at, error: run.error } : null,
    }
  },
})

export const setup = operation({
  id: 'site.setup',
  summary: 'Create the owner account and set the site title',
  http: 'POST /auth/setup 201',
  access: 'public',
  mails: 'unless-declined', // nobody could set up a site whose mail is not configured yet
  ownPages: true,
  limit: 'token',
  sensitive: true,
  errors: [
    'SETUP_REFUSED',
    ...ADDRESS_ERRORS,
    'PASSWORD_MISSING',
    'PASSWORD_COMMON',
    'SETUP_COMPLETED',
    'USER_EXISTS',
    'USERNAME_EXISTS',
    'INVALID_TOKEN',
    'SECRET_MISMATCH',
  ],
  input: fields({
    email: emailField,
    password: passwordField,
    siteTitle: Type.Optional(
      nullable('string', {
        maxLength: LENGTHS.setting,
        trim: true,
        plain: true,
        description: 'Title shown across the site (default: Feedback)',
      }),
    ),
    name: nameField,
    language: languageField,
    statuses: Type.Optional(
      Type.Boolean({ description: 'Create the four usual roadmaps too, as POST /roadmaps/usual does' }),
    ),
    board: Type.Optional({ ...boardName, description: 'Name of a first board, which everybody sees' }),
    noMail: Type.Optional(
      Type.Boolean({ description: 'Set the site up although it cannot send mail: nobody can sign up until it can' }),
    ),
    setupToken: Type.Optional(
      nullable('string', { description: 'Needed if the server has the setting setup.token', secret: true }),
    ),
  }),
  output: Type.Object({ user: AuthUser }),
  async run(ctx, { email, password, siteTitle, name, language, statuses = false, board, setupToken }) {
    assertSetupToken(ctx, setupToken ?? '')
    const address = assertEmail(email)
    await assertAddressAllowed(ctx.db, address)
    assertNewPassword(password)
    if (await findOwner(ctx.db)) throw setupCompleted() // saves the hashing; the unique index decides
    if (!ctx.dryRun) await assertSecretFits(ctx)
    const owner = {
      ...newUser(ctx.now(), {
        email: address,
        name: name || 'Owner',
        password: await hashNewPassword(ctx, password, address),
        language,
      }),
      isOwner: 1,
    }
    const createRoadmaps = statuses ? await usualRoadmaps(ctx) : undefined
    const createBoard = board === undefined ? undefined : await newBoard(ctx, { name: board, display: true, view_voters: true }) // prettier-ignore
    const create = async (tx: Change) => {
      const inserted = await insertPerson(tx.db, owner)
      await assignEveryone(tx.db, inserted.userId)
      await updateSettings(tx.db, { title: siteTitle || 'Feedback' })
      if (ctx.mail) await queueLetter(tx, 'verification', inserted)
      tx.record('site.set_up', 'site')
      await createRoadmaps?.(tx)
      await createBoard?.(tx)
      return inserted
    }
    return { user: await signIn(ctx, { way: 'account', create }) }
  },
})

/** Whoever can open the database could take the site over anyway. */
function assertSetupToken({ actor, setupToken: expected }: Context, given: string): void {
  if (expected === undefined || actor.isOwner) return
  const [one, other] = [expected, given].map((text) => createHash('sha256').update(text).digest())
  if (one && other && timingSafeEqual(one, other)) return
  throw new AppError(
    'INVALID_TOKEN',
    given === ''
      ? 'This site is set up with a token. Send the value of the setting setup.token as setupToken.'
      : 'The token is not the one of the setting setup.token.',
  )
}
