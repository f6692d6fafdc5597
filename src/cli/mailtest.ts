import { isIP } from 'node:net'
import type { Command } from 'commander'
import { wholeOf } from '../core/durations.js'
import { AppError } from '../core/errors.js'
import { printable } from '../core/text.js'
import type { MailReport, Step } from '../mail/check.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { formatOf, print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { colors, hasColor, say, tell, widthOf, write, type Terminal } from './lib/terminal/terminal.js'
import { wrappedRow } from './lib/texts/wrap.js'

const STEP: (keyof Step)[] = ['step', 'result', 'detail', 'next']

const columns: Column<Step>[] = [
  { head: 'STEP', field: 'step', text: ({ step }) => step, drop: 0 },
  { head: 'RESULT', field: 'result', text: ({ result }) => result, drop: 0 },
  { head: 'DETAIL', field: 'detail', text: ({ detail }) => detail, drop: 0 },
]

interface Flags extends OutputFlags {
  to?: string
  dryRun?: boolean
  timeout?: string
  dns?: string
  dkimSelector?: string
  ip?: string
}

const MAX_TIMEOUT_S = 120

export function registerTest(group: Command, cli: Cli): void {
  explain(withFields(group.command('test'), STEP), {
    local: true,
    examples: ['mail test', 'mail test --to ada@example.org', 'mail test --ip 192.0.2.1', 'mail test --json'],
    notes: [
      'Looks at the settings mail.url and mail.from step by step, with the server up or down: the name, the port, the banner, TLS, the sign-in, then SPF, DKIM and DMARC of the sender. Exits with 9 if mail cannot be sent. A warning does not change the exit code.',
      'Only --to sends a mail. It goes past the queue, and is not tried again.',
    ],
  })
    .description('Find out why mail is not delivered')
    .option('--to <address>', 'send a test mail to this address')
    .option('--dry-run', 'send no mail, even with --to')
    .option(
      '--timeout <s>',
      `how long to wait for each answer: seconds or 1m (at most ${MAX_TIMEOUT_S}s; default: 10s)`,
    )
    .option('--dns <address>', 'the DNS server to use, as 192.0.2.1 or 192.0.2.1:53 (default: that of this machine)')
    .option('--ip <address>', 'the address that receivers see, to check it against SPF')
    .option('--dkim-selector <name>', 'look for the DKIM key under this name')
    .action(async (_flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { terminal } = cli
      const format = formatOf(terminal, flags)
      const seconds = secondsOf(flags.timeout)
      const to = flags.to?.trim()
      if (to !== undefined && !/^[^\s@<>]+@[^\s@<>]+$/.test(to)) throw new AppError('USAGE', '--to must be an e-mail address.') // prettier-ignore
      if (flags.ip !== undefined && !isIP(flags.ip)) throw new AppError('USAGE', '--ip must be an address, such as 192.0.2.1 or 2001:db8::1.') // prettier-ignore
      if (flags.dns !== undefined) await assertDnsServer(flags.dns)
      const config = await cli.config()
      assertLocal(config, 'mail test')
      const url = config.get('mail.url')
      if (url === undefined) throw new AppError('MAIL_CONFIG_MISSING', 'Mail is not configured: mail.url is not set.')
      if (terminal.stderr.isTTY) say(terminal, 'Trying the mail settings…')
      const { checkMail } = await import('../mail/check.js')
      const report = await checkMail(
        { url, from: config.get('mail.from') ?? '' },
        {
          to: flags.dryRun ? undefined : to,
          timeout: seconds * 1000,
          dns: flags.dns,
          selector: flags.dkimSelector,
          ip: flags.ip,
          programs: terminal.env.PATH ?? '',
        },
      )
      const { steps } = report
      if (format === 'table' || format === 'wide') await draw(terminal, flags, report)
      else await print(terminal, flags, { body: report, rows: steps, columns, id: ({ step }) => step, single: false })
      conclude(terminal, report)
    })
}

function secondsOf(timeout = '10'): number {
  const seconds = wholeOf(timeout, 's')
  if (seconds !== undefined && seconds >= 1 && seconds <= MAX_TIMEOUT_S) return seconds
  throw new AppError('USAGE', `--timeout must be from 1 to ${MAX_TIMEOUT_S} seconds, such as 20 or 20s.`)
}

async function assertDnsServer(server: string): Promise<void> {
  const { Resolver } = await import('node:dns')
  try {
    new Resolver().setServers([server])
  } catch {
    throw new AppError('USAGE', '--dns must be the address of a DNS server, such as 192.0.2.1 or [2001:db8::1]:53.')
  }
}

/** The steps, whose details break between words, then what was said. */
async function draw(terminal: Terminal, flags: Flags, { steps, transcript }: MailReport): Promise<void> {
  const width = widthOf(terminal.stdout)
  const paint = colors(hasColor(terminal, terminal.stdout, flags))
  const painted = { ok: paint.green, failed: paint.red, warning: paint.yellow, skipped: paint.dim } as const
  const column = Math.max(...steps.map(({ step }) => step.length)) + 11
  for (const { step, result, detail } of steps) {
    const row = wrappedRow(`${result.padEnd(9)}${step}`, printable(detail), { width, indent: 0, column })
    await write(terminal, `${painted[result](result)}${row.slice(result.length)}\n`)
  }
  if (transcript.length === 0) return
  await write(terminal, `\n${transcript.map((line) => `${paint.dim(printable(line))}\n`).join('')}`)
}

/** Says what to do next. A failure is an error, whose fix it is. */
function conclude(terminal: Terminal, { works, steps, next }: MailReport): void {
  if (works) return tell(terminal, next, { start: 'Next: ' })
  const { step, detail } = steps.find(({ result }) => result === 'failed') ?? { step: 'mail', detail: 'it failed' }
  throw new AppError('MAIL_TEST_FAILED', `Mail cannot be sent. ${step}: ${detail}`, {
    errors: [{ code: 'MAIL_TEST_FAILED', message: detail, field: step, rule: next }],
  })
}
