import { closeSync, existsSync, writeSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { hasPassword } from '../core/addresses.js'
import { AppError, type ErrorBody } from '../core/errors.js'
import { openNewFile } from '../core/files.js'
import { counted, printable } from '../core/text.js'
import { create } from '../service/imports.js'
import type { Call } from '../service/lib/operation.js'
import { answerLines, errorOf } from '../service/lib/uploadresults.js'
import { objectIn, withoutHash } from '../service/lib/uploadrows.js'
import { limitHeapGrowth } from '../process/heap.js'
import { sourceIn } from '../sources/records.js'
import { SOURCES, type SourceName } from '../sources/index.js'
import { isAddress, type Preview, type SourceRecord } from '../sources/source.js'
import { registerRuns } from './importruns.js'
import { importExport, OWN } from './importsite.js'
import { FIELDS, report, type Balance } from './importreport.js'
import { showPreview, sourceOf, WORDS } from './importsource.js'
import type { Flags } from './lib/command/several.js'
import type { Cli } from './lib/connection/session.js'
import { setCompleted } from './lib/flags/completed.js'
import { explain } from './lib/flags/helptext.js'
import { formatOf, isStructured } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import { confirm } from './lib/prompts/prompts.js'
import { interruptible } from './lib/terminal/interruptible.js'
import { counter } from './lib/terminal/progress.js'
import { canPrompt, tell } from './lib/terminal/terminal.js'

interface Flagged extends Flags {
  board?: string
  source?: string
  map?: Map<string, string>
  confirmed?: boolean
  rejects?: string
}

export function register(command: Command, cli: Cli): void {
  explain(withFields(command, FIELDS), {
    examples: [
      'import backup.zip --dry-run',
      'import csv ideas.csv --board ideas --dry-run',
      'import csv export.csv --map title=Subject --map votes="Vote total"',
      'import feedbackctl site.jsonl',
    ],
    notes: [
      'With a file alone, the command looks at what is in it and says what it takes it for. The sources are: ' +
        `${WORDS.join(', ')}.`,
      'What was imported before is not imported again, so a second import brings only what is new, and one that was interrupted goes on. Nobody is told of what is imported.',
      'People are matched by e-mail address. They sign in by a link that the site mails to them. People from LogChimp and Astuto can also use the password they had there. Votes without a known voter become a number on the post.',
      '"import feedbackctl" reads a file of "feedbackctl export", or stdin with -, into an empty site. It refuses a site that has content. On the machine of the site, stop the server first; with --server, a server that runs imports it for its owner, who is signed out by that.',
      'The last lines say what was found and what became of it. "matched" was here already by its name or address, "existing" came with an earlier import.',
    ],
  })
    .argument('<source-or-file>', 'where the data is from; or the file alone, if its content says it')
    .argument('[file]', 'its export')
    .option('--board <board>', 'board of posts that name none (default: no board)')
    .option('--map <column=header>', 'the header of a column of CSV; can be repeated', addTo)
    .option('--source <name>', 'name that keeps ids apart from those of other imports (default: that of the source)')
    .option('--confirmed', 'mail people about the posts that they follow: their addresses were confirmed there')
    .option('--rejects <file>', 'new file for the records that are refused, to mend and import with "import records"')
    .option('--dry-run', 'check the request and show the result, but change nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .action(async (first: string, second: string | undefined) => {
      const flags = command.optsWithGlobals<Flagged>()
      const { product, file } = await sourceOf(cli.terminal, first, second)
      if (product === OWN) {
        const given = (['board', 'map', 'source', 'confirmed', 'rejects'] as const).find(
          (flag) => flags[flag] !== undefined,
        )
        if (given !== undefined)
          throw new AppError('USAGE', `--${given} is not for an export of feedbackctl, which has the whole site.`)
        return importExport(cli, file, flags)
      }
      const shown = isAddress(file) ? product : file
      const { work, preview } = await prepared(cli, product, file, flags)
      if (flags.dryRun) {
        const first = await preview()
        if (first && !isStructured(formatOf(cli.terminal, flags))) await showPreview(cli.terminal, flags, shown, first)
        return report(cli, flags, await work(true), { isDry: true, preview: first })
      }
      if (!flags.yes) {
        if (!canPrompt(cli.terminal, flags)) await confirm(cli.terminal, flags, `Import from ${shown}?`)
        const first = await preview()
        if (first) await showPreview(cli.terminal, flags, shown, first)
        await report(cli, { ...flags, output: 'table' }, await work(true), { isDry: true })
        await confirm(cli.terminal, flags, `Import this from ${shown}?`)
      }
      return report(cli, flags, await work(false), { isDry: false })
    })
  setCompleted(command.registeredArguments[0], { words: WORDS })
  registerRuns(command, cli)
}

function addTo(text: string, before = new Map<string, string>()): Map<string, string> {
  const [, column, header] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (column === undefined || header === undefined)
    throw new AppError('USAGE', `--map takes column=header, such as title=Subject; ${JSON.stringify(text.slice(0, 100))} is neither.`) // prettier-ignore
  return before.set(column.trim().toLowerCase(), header.trim())
}

interface Prepared {
  work(this: void, isDry: boolean): Promise<Balance>
  preview(this: void): Promise<Preview | undefined>
}

