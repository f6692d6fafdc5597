import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { makeMachine, type Machine } from './cli.js'
import {
  ASTUTO,
  ASTUTO_API,
  CANNY,
  CLEARFLASK,
  filledTables,
  FIDER,
  FIDER_API,
  GITHUB,
  LOGCHIMP,
  QUACKBACK,
  USERVOICE,
} from './rivals.js'

const PROGRAM = path.resolve(import.meta.dirname, '../../bin/feedbackctl.js')

const IDEAS = [
  'ID,Subject,Details,Forum,State,Votes,Author',
  '1,Dark mode,My eyes hurt at night.,Ideas,planned,"1,128",Ann',
  '2,Export,"As CSV, please.",Ideas,open,7,Bob',
  '3,,Without a title,Bugs,open,1,Bob',
].join('\n')

interface Source {
  /** After `import`. */
  args: string
  files?: Readonly<Record<string, unknown>>
  /** Statements that fill a database, whose address is in the file `address`. */
  tables?: readonly string[]
}

const SOURCES: Readonly<Record<string, Source>> = {
  canny: { args: 'canny canny', files: CANNY },
  logchimp: { args: 'logchimp address', tables: LOGCHIMP },
  fider: { args: 'fider backup.zip', files: FIDER },
  'fider-csv': { args: 'fider posts.csv', files: FIDER },
  'fider-api': { args: 'fider fider', files: FIDER_API },
  github: { args: 'github gh', files: GITHUB },
  uservoice: { args: 'uservoice ideas.csv', files: USERVOICE },
  quackback: { args: 'quackback workspace.zip', files: { 'workspace.zip': QUACKBACK } },
  clearflask: { args: 'clearflask data.zip', files: { 'data.zip': CLEARFLASK } },
  astuto: { args: 'astuto address', tables: ASTUTO },
  'astuto-api': { args: 'astuto astuto', files: ASTUTO_API },
  csv: { args: 'csv ideas.csv', files: { 'ideas.csv': IDEAS } },
}

/** What the import of a source says on a terminal: before anything is written, and when it is done. */
export async function importOutput(name: string): Promise<string> {
  const { args, files = {}, tables } = SOURCES[name] ?? { args: '' }
  const machine = await makeMachine('sqlite')
  await machine.setup()
  for (const [file, content] of Object.entries(files)) {
    const target = path.join(machine.folder, file)
    mkdirSync(path.dirname(target), { recursive: true })
    writeFileSync(target, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content))
  }
  if (tables) await filledTables(machine, tables)
  const dry = await said(machine, `import ${args} --dry-run -o table 2>&1`)
  const real = await said(machine, `import ${args} --yes 2>&1 >/dev/null`)
  return `$ feedbackctl import ${args} --dry-run\n${dry}$ feedbackctl import ${args} --yes >/dev/null\n${real}`
}

/** Both streams together, in their order. Without lines of progress, which a slow machine gets. */
async function said({ folder, env }: Machine, command: string): Promise<string> {
  const shown = promisify(execFile)('sh', ['-c', `'${process.execPath}' '${PROGRAM}' ${command}`], { cwd: folder, env })
  // Where records are refused, the command fails
  const { stdout } = await shown.catch((error: unknown) => error as { stdout: string })
  return stdout.replaceAll(/^.* …\n/gm, '')
}
