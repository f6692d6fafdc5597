import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Case } from '../cases.js'
import { measured } from '../search.js'
import type { Written } from '../texts.js'

const WHOLE: Written = { users: 20_000, boards: 100, roadmaps: 6, votes: 0, posts: 1_000_000, comments: 3_000_000 }
const TENTH: Written = { ...WHOLE, posts: WHOLE.posts / 10, comments: WHOLE.comments / 10 }

/** Searches of a large site, the size of its index, and merges. It is seeded for each run, as these cases write to it. */
export const search = (): Case[] => [
  onSqlite('search, a tenth, SQLite', TENTH),
  onPostgres('search, a tenth, PostgreSQL', TENTH),
  onSqlite('search, whole, SQLite', WHOLE),
  onPostgres('search, whole, PostgreSQL', WHOLE),
]

const onSqlite = (name: string, size: Written): Case => ({
  name,
  long: true,
  async run() {
    const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-search-'))
    try {
      return await measured(`sqlite:${path.join(folder, 'site.db')}`, { engine: 'SQLite', size })
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
})

const onPostgres = (name: string, size: Written): Case => ({
  name,
  long: true,
  async run({ postgres: open }) {
    const postgres = await open()
    const { url, remove } = await postgres.copyOf()
    try {
      return await measured(url, { engine: 'PostgreSQL', size, pid: postgres.pid })
    } finally {
      await remove()
    }
  },
})
