import { createRequire } from 'node:module'
import path from 'node:path'
import type BetterSqlite from 'better-sqlite3'
import { AppError } from '../../core/errors.js'

/**
 * better-sqlite3 13 brings its addon, for Node-API 10, which Node has since 22.14. An older Node takes 12, which is
 * compiled or downloaded.
 */
const USES_CURRENT = Number(process.versions.napi) >= 10
const NAME = USES_CURRENT ? 'better-sqlite3' : 'better-sqlite3-node20'

const installed = createRequire(import.meta.filename)
const require = installed // The build drops this line: esbuild bundles what a plain `require` names.

/** The version of SQLite itself. Throws UNSUPPORTED_NODE where no addon loads. */
export function nativeVersion(): string {
  const database = openSqlite(':memory:')
  try {
    return String(database.prepare('select sqlite_version()').pluck().get())
  } finally {
    database.close()
  }
}

interface About {
  version: string
}

let binding: ReturnType<typeof load> | undefined

export const loadBinding = (): ReturnType<typeof load> => (binding ??= load())

/** For another thread: the file of the addon, which it can load even where the file is gone, as the process has it open. */
export function addonForThread(): { addon: string; usesCurrent: boolean } {
  loadBinding()
  const folder = `${path.sep}${NAME}${path.sep}`
  const addon = Object.keys(installed.cache).find((file) => file.includes(folder) && file.endsWith('.node'))
  if (addon === undefined) throw new Error('The addon of better-sqlite3 has no file.')
  return { addon, usesCurrent: USES_CURRENT }
}

export function openSqlite(file: string): BetterSqlite.Database {
  const { Database, nativeBinding } = loadBinding()
  return new Database(file, { nativeBinding })
}

/**
 * The bundle holds better-sqlite3's JavaScript, as finding and reading its files takes longer than a list does. It goes
 * only with the addon of the same version.
 */
function load() {
  try {
    const about = installed.resolve(`${NAME}/package.json`)
    const { version } = installed(about) as About
    const bundled = bundledPackage()
    const Database = bundled?.version === version ? bundled.Database : (installed(NAME) as typeof BetterSqlite)
    return { Database, nativeBinding: loadAddon(path.dirname(about)) }
  } catch (cause) {
    const here = `Node ${process.versions.node} on ${process.platform} ${process.arch}`
    throw new AppError('UNSUPPORTED_NODE', `SQLite is not available: ${reasonOf(cause, here)} ${REMEDY}`, { cause })
  }
}

/** npm leaves an optional package out where its build fails, and says nothing. */
const REMEDY = USES_CURRENT
  ? 'Install feedbackctl again ("npm ci") with this Node, or use PostgreSQL.'
  : 'For this Node it is compiled, with Python 3, make and a C++ compiler. Install again with --foreground-scripts, and npm prints what fails. Node 22.14 or newer needs no compiler.'

function reasonOf(cause: unknown, here: string): string {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'MODULE_NOT_FOUND') return `no better-sqlite3 is installed for ${here}.`
  return `better-sqlite3 does not load with ${here}: ${message.split('\n')[0]}.`
}

/** The build bundles what is installed then: there may be none for this Node. */
function bundledPackage(): (About & { Database: typeof BetterSqlite }) | undefined {
  try {
    if (USES_CURRENT)
      return {
        Database: require('better-sqlite3') as typeof BetterSqlite,
        version: (require('better-sqlite3/package.json') as About).version,
      }
    return {
      Database: require('better-sqlite3-node20') as typeof BetterSqlite,
      version: (require('better-sqlite3-node20/package.json') as About).version,
    }
  } catch {
    return undefined
  }
}

/** better-sqlite3 takes the loaded addon too, unlike its types. */
function loadAddon(folder: string): string {
  if (!USES_CURRENT) return installed(path.join(folder, 'build/Release/better_sqlite3.node')) as string
  return (installed(path.join(folder, 'lib/binding.js')) as { getBinding(): string }).getBinding()
}
