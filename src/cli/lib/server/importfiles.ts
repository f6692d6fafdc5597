import { createReadStream, existsSync, readdirSync, renameSync, rmSync, utimesSync } from 'node:fs'
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
  const removeAbandoned = () => removeLeftovers(copyLeftovers(dataDir ?? tmpdir(), new Date()))
  return {
    async *receive(bytes, options) {
      removeAbandoned()
      const id = randomWord(32)
      const folder = folderNear(dataDir, `${IMPORT}${id}-`)
      try {
        const file = path.join(folder, 'file')
        for await (const rows of received(bytes, file)) yield { received: rows }
        renameSync(file, `${file}.${await endingOf(file)}`) // sources look at the name of CSV
      } catch (error) {
        remove(id)
        throw error
      }
      if (!options?.untilRemoved) setTimeout(() => remove(id), KEPT_MS).unref()
      yield { id }
    },
    async open(id, { product, map }) {
      const folder = folderOf(id)
      const [name] = folder === undefined ? [] : readdirSync(folder)
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
    ids: async () => folders().map((each) => FOLDER.exec(path.basename(each))?.[1] ?? ''),
    removeAbandoned: async () => removeAbandoned(),
    async keep(id) {
      const folder = folderOf(id)
      if (folder !== undefined) utimesSync(folder, new Date(), new Date())
    },
  }
}

/** Matches the name of the folder of a received file, and captures the id of the file. */
const FOLDER = new RegExp(`^${IMPORT}([0-9a-z]{32})-`)

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
