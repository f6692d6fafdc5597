import { open } from 'node:fs/promises'
import { rmSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.js'
import { AppError } from '../core/errors.js'
import { makePrivateFolder } from '../core/files.js'
import { listed } from '../core/text.js'
import { isPostgres, openDatabase, transaction } from '../db/connect.js'
import { holdWrites, replaceRows } from '../db/load.js'
import { contentOf, deriveCounts, keepOwnerAccount } from '../db/reimported.js'
import type { Db, TotpRow } from '../db/tables.js'
import { exportBatches } from './exportfile.js'
import { checkedExport, contradicting, isSame, newSummary, notEmpty, typesOf, type ImportedSite } from './importsite.js'
import { IMPORT } from './leftovers.js'
import { assertRoom, CHECKED, notWritten } from './spool.js'
import type { OnStep, Step } from './steps.js'

/** How far an import is, or what it has done. */
export type ImportProgress =
  { step: 'receive' | Step; table: string; rows: number; all: number | undefined } | { done: Done }

interface Done extends Omit<ImportedSite, 'kept'> {
  /** Who owns the site since the import; null where nothing was changed. */
  owner: { email: string; hasPassword: boolean } | null
}

interface Options {
  /** What the server has open. */
  db: Db
  dryRun: boolean
  /** Whether people can ask for a link by mail, as who has no password must. */
  sendsMail: boolean
  /** Throws where whoever imports may not any more. */
  mayGoOn(this: void): Promise<void>
  /** The secret of a second factor, encrypted for another id of its person. Undefined where it cannot be read. */
  encryptedFor(this: void, totp: TotpRow, userId: string): string | undefined
}

const SHOWN = 'the export'

/**
 * Imports an export into the empty site of a server that runs. It is received whole and checked before anything is
 * changed. One transaction then replaces the rows, so that the site is empty or complete wherever this ends; what ends
 * the connection before the commit takes all of it back.
 */
export async function* importOpen(
  config: Config,
  bytes: AsyncIterable<Uint8Array>,
  options: Options,
): AsyncGenerator<ImportProgress> {
  const folder = folderNear(config.get('data.dir'))
  try {
    const file = path.join(folder, 'site.jsonl')
    for await (const rows of received(bytes, file)) yield { step: 'receive', table: '', rows, all: undefined }
    yield* told((report) => imported(config, file, { ...options, onProgress: report }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** In the data folder, or where temporary files are if that one cannot be written to. */
export function folderNear(dataDir: string | undefined, prefix = IMPORT): string {
  try {
    return makePrivateFolder(prefix, dataDir === undefined ? [] : [dataDir])
  } catch {
    return makePrivateFolder(prefix)
  }
}

/** Writes what is sent to a new file, and says now and then how many bytes there are. */
export async function* received(bytes: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<number> {
  const folder = path.dirname(file)
  const handle = await open(file, 'wx', 0o600)
  try {
    let [written, checkAt] = [0, 0]
    for await (const chunk of bytes) {
      if (written >= checkAt) {
        await assertRoom(folder)
        checkAt = written + CHECKED
        yield written
      }
      await handle.appendFile(chunk).catch((error: unknown) => {
        throw notWritten(folder, error)
      })
      written += chunk.length
    }
  } finally {
    await handle.close()
  }
}

/** Milliseconds without a report after which the last one is given again, so that nobody takes the server for dead. */
const REPEATED = 5000

/** Yields what the work reports. Once nobody reads the reports, the work ends at its next one. */
async function* told(work: (report: OnStep) => Promise<Done>): AsyncGenerator<ImportProgress> {
  let last: ImportProgress = { step: 'check', table: '', rows: 0, all: undefined }
  const state = { isNew: false, isAbandoned: false, isOver: false }
  let wake = () => {}
  const working = work((step, table, rows, all) => {
    if (state.isAbandoned) throw new AppError('INTERRUPTED', 'The client has gone. Nothing was changed.')
    last = { step, table, rows, all }
    state.isNew = true
    wake()
  }).finally(() => {
    state.isOver = true
    wake()
  })
  working.catch(() => {}) // awaited below
  try {
    while (!state.isOver) {
      let timer: NodeJS.Timeout | undefined
      if (!state.isNew)
        await new Promise<void>((resolve) => {
          wake = resolve
          timer = setTimeout(resolve, REPEATED)
        })
      clearTimeout(timer)
      state.isNew = false
      if (!state.isOver) yield last
    }
    yield { done: await working }
  } finally {
    state.isAbandoned = true
    await working.catch(() => undefined)
  }
}

async function imported(
  config: Config,
  file: string,
  { db, dryRun, sendsMail, mayGoOn, encryptedFor, onProgress }: Options & { onProgress: OnStep },
): Promise<Done> {
  const { lines, ...checked } = await checkedExport(file, { shown: SHOWN, onProgress })
  const answer = { passwords: checked.passwords, types: typesOf(checked) }
  await mayGoOn()
  const there = async (some: Db) => listed(await contentOf(some))
  if (await isSame(config, file, SHOWN, checked)) return { same: true, owner: null, ...answer }
  assertEmpty(await there(db))
  if (dryRun) return { same: false, owner: null, ...answer }
  let rows = 0
  async function* counted(summary: ReturnType<typeof newSummary>) {
    for await (const batch of exportBatches(file, SHOWN, summary)) {
      onProgress('restore', batch.table.name, (rows += batch.rows.length), lines)
      yield batch
    }
  }
  const replaced = async (inside: Db) => {
    if (isPostgres(config.get('database.url') ?? '')) await holdWrites(inside)
    assertEmpty(await there(inside)) // again: nobody else can write now
    const summary = newSummary()
    rows = 0
    const owner = await keepOwnerAccount(inside, encryptedFor, () =>
      replaceRows(inside, {
        rows: counted(summary),
        sequences: () => summary.sequences,
        indexed: (table, done, all) => onProgress('index', table, done, all),
        derived: deriveCounts,
      }),
    )
    if (!owner?.hasPassword && !sendsMail)
      throw new AppError('USAGE', 'Nobody could sign in afterwards: the export has no passwords, its owner has another address than the one here, and the site sends no mail. Export with --with-passwords, or set mail.url. Nothing was changed.') // prettier-ignore
    return owner
  }
  const owner = await inOne(config, db, replaced).catch((error: unknown) => {
    throw contradicting(SHOWN, error)
  })
  return { same: false, owner, ...answer }
}

function assertEmpty(there: string): void {
  if (there !== '')
    throw new AppError('USAGE', `${notEmpty(there, SHOWN)} Import into an empty site. Nothing was changed.`)
}

/**
 * On PostgreSQL over a connection of its own, whose statements may take long. On SQLite in the turn of the server's own
 * writers: a second connection would keep them waiting, and with them the event loop.
 */
async function inOne<T>(config: Config, live: Db, work: (db: Db) => Promise<T>): Promise<T> {
  const url = config.get('database.url') ?? ''
  if (!isPostgres(url)) return transaction(live, work)
  const { db, close } = await openDatabase(url, { prepare: config.get('database.prepare') !== 'false' })
  try {
    return await transaction(db, work)
  } finally {
    await close()
  }
}
