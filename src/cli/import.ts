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
import { limitHeapGrowth } from '../process/heap.js'
import { sourceIn } from '../sources/records.js'
import { SOURCES, type SourceName } from '../sources/index.js'
import { isAddress, type Preview, type SourceRecord } from '../sources/source.js'
import { importExport, OWN } from './importsite.js'
import { showBoards, type OfBoard } from './importboards.js'
import { showPreview, sourceOf, WORDS } from './importsource.js'
import { exitOf, type Flags } from './lib/command/several.js'
import type { Cli } from './lib/connection/session.js'
import { setCompleted } from './lib/flags/completed.js'
import { explain } from './lib/flags/helptext.js'
import { formatOf, isStructured, print } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { confirm } from './lib/prompts/prompts.js'
import { interruptible } from './lib/terminal/interruptible.js'
import { counter } from './lib/terminal/progress.js'
import { canPrompt, tell } from './lib/terminal/terminal.js'
import { commandLine } from './lib/texts/commandline.js'

/** Counts for one type of record. */
interface Counts {
  type: string
  found: number
  created: number
  matched: number
  existing: number
  failed: number
}

interface Balance {
  balance: Counts[]
  boards: { boardId: string | null; board: string | null; posts: number; votes: number }[]
  /** The records by board. Older servers leave these three out. */
  byBoard?: OfBoard[]
  failures?: { type: string; code: string; count: number; first: string }[]
  /** Records that are refused for causes that `failures` has no room for. Absent if there are none. */
  otherFailures?: number
  /** How many hashes of passwords were imported, and how many were not. Older servers leave it out. */
  passwords: { kept: number; leftOut: number }
  isBalanced: boolean
  /** Images on other hosts: their number, and the first thousand. Absent if there are none. */
  linkedImages?: { count: number; images: { type: string; sourceId: string; url: string }[] }
  /** Images that did not come, but may come with a later import: their number, and the first thousand. Absent if there are none. */
  missingImages?: { count: number; images: { type: string; sourceId: string; name: string }[] }
  /** The first new posts, as far as they look like posts that were here before. Absent if none does. */
  similar?: { looked: number; count: number; posts: { title: string; number: number; earlier: string }[] }
}

interface Flagged extends Flags {
  board?: string
  source?: string
  map?: Map<string, string>
  confirmed?: boolean
  rejects?: string
}

const number = (head: keyof Counts): Column<Counts> => ({
  head: head.toUpperCase(),
  field: head,
  text: (counts) => String(counts[head]),
  right: true,
  drop: 0,
})
const columns: Column<Counts>[] = [
  { head: 'TYPE', field: 'type', text: ({ type }) => type, drop: 0, whole: true },
  number('found'),
  number('created'),
  number('matched'),
  number('existing'),
  number('failed'),
]

const FIELDS = ['type', 'found', 'created', 'matched', 'existing', 'failed']

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
  records: AsyncIterable<SourceRecord>,
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
      const row = JSON.stringify(record)
      open.set((line += 1), kept(record, row))
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

/** The record for messages and the file of refused records, without a password hash or the bytes of an image. */
function kept(record: SourceRecord, row: string): string {
  if (record.type === 'image') return JSON.stringify({ ...record, data: undefined })
  return 'passwordHash' in record ? JSON.stringify({ ...record, passwordHash: undefined }) : row
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

/** What a record is called in messages. */
function nameIn(row: string): string {
  const {
    title,
    name,
    email,
    sourceId = '',
    post = '',
  } = JSON.parse(row === '' ? '{}' : row) as Record<string, unknown>
  return JSON.stringify(title ?? name ?? email ?? (sourceId || post)).slice(0, 80)
}

async function report(
  { terminal }: Cli,
  flags: Flagged,
  {
    balance,
    byBoard,
    failures,
    otherFailures,
    boards,
    passwords,
    isBalanced,
    similar,
    linkedImages,
    missingImages,
  }: Balance,
  { isDry, preview }: { isDry: boolean; preview?: Preview | undefined },
): Promise<void> {
  const body = {
    ...(preview && { preview }),
    balance,
    ...(byBoard && { byBoard, failures }),
    ...(otherFailures !== undefined && { otherFailures }),
    boards,
    passwords,
    ...(similar && { similar }),
    ...(linkedImages && { linkedImages }),
    ...(missingImages && { missingImages }),
    dry_run: isDry,
  }
  await print(terminal, flags, { body, rows: balance, columns, id: ({ type }) => type, single: false })
  const of = (key: 'created' | 'failed') => balance.reduce((sum, counts) => sum + counts[key], 0)
  const votes = boards.reduce((sum, each) => sum + each.votes, 0)
  const posts = boards.reduce((sum, each) => sum + each.posts, 0)
  if (!isStructured(formatOf(terminal, flags))) {
    await showBoards(terminal, flags, { byBoard: byBoard ?? [], boards })
    for (const { type, code, count, first } of failures ?? [])
      tell(terminal, printable(`Refused ${counted(count, type === 'other' ? 'line' : type)}: ${first} (${code})`))
    if (otherFailures !== undefined)
      tell(terminal, `Refused ${counted(otherFailures, 'more record')} for other causes.`)
    if (isDry) tell(terminal, `Would create ${counted(of('created'), 'row')}. Nothing was changed.`)
    else
      tell(terminal, `Imported ${counted(of('created'), 'row')}. The site has ${counted(posts, 'post')} with ${counted(votes, 'vote')} from this source.`) // prettier-ignore
    if (linkedImages)
      tell(terminal, `Images of other hosts that stay links: ${linkedImages.count}. None is fetched. --json lists them.`) // prettier-ignore
    if (passwords.kept > 0)
      tell(terminal, `${isDry ? 'Would keep' : 'Kept'} the passwords of ${counted(passwords.kept, 'user')}.`)
    if (passwords.leftOut > 0)
      tell(terminal, `${isDry ? 'Would skip' : 'Skipped'} ${counted(passwords.leftOut, 'password')}, because only bcrypt hashes with a cost of 4 to 14 can be imported. These people sign in by a link that the site mails to them.`) // prettier-ignore
  }
  if (similar && !isStructured(formatOf(terminal, flags))) {
    for (const { title, number: earlier, earlier: its } of similar.posts)
      tell(terminal, printable(`"${title}" looks like #${earlier} "${its}"`))
    tell(terminal, `${similar.count} of the first ${counted(similar.looked, 'new post')} ${similar.count === 1 ? 'looks' : 'look'} like a post that was here before. ${isDry ? 'After the import, c' : 'C'}ompare and merge them: ${commandLine(['posts', 'duplicates', '--plan', 'plan.txt'])}`) // prettier-ignore
  }
  if (!isBalanced)
    throw new AppError(
      'IMPORT_DIFFERS',
      'The site does not have what the import says. Run it again, and compare the numbers.',
    )
  if (of('failed') > 0) process.exitCode = exitOf([2], of('created'))
}
