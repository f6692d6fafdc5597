import { AppError } from '../core/errors.js'
import { counted, printable } from '../core/text.js'
import type { Preview } from '../sources/source.js'
import { showBoards, type OfBoard } from './importboards.js'
import { exitOf, type Flags } from './lib/command/several.js'
import type { Cli } from './lib/connection/session.js'
import { formatOf, isStructured, print } from './lib/output/output.js'
import type { Column } from './lib/output/table.js'
import { tell } from './lib/terminal/terminal.js'
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

/** A refused record, as far as it says its row and title. */
interface Named {
  row?: number
  title?: string
}

/** The last line of the answer of an import. */
export interface Balance {
  balance: Counts[]
  boards: { boardId: string | null; board: string | null; posts: number; votes: number }[]
  /** The records by board. Older servers leave these three out. */
  byBoard?: OfBoard[]
  failures?: { type: string; code: string; count: number; first: string; rows?: Named[] }[]
  /** The first boards, statuses and tags that are created. */
  places?: { type: 'board' | 'status' | 'tag'; name: string }[]
  /** Records that were refused for causes that `failures` does not list, because it is full. Absent if there are none. */
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

/** The columns that can be chosen. */
export const FIELDS = ['type', 'found', 'created', 'matched', 'existing', 'failed']

/** Shows what became of the records. Throws IMPORT_DIFFERS where the site does not have what the import says. */
export async function report(
  { terminal }: Cli,
  flags: Flags,
  answer: Balance,
  { isDry, preview }: { isDry: boolean; preview?: Preview | undefined },
): Promise<void> {
  const { balance, byBoard, failures, otherFailures, places = [], boards, passwords, isBalanced } = answer
  const { similar, linkedImages, missingImages } = answer
  const body = {
    ...(preview && { preview }),
    balance,
    ...(byBoard && { byBoard, failures, places }),
    ...(otherFailures !== undefined && { otherFailures }),
    boards,
    passwords,
    ...(similar && { similar }),
    ...(linkedImages && { linkedImages }),
    ...(missingImages && { missingImages }),
    dry_run: isDry,
  }
  await print(terminal, flags, { body, rows: balance, columns, id: ({ type }) => type, single: false })
  if (!isStructured(formatOf(terminal, flags))) {
    await showBoards(terminal, flags, { byBoard: byBoard ?? [], boards })
    for (const line of [...linesOf(answer, isDry), ...similarLines(answer, isDry)]) tell(terminal, printable(line))
  }
  if (!isBalanced)
    throw new AppError(
      'IMPORT_DIFFERS',
      'The site does not have what the import says. Run it again, and compare the numbers.',
    )
  if (sumOf(answer, 'failed') > 0) process.exitCode = exitOf([2], sumOf(answer, 'created'))
}

const sumOf = ({ balance }: Balance, key: 'created' | 'failed'): number =>
  balance.reduce((sum, counts) => sum + counts[key], 0)

function* linesOf(answer: Balance, isDry: boolean): Generator<string> {
  const { failures = [], otherFailures, places = [], boards, passwords, linkedImages, missingImages } = answer
  for (const [type, nouns] of [
    ['board', 'boards'],
    ['status', 'statuses'],
    ['tag', 'tags'],
  ] as const) {
    const names = places.filter((place) => place.type === type).map(({ name }) => JSON.stringify(name))
    if (names.length > 0) yield `${isDry ? 'Would create' : 'Created'} ${nouns}: ${names.join(', ')}`
  }
  for (const { type, code, count, first, rows = [] } of failures)
    yield `Refused ${counted(count, type === 'other' ? 'line' : type)}: ${first} (${code})${rowsText(rows, count)}`
  if (otherFailures !== undefined) yield `Refused ${counted(otherFailures, 'more record')} for other causes.`
  const created = counted(sumOf(answer, 'created'), 'row')
  const posts = boards.reduce((sum, each) => sum + each.posts, 0)
  const votes = boards.reduce((sum, each) => sum + each.votes, 0)
  yield isDry
    ? `Would create ${created}. Nothing was changed.`
    : `Imported ${created}. The site has ${counted(posts, 'post')} with ${counted(votes, 'vote')} from this source.`
  if (linkedImages)
    yield `Images of other hosts that stay links: ${linkedImages.count}. None is fetched. --json lists them.`
  if (missingImages)
    yield `Missing images: ${missingImages.count}. An import that has them puts them in. --json lists them.`
  if (passwords.kept > 0) yield `${isDry ? 'Would keep' : 'Kept'} the passwords of ${counted(passwords.kept, 'user')}.`
  if (passwords.leftOut > 0)
    yield `${isDry ? 'Would skip' : 'Skipped'} ${counted(passwords.leftOut, 'password')}, because only bcrypt hashes with a cost of 4 to 14 can be imported. These people sign in by a link that the site mails to them.`
}

/** Such as `: row 3 "Dark mode", row 7 and 2 more`. */
function rowsText(rows: readonly Named[], count: number): string {
  if (rows.length === 0) return ''
  const named = rows.map(({ row, title }) => [row !== undefined && `row ${row}`, title !== undefined && JSON.stringify(title)].filter(Boolean).join(' ')) // prettier-ignore
  return `: ${named.join(', ')}${count > rows.length ? ` and ${count - rows.length} more` : ''}`
}

function* similarLines({ similar }: Balance, isDry: boolean): Generator<string> {
  if (!similar) return
  const { posts, count, looked } = similar
  for (const { title, number: earlier, earlier: its } of posts) yield `"${title}" looks like #${earlier} "${its}"`
  const command = commandLine(['posts', 'duplicates', '--plan', 'plan.txt'])
  yield `${count} of the first ${counted(looked, 'new post')} ${count === 1 ? 'looks' : 'look'} like a post that was here before. ${isDry ? 'After the import, c' : 'C'}ompare and merge them: ${command}`
}
