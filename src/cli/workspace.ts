import { closeSync, openSync, readSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { whyNotRead } from '../core/filecauses.js'
import { counted } from '../core/text.js'
import type { Call } from '../service/lib/operation.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import type { Column } from './lib/output/table.js'
import { confirm } from './lib/prompts/prompts.js'
import { canPrompt, tell, type Terminal } from './lib/terminal/terminal.js'
import type { Value, Workspace } from './workspacefile.js'
import type { FieldChange, Step } from './workspaceplan.js'

interface Flags extends OutputFlags {
  dryRun?: boolean
  yes?: boolean
  input?: boolean
  deleteUsed?: boolean
}

const shownValue = (value: Value): string => (value === null ? 'none' : Array.isArray(value) ? value.join(', ') || 'none' : String(value)) // prettier-ignore
const fieldText = ({ change }: Step, { field, before, after }: FieldChange): string =>
  change === 'create' ? `${field} ${shownValue(after)}` : `${field} ${shownValue(before)} → ${shownValue(after)}`

const columns: Column<Step>[] = [
  { head: 'CHANGE', text: ({ change }) => change, whole: true, drop: 0 },
  { head: 'WHAT', text: ({ noun }) => noun, whole: true, drop: 0 },
  { head: 'NAME', text: ({ name }) => name, drop: 0 },
  { head: 'POSTS', text: ({ posts }) => String(posts ?? ''), right: true, drop: 0 },
  { head: 'PEOPLE', text: ({ people }) => String(people ?? ''), right: true, drop: 0 },
  { head: 'FIELDS', text: (step) => step.fields.map((each) => fieldText(step, each)).join('; '), drop: 1 },
]

const FILE = 'YAML as "workspace export" writes it, or JSON'

export function register(group: Command, cli: Cli): void {
  explain(group.command('export'), {
    examples: ['workspace export > site.yaml', 'workspace export --server https://feedback.example.org > site.yaml'],
    notes: [
      'Writes settings, boards, roadmaps in their order, tags, roles and blocked domains as YAML, for "workspace plan" and "workspace apply". It has no posts, people, images or secrets.',
    ],
  })
    .description('Write settings, boards, roadmaps, tags, roles and blocked domains as a file')
    .action(async (_: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags>()
      const format = flags.json ? 'json' : (flags.output ?? 'yaml')
      if (!['json', 'yaml'].includes(format) || flags.quiet || flags.fields !== undefined)
        throw new AppError('USAGE', 'A workspace is YAML, or JSON with --json. Leave other formats and --fields out.')
      const { FORMAT } = await import('./workspacefile.js')
      const { siteNow } = await import('./workspacesite.js')
      const { settings, lists, blockedDomains } = await siteNow(await cli.connect())
      const entries = Object.entries(lists).map(([name, rows]) => [name, rows.map(({ entry }) => entry)])
      const body = { format: FORMAT, settings, ...Object.fromEntries(entries), blockedDomains }
      await print(cli.terminal, { ...flags, output: format }, { body, rows: [], columns, id: () => '', single: false }) // prettier-ignore
    })
  explain(group.command('plan'), {
    examples: ['workspace plan site.yaml', 'workspace plan site.yaml --json'],
    notes: [
      'A part or a field that the file leaves out stays as it is. A board, a roadmap, a tag or a role that a list leaves out is deleted. Boards, roadmaps and tags are the same by url, roles by name.',
    ],
  })
    .description('Show what a file would change, with the posts and people that each change touches')
    .argument('<file>', FILE)
    .action(async (file: string, _: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const wanted = await read(cli.terminal, file)
      const steps = await tried(cli, wanted, file)
      await show(cli.terminal, flags, steps, { dry: true })
      tell(cli.terminal, steps.length === 0 ? `The site is as ${file} says.` : `Would make ${counted(steps.length, 'change')}. Nothing was changed.`) // prettier-ignore
    })
  explain(group.command('apply'), {
    local: true,
    examples: ['workspace apply site.yaml', 'workspace apply site.yaml --yes'],
    notes: [
      'Makes the changes that "workspace plan" shows, all or none. It refuses to delete what is private, and what posts or people have, unless --delete-used is given: the posts stay, without it. Applied twice, a file changes nothing.',
    ],
  })
    .description('Make the site as a file says, in one transaction')
    .argument('<file>', FILE)
    .option('--delete-used', 'also delete boards, roadmaps, tags and roles that posts or people have')
    .option('--dry-run', 'check the request and show the result, but change nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(async (file: string, _: unknown, command: Command) => apply(cli, file, command.optsWithGlobals<Flags>()))
}

async function apply(cli: Cli, file: string, flags: Flags): Promise<void> {
  const { terminal } = cli
  const { assertLocal } = await import('./lib/connection/session.js')
  assertLocal(await cli.config(), 'workspace apply')
  const { assertUnused, changedMeanwhile, planOf } = await import('./workspaceplan.js')
  const wanted = await read(terminal, file)
  const checked = (steps: readonly Step[]) => {
    if (!flags.deleteUsed) assertUnused(steps, '--delete-used')
  }
  const planned = await tried(cli, wanted, file)
  checked(planned)
  if (planned.length === 0 || flags.dryRun) {
    await show(terminal, flags, planned, { dry: flags.dryRun === true })
    return tell(terminal, planned.length === 0 ? `The site is as ${file} says. Nothing was changed.` : `Would make ${counted(planned.length, 'change')}. Nothing was changed.`) // prettier-ignore
  }
  if (!flags.yes) {
    if (canPrompt(terminal, flags)) await show(terminal, { ...flags, output: 'table' }, planned, { dry: true })
    await confirm(terminal, flags, `Make ${counted(planned.length, 'change')}?`)
  }
  const done = await cli.together({ looks: true }, async (call) => {
    const steps = await planOf(call, wanted)
    if (JSON.stringify(steps) !== JSON.stringify(planned)) throw changedMeanwhile()
    checked(steps)
    await makeAll(call, steps, wanted, file)
    return steps
  })
  await show(terminal, flags, done ?? [], { dry: false })
  tell(terminal, `Made ${counted(planned.length, 'change')}.`)
}

/** More changes are tried one by one: nobody else can write while they are tried together. */
const MOST_TOGETHER = 200

/**
 * The plan, after a trial of all changes together; of many changes, and of a server, after one of each change that can be
 * tried alone.
 */
async function tried(cli: Cli, wanted: Workspace, file: string) {
  const { planOf } = await import('./workspaceplan.js')
  const steps = await planOf(await cli.connect(), wanted)
  if (steps.length === 0) return steps
  const isTried =
    steps.length <= MOST_TOGETHER &&
    (await cli.together({ looks: true, takenBack: true }, async (call) => {
      await makeAll(call, steps, wanted, file)
      return true
    }))
  if (isTried) return steps
  const call = await cli.connect({ dryRun: true })
  for (const each of steps) if (each.isAlone) await run(call, each)
  return steps
}

async function makeAll(call: Call, steps: readonly Runs[], wanted: Workspace, file: string): Promise<void> {
  const { planOf } = await import('./workspaceplan.js')
  for (const each of steps) await run(call, each)
  assertMade(await planOf(call, wanted), file)
}

type Runs = Awaited<ReturnType<(typeof import('./workspaceplan.js'))['planOf']>>[number]

/** Makes a change. An error says which one. */
async function run(call: Call, { run: make, noun, name }: Runs): Promise<void> {
  try {
    await make(call)
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    const { code, status, message, why } = error
    throw new AppError(`${code} ${status}`, `${name === '' ? noun : `${noun} "${name}"`}: ${message} Nothing was changed.`, { cause: error, why }) // prettier-ignore
  }
}

/** Takes everything back where the site has stored something otherwise, or the file would change it again each time. */
function assertMade(left: readonly Step[], file: string): void {
  if (left.length === 0) return
  const what = left.map((each) =>
    [each.noun, each.name, ...each.fields.map((field) => fieldText(each, field))].join(' '),
  )
  throw new AppError('USAGE', `The site writes something otherwise than ${file} does: ${what.join('; ')}. Nothing was changed.`) // prettier-ignore
}

const show = (terminal: Terminal, flags: OutputFlags, steps: readonly Step[], { dry }: { dry: boolean }) => {
  const rows = steps.map(({ change, noun, name, fields, posts, people }) => ({ change, noun, name, fields, posts, people })) // prettier-ignore
  return print(terminal, flags, { body: { changes: rows, dry_run: dry }, rows, columns, id: ({ name, noun }) => name || noun, single: false }) // prettier-ignore
}

/** Bytes of a file. A site has at most 1000 tags, and a few boards. */
const MOST = 2 ** 20

async function read(terminal: Terminal, given: string): Promise<Workspace> {
  const file = path.resolve(terminal.cwd, given)
  let text: string
  try {
    const bytes = beginOf(file, MOST + 1)
    if (bytes.length > MOST) throw new AppError('USAGE', `${given} is longer than 1 MB.`)
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof AppError) throw error
    if (error instanceof TypeError) throw new AppError('USAGE', `${given} is not valid UTF-8.`)
    throw new AppError('USAGE', `Cannot read ${given}: ${whyNotRead(error)}.`)
  }
  const { workspaceIn } = await import('./workspacefile.js')
  return workspaceIn(text, given)
}

/** The first bytes of a file, or of a pipe, whose size nobody knows. */
function beginOf(file: string, most: number): Buffer {
  const fd = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(most)
    let size = 0
    for (;;) {
      const count = readSync(fd, buffer, size, most - size, null)
      size += count
      if (count === 0 || size === most) return buffer.subarray(0, size)
    }
  } finally {
    closeSync(fd)
  }
}
