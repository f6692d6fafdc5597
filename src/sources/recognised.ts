import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { AppError } from '../core/errors.js'
import { RECORD_TYPES } from '../service/lib/importrecords.js'
import { csvHeader, plain } from './csv.js'
import { Archive } from './lib/archive.js'
import { jsonValues } from './lib/jsonfiles.js'
import { isObject } from './lib/values.js'
import type { SourceName } from './index.js'
import { isAddress } from './source.js'

/** What a file is: the word that imports it, and what it is called in a sentence. */
export interface Recognised {
  word: SourceName | 'feedbackctl'
  what: string
}

const NAMES: { [Word in Recognised['word']]: string } = {
  astuto: 'a database of Astuto',
  canny: 'answers of the API of Canny',
  clearflask: 'an archive of ClearFlask',
  csv: 'CSV with a row for each post',
  feedbackctl: 'an export of feedbackctl',
  fider: 'an export of Fider',
  github: 'issues or discussions of GitHub',
  logchimp: 'a database of LogChimp',
  quackback: 'an archive of Quackback',
  records: 'records of an import',
  uservoice: 'suggestions of UserVoice',
}
const known = (word: Recognised['word']): Recognised => ({ word, what: NAMES[word] })

/** Bytes at the beginning that are looked at. */
const HEAD = 65_536

/**
 * Finds out what a file, a folder or a database has, by its content and not by its name. `shown` is its name in messages.
 * Throws USAGE for what none of the sources can be, and says what else to do with it where that is known.
 */
export async function recognised(
  from: string,
  shown: string,
  { readsDatabases = true }: { readsDatabases?: boolean } = {},
): Promise<Recognised> {
  if (isAddress(from)) return ofDatabase(from, shown)
  if ((await stat(from)).isDirectory()) return ofJson(from, shown)
  const head = await headOf(from)
  const text = head.toString('utf8').replace(/^\uFEFF/, '').trimStart() // prettier-ignore
  if (text === '') throw unknown(shown, 'it is empty')
  if (head.toString('latin1', 0, 2) === 'PK') return ofArchive(from, shown)
  for (const [begin, why] of OTHERS) if (head.toString('latin1').startsWith(begin)) throw new AppError('USAGE', `${shown} is ${why}`) // prettier-ignore
  if (isAddress(text) && readsDatabases) return ofDatabase(from, shown)
  if (/^[[{]/.test(text)) return ofLine(text) ?? ofJson(from, shown)
  if (head.includes(0)) throw unknown(shown, 'it is neither text nor a ZIP archive')
  return ofCsv(from, shown)
}

/** Files that are known and that no source reads, by their first bytes. */
const OTHERS = [
  ['{"format":"feedbackctl-backup', 'a backup of feedbackctl. Use "feedbackctl restore".'],
  [
    'SQLite format 3\0',
    'a database of SQLite. If it is one of feedbackctl, use "feedbackctl export --database-url sqlite:PATH" and import what that writes.',
  ],
  ['PGDMP', 'a dump of PostgreSQL. Load it into a database, and import from its address, postgres://USER@HOST/NAME.'],
  ['\u001f\u008b', 'compressed. Unpack it first.'],
] as const

const unknown = (shown: string, why: string): AppError =>
  new AppError('USAGE', `Cannot tell what ${shown} is from: ${why}. Name the source, as in "import csv FILE".`) // prettier-ignore

async function headOf(file: string): Promise<Buffer> {
  const handle = await open(file)
  try {
    if (!(await handle.stat()).isFile()) throw unknown(file, 'it is no file, and can be read once only')
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD), 0, HEAD, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** Lines of JSON that say themselves what they are. */
function ofLine(text: string): Recognised | undefined {
  try {
    const line: unknown = JSON.parse(text.split('\n', 1)[0] ?? '')
    if (!isObject(line)) return undefined
    if (line.type === 'header' && line.format === 'feedbackctl') return known('feedbackctl')
    if (line.type === 'header' && line.format === 'feedbackctl-refused') return known('records')
    return RECORD_TYPES.some((type) => type === line.type) ? known('records') : undefined
  } catch {
    return undefined // JSON of many lines
  }
}

function ofJson(from: string, shown: string): Recognised {
  for (const value of jsonValues(from)) {
    if (value.number !== undefined && value.votesCount !== undefined) return { word: 'fider', what: 'answers of the API of Fider' } // prettier-ignore
    if (value.approval_status !== undefined) return { word: 'astuto', what: 'answers of the API of Astuto' }
    if (textOf(value.issue_url) || (value.number !== undefined && value.title !== undefined)) return known('github')
    if (isObject(value.data) && isObject(value.data.repository)) return known('github')
    if (['boards', 'posts', 'votes', 'comments', 'users'].some((key) => Array.isArray(value[key])))
      return known('canny')
  }
  throw unknown(
    shown,
    'its JSON has no issues or discussions of GitHub, and no answers of the API of Canny, Fider or Astuto',
  )
}

const textOf = (value: unknown): boolean => typeof value === 'string'

async function ofArchive(file: string, shown: string): Promise<Recognised> {
  const archive = await Archive.open(file)
  try {
    if (archive.find('posts.json') !== undefined) return known('fider')
    const posts = archive.find('posts.csv')
    const header = posts === undefined ? [] : await csvHeader(await archive.bytes(posts))
    if (header.includes('ideaId')) return known('clearflask')
    if (header.includes('id') && header.includes('title')) return known('quackback')
    throw unknown(shown, 'the archive has neither posts.json of Fider nor posts.csv of Quackback or ClearFlask')
  } finally {
    archive.close()
  }
}

async function ofDatabase(from: string, shown: string): Promise<Recognised> {
  const { ForeignDatabase } = await import('./lib/foreigndatabase.js') // loads the client of PostgreSQL
  const database = await ForeignDatabase.open(from)
  try {
    if ((await database.columns('event_seals')).size > 0)
      throw new AppError('USAGE', `${shown} is one of feedbackctl. Use "feedbackctl export" there, and import the file, or "feedbackctl db copy".`) // prettier-ignore
    const posts = await database.columns('posts')
    if (posts.has('slugId')) return known('logchimp')
    if (posts.has('post_status_id')) return known('astuto')
    throw unknown(shown, 'the database has no table of posts of LogChimp or Astuto')
  } finally {
    await database.close()
  }
}

async function ofCsv(file: string, shown: string): Promise<Recognised> {
  const header = await csvHeader(createReadStream(file))
  const has = (...names: string[]) => names.every((name) => header.includes(name))
  if (has('ideaId', 'ideaTitle')) return known('uservoice')
  if (has('number', 'title', 'created_by', 'votes_count') && /\.csv$/i.test(file)) return known('fider')
  if (header.length > 1 || header.some((name) => ['title', 'subject'].includes(plain(name)))) return known('csv')
  throw unknown(
    shown,
    `it is no JSON and no ZIP archive, and as CSV it has only the column "${header.join('').slice(0, 40)}"`,
  )
}
