import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { counted, printable, printableLines } from '../core/text.js'
import type { Context } from '../service/lib/context.js'
import * as mailqueue from '../service/mailqueue.js'
import type { Mail, MailShown } from '../service/mailqueue.js'
import { localList } from './lib/command/locallist.js'
import { actOnAll, namesGiven } from './lib/command/several.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { formatOf, isStructured, print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { confirm } from './lib/prompts/prompts.js'
import { say, tell, widthOf, write, type Terminal } from './lib/terminal/terminal.js'
import { ago } from './lib/texts/age.js'
import { wrappedText } from './lib/texts/wrap.js'

interface Flags extends OutputFlags {
  dryRun?: boolean
  yes?: boolean
  input?: boolean
}

const time = (head: string, field: 'createdAt' | 'sentAt' | 'cancelledAt', drop?: number): Column<Mail> => ({
  head,
  field,
  text: (mail) => mail[field] ?? '',
  shown: (mail, _paint, now) => (mail[field] === null ? '' : ago(mail[field], now)),
  ...(drop !== undefined && { drop }),
  ifAny: true,
})

const MAIL: (keyof Mail)[] = ['mailId', 'recipient', 'subject', 'state', 'attempts', 'lastError', 'createdAt', 'dueAt', 'sentAt', 'cancelledAt'] // prettier-ignore

const columns: Column<Mail>[] = [
  { head: 'ID', field: 'mailId', text: ({ mailId }) => mailId, drop: 0, short: true },
  { head: 'TO', field: 'recipient', text: ({ recipient }) => recipient, drop: 0 },
  {
    head: 'STATE',
    field: 'state',
    text: ({ state }) => state,
    shown: ({ state }, paint) => (state === 'failed' ? paint.red(state) : state),
    drop: 0,
  },
  { head: 'TRIES', field: 'attempts', text: ({ attempts }) => String(attempts), right: true, drop: 3 },
  {
    head: 'NEXT',
    field: 'dueAt',
    text: ({ dueAt }) => dueAt ?? '',
    shown: ({ dueAt }, _paint, now) => nextOf(dueAt, now),
    drop: 2,
  },
  { head: 'LAST ERROR', field: 'lastError', text: ({ lastError }) => lastError ?? '', drop: 1, ifAny: true },
  { head: 'SUBJECT', field: 'subject', text: ({ subject }) => subject },
  time('CREATED', 'createdAt'),
  time('SENT', 'sentAt', 4),
  time('CANCELLED', 'cancelledAt', 4),
]

/** A mail is due from then on. It waits for a server that sends it. */
const nextOf = (dueAt: string | null, now: Date): string =>
  dueAt === null ? '' : dueAt <= now.toISOString() ? 'now' : ago(dueAt, now).replace('just now', 'in seconds')

const shownColumns: Column<MailShown>[] = [
  ...columns,
  { head: 'TEXT', field: 'text', text: ({ text }) => text.trimEnd(), drop: 0 },
]

const id = ({ mailId }: Mail): string => mailId
const MOST_ERRORS = 5
const ERRORS_COUNTED = 1000

export function registerQueue(group: Command, cli: Cli): void {
  const queue = explain(group.command('queue').description('Show waiting mails, and retry or cancel them'), {
    examples: ['mail queue list', 'mail queue retry --all'],
  })
  registerList(queue, cli)
  registerShow(queue, cli)
  registerRetry(queue, cli)
  registerCancel(queue, cli)
}

/** The operator's context. */
async function contextOf(cli: Cli, verb: string, flags: Flags = {}): Promise<Context> {
  assertLocal(await cli.config(), `mail queue ${verb}`)
  formatOf(cli.terminal, flags) // refuses contradictory flags before anything is done
  const app = await cli.open()
  const { operatorContext } = await import('../app/call.js')
  return operatorContext(app, { dryRun: flags.dryRun ?? false })
}

