import type { Command } from 'commander'
import type { LeftOut } from './exportbody.js'
import type { LongBody } from '../service/lib/download.js'
import { AppError } from '../core/errors.js'
import { counted } from '../core/text.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { isMachineReadable, print, type OutputFlags } from './lib/output/output.js'
import type { Column } from './lib/output/table.js'
import { limitHeapGrowth } from '../process/heap.js'
import { tell } from './lib/terminal/terminal.js'

/** Milliseconds that a statement of an export of pages may take. */
const STATEMENT_MS = 60_000

interface Flags extends OutputFlags {
  out?: string
  csv?: string
  static?: string
  withPasswords?: boolean
  board?: string[]
}

export function register(command: Command, cli: Cli): void {
  explain(command, {
    examples: [
      'export --out site.jsonl',
      'export | jq -c \'select(.type == "post")\'',
      'export --with-passwords --out site.jsonl',
      'export --board ideas --board bugs --out boards.jsonl',
      'export --csv sheets',
      'export --static public',
      'export --static public --server https://feedback.example.org',
    ],
    notes: [
      'Writes lines of JSON: a header, a line for each row, and a last line with the number of the lines before it. All of it is of one moment, also while the site is served.',
      'With --board it writes these boards alone, with their posts, votes and comments, and the people, roadmaps, tags, roles and settings that belong to them. Events (but that of the setup), notifications, views and invitations are left out, and posts that are merged into a post of another board. The last line of the command and the header of the file say how much is left out. An empty site can import it.',
      'With --csv it writes tables for spreadsheets, which cannot be imported: a file for each kind of thing, such as posts.csv, with names in place of ids. The folder must be new or empty. It has its name only when all files are complete.',
      'With --static it writes the site as a visitor sees it, as pages that need no server: for a web space, or to be read from the disk. Their links lead to each other, wherever the folder is. Lists of the API and feeds are in it too. Forms, private boards and their posts are not.',
      'With --server, the owner of the site downloads the export. A folder arrives as an archive and is unpacked here. An export from a server never contains password hashes.',
      'It has no sessions, API keys, second factors, other ways to sign in, nor mail that waits; a backup has. Without --static, names, e-mail and IP addresses, notes and private posts are in it: keep it where nobody else can read it.',
    ],
  })
    .option('--out <file>', 'new file (default: stdout)')
    .option('--csv <folder>', 'write CSV for spreadsheets to this new folder')
    .option('--static <folder>', 'write pages that need no server to this new folder')
    .option(
      '--board <board>',
      'only this board, and what belongs to it; can be repeated',
      (text, before: string[] | undefined) => [...(before ?? []), text],
    )
    .option('--with-passwords', 'include the hashes of passwords, so that people need no new ones')
    .action(async () => {
      const flags = command.optsWithGlobals<Flags>()
      const { csv, static: pages, withPasswords = false, bom = false, board: boards } = flags
      const config = await cli.config()
      assertOne(flags)
      if (config.get('server') !== undefined) {
        if (withPasswords) assertLocal(config, 'export --with-passwords')
        return exportFromServer(cli, flags)
      }
      if (pages !== undefined) return exportPages(cli, flags, pages)
      if (csv !== undefined) {
        const { exportSheets } = await import('../backup/exportcsv.js')
        const { saveFolder } = await import('./lib/output/savefolder.js')
        const { files, rows } = await saveFolder(cli.terminal, csv, exportSheets(config, { bom }))
        tell(cli.terminal, `Wrote ${counted(rows, 'row')} in ${counted(files, 'file')} to ${csv}.`)
        return
      }
      const { exportLines } = await import('../backup/export.js')
      const pieces = exportLines(config, { passwords: withPasswords, boards })
      await writeLines(cli, flags, { type: 'application/jsonl', pieces })
    })
}

/** Writes lines to stdout or a file, and says what they are. */
async function writeLines({ terminal }: Cli, { out, board: boards }: Flags, body: LongBody): Promise<void> {
  const [{ print: pass, save }, { headed }] = await Promise.all([
    import('./lib/output/save.js'),
    import('./exportbody.js'),
  ])
  const { body: lines, header } = headed(body)
  const isFile = out !== undefined && out !== '-'
  await (isFile ? save(terminal, out, lines) : pass(terminal, lines))
  const { boards: written, leftOut } = header()
  if (isFile) tell(terminal, boards ? `Wrote ${counted(written?.length ?? 0, 'board')} to ${out}.` : `Wrote the site to ${out}.`) // prettier-ignore
  if (boards && leftOut) tell(terminal, leftOutSentence(leftOut))
}

function leftOutSentence({ boards, posts, mergedPosts, people }: LeftOut): string {
  const merged = mergedPosts === 0 ? '' : ` (${mergedPosts} of them merged into a post of another board)`
  return `Left out ${counted(boards, 'board')}, ${counted(posts, 'post')}${merged} and ${counted(people, 'user')}, and events, notifications, views and invitations.`
}

