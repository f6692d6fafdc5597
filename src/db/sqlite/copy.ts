import { renameSync, rmSync } from 'node:fs'
import { createFile } from '../../core/files.js'
import { openSqlite } from './binding.js'
import { explained } from './errors.js'

/** Writes the database as it is at this moment to a new file, whole or not at all. Others read and write meanwhile. */
export function copyDatabase(file: string, to: string): void {
  const temporary = `${to}.${process.pid}.part`
  try {
    rmSync(temporary, { force: true }) // left behind by a process with the same number
    createFile(temporary) // SQLite would make it readable for others
    const database = openSqlite(file)
    try {
      database.pragma('busy_timeout = 5000')
      database.prepare('vacuum into ?').run(temporary)
    } finally {
      database.close()
    }
    renameSync(temporary, to)
  } catch (error) {
    throw explained(error, to)
  } finally {
    rmSync(temporary, { force: true })
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