function registerList(queue: Command, cli: Cli): void {
  const leaf = explain(withFields(queue.command('list'), MAIL), {
    local: true,
    examples: [
      'mail queue list',
      'mail queue list --sent --since 7d',
      'mail queue list --query eve@example.org',
      'mail queue list --all --json',
    ],
    notes: [
      'A mail waits for its next attempt, is being sent, or has failed: it was refused so often that it is not tried again. "mail queue retry" tries it again.',
    ],
  })
    .alias('ls')
    .description('List unsent mails with their last errors, newest first')
  localList<Mail, Awaited<ReturnType<typeof mailqueue.listQueue>>>(leaf, cli, {
    fields: mailqueue.queueFields,
    columns,
    id,
    rows: ({ mails }) => mails,
    list: 'mails',
    totals: ['total'],
    async open({ flags, input }) {
      const ctx = await contextOf(cli, 'list', flags)
      const errors = new Map<string, number>()
      return {
        empty: input['sent'] === true ? 'No mails yet.' : 'No mail waits.',
        async read(page) {
          const answer = await mailqueue.listQueue(ctx, page)
          countErrors(errors, answer.mails)
          return answer
        },
        after() {
          if (formatOf(cli.terminal, flags) === 'table') sayErrors(cli.terminal, errors)
        },
      }
    },
  })
}

/** Counts occurrences per error. Bounded, because messages of a long queue may all differ. */
function countErrors(counts: Map<string, number>, mails: readonly Mail[]): void {
  for (const { lastError } of mails) {
    if (lastError === null || (counts.size >= ERRORS_COUNTED && !counts.has(lastError))) continue
    counts.set(lastError, (counts.get(lastError) ?? 0) + 1)
  }
}

/** The errors in full, which a table has no room for; each once. */
function sayErrors(terminal: Terminal, counts: ReadonlyMap<string, number>): void {
  const most = [...counts].toSorted(([, one], [, other]) => other - one).slice(0, MOST_ERRORS)
  for (const [error, count] of most) tell(terminal, printable(error), { start: `${counted(count, 'mail')}: ` })
}

function registerShow(queue: Command, cli: Cli): void {
  explain(withFields(queue.command('show'), [...MAIL, 'text']), {
    local: true,
    examples: ['mail queue show 01a2058a', 'mail queue show 01a2058a --links'],
    notes: ['The text of a mail is erased when it is sent or cancelled.'],
  })
    .description('Show a mail without the secret part of its links')
    .argument('<mail>', 'id of the mail, or the start of it')
    .option('--links', 'show complete links, which sign users in or set their passwords')
    .action(async (mail: string, _flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { links?: boolean }>()
      const shown = await mailqueue.showMail(await contextOf(cli, 'show', flags), mail, { links: flags.links ?? false })
      const isDrawn = ['table', 'wide'].includes(formatOf(cli.terminal, flags))
      const filled = shownColumns.filter((column) => column.head !== 'TEXT' && column.text(shown) !== '')
      await print(cli.terminal, flags, { body: shown, rows: [shown], columns: isDrawn ? filled : shownColumns, id, single: true }) // prettier-ignore
      const text = wrappedText(printableLines(shown.text), widthOf(cli.terminal.stdout)).trimEnd()
      if (isDrawn && text !== '') await write(cli.terminal, `\n${text}\n`)
    })
}