/** Throws USAGE for flags that say two things at once. */
function assertOne({ csv, static: pages, out, board, withPasswords = false }: Flags): void {
  const [chosen, other] = [
    ...(csv === undefined ? [] : ['--csv']),
    ...(pages === undefined ? [] : ['--static']),
    ...(out === undefined ? [] : ['--out']),
    ...(board === undefined ? [] : ['--board']),
    ...(withPasswords ? ['--with-passwords'] : []),
  ]
  if (chosen === undefined || other === undefined || chosen === '--out' || chosen === '--board') return
  throw new AppError('USAGE', `${chosen} and ${other} contradict each other. Give only one.`)
}

/** What "export --static" has written. */
export interface Copied {
  folder: string
  copiedAt: string
  files: number
  pages: number
  feeds: number
  /** Answers of the API. */
  data: number
  /** Posts that are left out, as their boards are private. */
  privatePosts: number
}

const columns: Column<Copied>[] = [
  { head: 'FOLDER', text: ({ folder }) => folder, whole: true, drop: 0 },
  { head: 'FILES', text: ({ files }) => String(files), drop: 0 },
  { head: 'PAGES', text: ({ pages }) => String(pages), drop: 0 },
  { head: 'FEEDS', text: ({ feeds }) => String(feeds), drop: 0 },
  { head: 'DATA', text: ({ data }) => String(data), drop: 0 },
  { head: 'PRIVATE POSTS', field: 'privatePosts', text: (row) => String(row.privatePosts), drop: 0 },
]

async function exportPages(cli: Cli, flags: Flags, folder: string): Promise<void> {
  const { terminal } = cli
  const app = await cli.open({ glance: STATEMENT_MS })
  const [{ copiedSite }, { privatePosts }, { saveFolder }, { localCall }] = await Promise.all([
    import('../static/site.js'),
    import('../static/private.js'),
    import('./lib/output/savefolder.js'),
    import('../app/call.js'),
  ])
  const copiedAt = terminal.now()
  const counts = { page: 0, feed: 0, data: 0, asset: 0 }
  async function* pieces() {
    for await (const { file, data, kind } of copiedSite(app, copiedAt)) {
      counts[kind]++
      yield { file, text: data, rows: kind === 'page' ? 1 : 0 }
    }
  }
  const undoHeapLimit = limitHeapGrowth() // thousands of pages would else be garbage first
  const { files } = await saveFolder(terminal, folder, pieces(), { isPublic: true, noun: 'page' }).finally(
    undoHeapLimit,
  )
  const hidden = await privatePosts(localCall(app))
  await reportPages(cli, flags, { folder, copiedAt: copiedAt.toISOString(), files, pages: counts.page, feeds: counts.feed, data: counts.data, privatePosts: hidden }) // prettier-ignore
  const { siteUrl } = app.base
  if (isHere(siteUrl)) tell(terminal, `Warning: the setting site.url is not a public address: canonical addresses and the sitemap name ${siteUrl}.`) // prettier-ignore
}

async function reportPages({ terminal }: Cli, flags: Flags, copied: Copied): Promise<void> {
  const { folder, files, pages, privatePosts: hidden } = copied
  if (isMachineReadable(flags)) await print(terminal, flags, { body: copied, rows: [copied], columns, id: (row) => row.folder, single: true }) // prettier-ignore
  tell(terminal, `Wrote ${counted(pages, 'page')} in ${counted(files, 'file')} to ${folder}.`)
  if (hidden > 0) tell(terminal, `Left out ${counted(hidden, 'post')} of private boards.`)
}

/** Takes the site out of a server. */
async function exportFromServer(cli: Cli, flags: Flags): Promise<void> {
  const { terminal } = cli
  const { csv, static: pages, board, bom = false } = flags
  const call = await cli.connect()
  const { site } = await import('../service/exports.js')
  const folder = csv ?? pages
  if (folder === undefined) {
    const { wholeLines } = await import('./exportbody.js')
    return writeLines(cli, flags, wholeLines(await call(site, { format: 'lines', ...(board && { board }) })))
  }
  const { saveArchive } = await import('./exportarchive.js')
  const body = () => call(site, { format: csv === undefined ? 'pages' : 'csv', bom })
  const isPublic = csv === undefined
  const { files, kinds } = await saveArchive(terminal, folder, body, isPublic)
  if (!isPublic) return tell(terminal, `Wrote ${counted(files, 'file')} to ${folder}.`)
  const { privatePosts } = await import('../static/private.js')
  await reportPages(cli, flags, { folder, copiedAt: terminal.now().toISOString(), files, ...kinds, privatePosts: await privatePosts(call) }) // prettier-ignore
}

/** Whether only this machine knows an address. */
const isHere = (url: string): boolean =>
  !URL.canParse(url) || /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)