async function prepared(
  { terminal, connect }: Cli,
  product: SourceName,
  file: string,
  flags: Flagged,
): Promise<Prepared> {
  const source = await SOURCES[product]()
  const isUrl = source.takesAddress === true && isAddress(file)
  const from = isUrl ? file : path.resolve(terminal.cwd, file)
  if (!isUrl && !existsSync(from)) throw new AppError('USAGE', `${file} does not exist.`)
  if (isUrl && hasPassword(file))
    tell(
      terminal,
      'Warning: other users of this machine can see the password in "ps". Name a file that has the address.',
    )
  const notes = new Set<string>()
  const note = (sentence: string) => {
    if (!notes.has(sentence)) tell(terminal, printable(sentence))
    notes.add(sentence)
  }
  const input = {
    source: flags.source ?? (product === 'records' ? await sourceIn(from) : undefined) ?? product,
    ...(flags.board !== undefined && { boardId: flags.board }),
    ...(flags.confirmed && { confirmed: true }),
  }
  const map = flags.map ?? new Map<string, string>()
  return {
    preview: async () => source.preview?.({ from, map }),
    async work(isDry) {
      const call = await connect({ dryRun: isDry })
      return imported(terminal, call, input, source.read({ from, map, note }), isDry ? undefined : flags.rejects)
    },
  }
}

interface AnswerLine extends Partial<Balance> {
  result: 'failed' | 'taken' | 'complete' | 'incomplete'
  line?: number
  type?: string
  until?: number
  error?: ErrorBody
}

/** Failures that are said; the others are counted. */
const MOST_SAID = 20

async function imported(
  terminal: Cli['terminal'],
  call: Call,
  input: object,
  records: AsyncIterable<SourceRecord | string>,
  rejects: string | undefined,
): Promise<Balance> {
  const open = new Map<number, string>() // records whose answer is still to come, by their line
  const fd = rejects === undefined ? undefined : newFile(path.resolve(terminal.cwd, rejects), rejects)
  const interruption = interruptible('Interrupted. Run the import again: it goes on where it was.')
  const progress = counter(terminal, true)
  const undoHeapLimit = limitHeapGrowth() // thousands of records would else be garbage first
  let said = 0
  async function* bytes(): AsyncGenerator<Uint8Array> {
    let [line, text] = [0, '']
    for await (const record of records) {
      interruption.check()
      const row = typeof record === 'string' ? record : JSON.stringify(record)
      open.set((line += 1), redactedLine(record, row))
      text += `${row}\n`
      if (text.length < CHUNK) continue
      yield Buffer.from(text)
      text = ''
    }
    if (text !== '') yield Buffer.from(text)
  }
  try {
    const { pieces } = await interruption.until(call(create, input, { type: 'application/x-ndjson', bytes: bytes() }))
    for await (const answer of answerLines<AnswerLine>(pieces)) {
      const { result, line = 0, type, until = 0, error } = answer
      if (result === 'incomplete') throw errorOf(error)
      if (result === 'complete')
        return { balance: [], boards: [], passwords: { kept: 0, leftOut: 0 }, isBalanced: true, ...answer }
      if (result === 'failed') {
        const row = open.get(line) ?? ''
        if ((said += 1) <= MOST_SAID)
          tell(terminal, printable(`${type ?? 'record'} ${nameIn(row)}: ${error?.message ?? ''} (${error?.code ?? ''})`), { start: '✗ ' }) // prettier-ignore
        if (fd !== undefined && type !== 'image') writeSync(fd, `${row}\n`) // nobody edits base64 by hand
      } else {
        for (const each of open.keys()) {
          if (each > until) break
          open.delete(each)
        }
        progress.report(counted(until, 'record'))
      }
    }
    throw new AppError(
      'SERVER_UNREACHABLE',
      'The server did not answer all: its answer has no end. Run the import again.',
    )
  } finally {
    progress.end()
    interruption.undo()
    undoHeapLimit()
    if (said > MOST_SAID) tell(terminal, `${counted(said - MOST_SAID, 'more record')} failed.`)
    if (fd !== undefined) closeSync(fd)
  }
}

/** The line for messages and the file of refused records, without a password hash or the bytes of an image. */
function redactedLine(record: SourceRecord | string, row: string): string {
  const values = typeof record === 'string' ? objectIn(record) : record
  if (!(values instanceof AppError) && values.type === 'image') return JSON.stringify({ ...values, data: undefined })
  return withoutHash(row)
}

/** Size of a chunk of the request body, in characters. */
const CHUNK = 64_000

function newFile(target: string, given: string): number {
  try {
    return openNewFile(target)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new AppError('USAGE', `${given} exists already. Name a new file.`)
    throw new AppError('USAGE', `Cannot write ${given}: ${(error as Error).message}`)
  }
}

/** How messages name a record or a broken line. */
function nameIn(row: string): string {
  const values = objectIn(row)
  if (values instanceof AppError) return JSON.stringify(row).slice(0, 80)
  const { title, name, email, sourceId = '', post = '', row: number } = values
  const called = JSON.stringify(title ?? name ?? email ?? (sourceId || post)).slice(0, 80)
  return typeof number === 'number' ? `in row ${number} ${called}` : called
}