function registerRetry(queue: Command, cli: Cli): void {
  explain(withFields(queue.command('retry'), MAIL), {
    local: true,
    examples: ['mail queue retry 01a2058a', 'mail queue retry --all'],
    notes: ['A retried mail is due now, and has all its attempts again. "feedbackctl serve" sends it.'],
  })
    .description('Send waiting or failed mails now')
    .argument('[mail...]', 'ids of mails or their starts, or - for ids from stdin')
    .option('--all', 'retry every unsent mail')
    .option('--dry-run', 'check whether the command would work, but change nothing')
    .action(async (typed: string[], _flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags & { all?: boolean }>()
      const { all = false, dryRun = false } = flags
      if (all === typed.length > 0) throw new AppError('USAGE', 'Give the ids of mails, or --all.')
      const ctx = await contextOf(cli, 'retry', flags)
      const names = all ? await mailqueue.waitingMails(ctx) : typed
      if (all && names.length === 0) {
        await print(cli.terminal, flags, { body: [], rows: [], columns, id, single: false })
        return say(cli.terminal, 'No mail waits.')
      }
      await act(cli, flags, names, {
        verb: 'retry',
        single: !all && isOne(names),
        act: (name) => mailqueue.retryQueued(ctx, name),
        said: ({ recipient }) =>
          dryRun ? `Would retry the mail to ${recipient}.` : `The mail to ${recipient} is due now. "feedbackctl serve" sends it.`, // prettier-ignore
      })
      if (!dryRun && names.length > 1 && !isStructured(formatOf(cli.terminal, flags)))
        say(cli.terminal, '"feedbackctl serve" sends them.')
    })
}

function registerCancel(queue: Command, cli: Cli): void {
  explain(withFields(queue.command('cancel'), MAIL), {
    local: true,
    examples: ['mail queue cancel 01a2058a', 'mail queue list --quiet | feedbackctl mail queue cancel - --yes'],
    notes: ['A cancelled mail is never sent, and its text is erased. Whoever waits for it has to ask for another.'],
  })
    .aliases(['delete', 'rm'])
    .description('Cancel mails, so that they are never sent')
    .argument('<mail...>', 'ids of mails or their starts, or - for ids from stdin')
    .option('--dry-run', 'check whether the command would work, but change nothing')
    .option('-y, --yes', 'skip the confirmation prompt')
    .action(async (typed: string[], _flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const ctx = await contextOf(cli, 'cancel', flags)
      await act(cli, flags, typed, {
        verb: 'cancel',
        single: isOne(typed),
        question: async (name) => {
          const { subject, recipient, state } = await mailqueue.showMail(ctx, name, { links: false })
          if (state !== 'waiting' && state !== 'failed') return undefined // no question about what will be refused
          return `Cancel the mail "${printable(subject)}" to ${recipient}? It will not be sent.`
        },
        act: (name) => mailqueue.cancelQueued(ctx, name),
        said: ({ recipient }) =>
          flags.dryRun ? `Would cancel the mail to ${recipient}.` : `Cancelled the mail to ${recipient}. It will not be sent.`, // prettier-ignore
      })
    })
}

const isOne = (names: readonly string[]): boolean => names.length === 1 && names[0] !== '-'

interface Act {
  verb: string
  /** One answer, and not a list of them. */
  single: boolean
  question?: (name: string) => Promise<string | undefined>
  act: (name: string) => Promise<Mail>
  said: (mail: Mail) => string
}

async function act(
  cli: Cli,
  flags: Flags,
  typed: readonly string[],
  { verb, single, question, act: change, said }: Act,
): Promise<void> {
  const { terminal } = cli
  const [only] = typed
  if (!single || only === undefined) {
    const names = await namesGiven(terminal, typed)
    const actOn = async (name: string) => {
      const mail = await change(name)
      return { body: mail, rows: [mail], said: said(mail) }
    }
    return actOnAll(terminal, flags, { names, verb, noun: 'mail', columns, id, question, act: actOn })
  }
  const confirmation = flags.dryRun ? undefined : await question?.(only)
  if (confirmation !== undefined) await confirm(terminal, flags, confirmation)
  const mail = await change(only)
  await print(terminal, flags, { body: mail, rows: [mail], columns: oneColumns, id, single: true })
  if (!isStructured(formatOf(terminal, flags)) && !flags.quiet) tell(terminal, said(mail))
}

const oneColumns = columns.filter(({ head }) => ['ID', 'TO', 'STATE', 'SUBJECT'].includes(head))
