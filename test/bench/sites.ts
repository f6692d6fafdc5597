import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import path from 'node:path'
import { openSqlite } from '../../src/db/sqlite/binding.js'
import type { Plan, SiteName } from './plan.js'
import { ended, folder } from './processes.js'
import type { Size } from './rows.js'

/** A seeded database. */
export interface Site {
  name: SiteName
  size: Size
  file: string
  /** Rows of it, to make requests of. */
  rows<Row>(this: void, sql: string, ...parameters: unknown[]): Row[]
}

/**
 * Finds or seeds a site: it is kept for the next run, until its size, the seeder or the schema changes. Nothing may
 * write to it.
 */
export async function siteOf(plan: Plan, name: SiteName): Promise<Site> {
  const size = plan.sites[name]
  const kind = `${size.boards}-boards-${size.posts}-posts-`
  const file = path.join(CACHE, `${kind}${hashOf(size)}.db`)
  if (!existsSync(file)) await make(file, kind, size)
  return {
    name,
    size,
    file,
    rows<Row>(sql: string, ...parameters: unknown[]) {
      const database = openSqlite(file)
      try {
        return database.prepare(sql).all(...parameters) as Row[] // the caller wrote the columns
      } finally {
        database.close()
      }
    },
  }
}

export interface Copy {
  url: string
  file: string
  remove(this: void): void
}

let copies = 0

/** A copy that may be written to, until the run ends or it is removed. */
export function copyOf({ file }: Site): Copy {
  const copy = path.join(folder, `copy-${++copies}.db`)
  copyFileSync(file, copy, constants.COPYFILE_FICLONE)
  const written = openSync(copy, 'r+')
  fsyncSync(written) // or the disk is busy with it while commits are measured
  closeSync(written)
  const remove = () => {
    for (const end of ['', '-wal', '-shm']) rmSync(copy + end, { force: true })
  }
  return { url: `sqlite:${copy}`, file: copy, remove }
}

/** Fills a database of either engine; tells on stderr how far it is. */
export async function seed(url: string, size: Size): Promise<void> {
  const numbers = Object.entries(size).flatMap(([what, count]) => [`--${what}`, String(count)])
  const seeder = fork(path.join(import.meta.dirname, 'seed.ts'), ['--database-url', url, ...numbers], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  process.once('exit', () => seeder.kill())
  if ((await ended(seeder)) !== 0) throw new Error(`${url} could not be seeded.`)
}

const ROOT = path.resolve(import.meta.dirname, '../..')
const CACHE = path.join(ROOT, 'node_modules/.cache/feedbackctl-bench')

async function make(file: string, kind: string, size: Size): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  // Of another seeder or schema, or half made
  for (const name of readdirSync(CACHE)) if (name.startsWith(kind)) rmSync(path.join(CACHE, name))
  console.error(
    `Seeding ${size.boards} boards, ${size.posts} posts, ${size.votes} votes; they are kept in ${path.relative(ROOT, CACHE)}.`,
  )
  await seed(`sqlite:${file}.part`, size)
  renameSync(`${file}.part`, file) // only what is whole has its name
}

/** Tells whether a database was seeded with this size, this seeder and this schema. */
export function hashOf(size: Size): string {
  const migrations = path.join(ROOT, 'src/db/migrations')
  const files = [
    ...['counts.ts', 'rows.ts', 'seed.ts', 'target.ts'].map((name) => path.join(import.meta.dirname, name)),
    ...readdirSync(migrations).map((name) => path.join(migrations, name)),
  ]
  const hash = createHash('sha256').update(JSON.stringify(size))
  for (const name of files) hash.update(readFileSync(name))
  return hash.digest('hex').slice(0, 12)
}
