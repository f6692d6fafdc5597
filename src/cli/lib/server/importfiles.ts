import { createHash } from 'node:crypto'
import {
  createReadStream,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { folderNear, received } from '../../../backup/importopen.js'
import { copyLeftovers, IMPORT, removeLeftovers } from '../../../backup/leftovers.js'
import { AppError } from '../../../core/errors.js'
import { randomWord } from '../../../core/ids.js'
import type { Context } from '../../../service/lib/context.js'
import type { SourceName } from '../../../sources/index.js'
import { openedInThread, recordsInThread } from '../../../sources/reading.js'

type Files = NonNullable<Context['imports']>['files']

/** Milliseconds for which a file is kept. */
const KEPT_MS = 3_600_000

const SHOWN = 'the file'

/** Prefix of an empty file beside a received file. While it is fresh, an import in some process reads the received file. */
const READER = 'reader-'

/** Milliseconds after which a reader touches its file, and after which an untouched file means that it was killed. */
const [SIGN_MS, SILENT_MS] = [60_000, 600_000]

/** The files in the data folder. All servers of a machine find them. */
export function importFiles(dataDir: string | undefined): Files {
  const folders = () =>
    [...new Set([dataDir ?? tmpdir(), tmpdir()])]
      .flatMap((near) => (existsSync(near) ? readdirSync(near).map((name) => path.join(near, name)) : []))
      .filter((each) => FOLDER.test(path.basename(each)))
  const folderOf = (id: string): string | undefined =>
    folders().find((each) => path.basename(each).startsWith(`${IMPORT}${id}-`))
  const remove = (id: string) => {
    const folder = folderOf(id)
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  }
  const removeUnread = (id: string) => {
    if (isRead(folderOf(id))) setTimeout(() => removeUnread(id), KEPT_MS).unref()
    else remove(id)
  }
  const removeAbandoned = () =>
    removeLeftovers(copyLeftovers(dataDir ?? tmpdir(), new Date()).filter(({ file }) => !isRead(file)))
  return {
    async *receive(bytes, options) {
      removeAbandoned()
      const id = randomWord(32)
      const whose = 'forPerson' in options ? personIn(options.forPerson) : undefined
      const folder = folderNear(dataDir, `${IMPORT}${id}-${whose === undefined ? '' : `${whose}-`}`)
      try {
        const file = path.join(folder, 'file')
        for await (const rows of received(bytes, file)) yield { received: rows }
        renameSync(file, `${file}.${await endingOf(file)}`) // sources look at the name of CSV
      } catch (error) {
        remove(id)
        throw error
      }
      if (whose !== undefined) {
        for (const other of folders())
          if (other !== folder && path.basename(other).includes(`-${whose}-`) && isWhole(other) && !isRead(other))
            rmSync(other, { recursive: true, force: true })
        setTimeout(() => removeUnread(id), KEPT_MS).unref()
      }
      yield { id }
    },
    async open(id, { product, map }) {
      const folder = folderOf(id)
      const name = folder === undefined ? undefined : readdirSync(folder).find((each) => !each.startsWith(READER))
      if (folder === undefined || name === undefined)
        throw new AppError('NOT_FOUND', 'The file is not here any more. Send it again.')
      const from = path.join(folder, name)
      const given = { from, shown: SHOWN, product: product as SourceName | undefined, map: [...map] }
      return {
        ...(await inWords(from, () => openedInThread(given))),
        bytes: () => createReadStream(from),
        async *records(note, signal) {
          const records = recordsInThread(given, note, signal)
          try {
            for (;;) {
              const { done, value } = await inWords(from, () => records.next())
              if (done) return
              yield value
            }
          } finally {
            await records.return(undefined)
          }
        },
      }
    },
    remove: async (id) => remove(id),
    ids: async () => folders().map(idIn),
    removeAbandoned: async () => removeAbandoned(),
    async hold(id) {
      const folder = folderOf(id)
      if (folder === undefined) return () => {}
      const file = path.join(folder, `${READER}${randomWord(16)}`)
      const sign = () => {
        try {
          writeFileSync(file, '', { mode: 0o600 })
          utimesSync(file, new Date(), new Date())
        } catch {
          // The folder is gone. The import reports that itself.
        }
      }
      sign()
      const timer = setInterval(sign, SIGN_MS).unref()
      return () => {
        clearInterval(timer)
        rmSync(file, { force: true })
      }
    },
    async keep(id) {
      const folder = folderOf(id)
      if (folder !== undefined) utimesSync(folder, new Date(), new Date())
    },
  }
}

/** Whether the folder has a file that is received. */
const isWhole = (folder: string): boolean => existsSync(folder) && readdirSync(folder).some((name) => name !== 'file')

/** Whether an import reads the file in the folder. */
const isRead = (folder: string | undefined): boolean =>
  folder !== undefined &&
  existsSync(folder) &&
  readdirSync(folder).some((name) => {
    if (!name.startsWith(READER)) return false
    const at = statSync(path.join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0
    return new Date().getTime() - at < SILENT_MS
  })

/** A person in the name of a folder. */
const personIn = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32)

/** Matches the name of the folder of a received file, and captures the id of the file. */
const FOLDER = new RegExp(`^${IMPORT}([0-9a-z]{32})-`)

const idIn = (folder: string): string => FOLDER.exec(path.basename(folder))?.[1] ?? ''

/** What a file seems to be by its first bytes. */
async function endingOf(file: string): Promise<'zip' | 'json' | 'csv'> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1000), 0, 1000, 0)
    const text = buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/, '').trimStart() // prettier-ignore
    return text.startsWith('PK') ? 'zip' : /^[[{]/.test(text) ? 'json' : 'csv'
  } finally {
    await handle.close()
  }
}

/** What is wrong with a file, without its path here. */
async function inWords<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'USAGE') throw error
    const message = error.message.replaceAll(file, SHOWN).replaceAll(path.basename(file), SHOWN).replace('--map ', '').replace(/ Name the source, as in .*$/, '').replace(/\.\.$/, '.') // prettier-ignore
    throw new AppError('BAD_REQUEST', `${message.charAt(0).toUpperCase()}${message.slice(1)}`, { cause: error })
  }
}
