import { atomicFile } from '../../core/atomicfile.js'
import { openSqlite } from './binding.js'
import { explained } from './errors.js'

/** Writes the database as it is at this moment to a new file, whole or not at all. Others read and write meanwhile. */
export function copyDatabase(file: string, to: string): void {
  const fresh = atomicFile(to)
  try {
    fresh.write('') // SQLite would make it readable for others
    const database = openSqlite(file)
    try {
      database.pragma('busy_timeout = 5000')
      database.prepare('vacuum into ?').run(fresh.temporary)
    } finally {
      database.close()
    }
    fresh.replace() // SQLite does not sync what it writes here
  } catch (error) {
    throw explained(error, to)
  } finally {
    fresh.discard()
  }
}

/** Throws DATABASE_UNUSABLE where the file is damaged. */
export function checkDatabase(file: string): void {
  try {
    const database = openSqlite(file)
    try {
      const found = database.pragma('quick_check', { simple: true })
      if (found !== 'ok') throw Object.assign(new Error(String(found)), { code: 'SQLITE_CORRUPT' })
    } finally {
      database.close()
    }
  } catch (error) {
    throw explained(error, file)
  }
}
