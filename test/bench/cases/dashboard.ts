import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Case } from '../cases.js'
import { DASHBOARD, measured } from '../dashboard.js'
import { seed } from '../sites.js'

/** What the team's pages cost on a large site. It is seeded for each run, as these cases write to it. */
export const dashboard = (): Case[] => [
  {
    name: 'the dashboard of a large site, SQLite',
    long: true,
    async run() {
      const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-dashboard-'))
      try {
        const url = `sqlite:${path.join(folder, 'site.db')}`
        await seed(url, DASHBOARD)
        return await measured(url, { engine: 'SQLite' })
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  },
  {
    name: 'the dashboard of a large site, PostgreSQL',
    long: true,
    async run({ postgres: open }) {
      const postgres = await open()
      const { url, remove } = await postgres.copyOf()
      try {
        await seed(url, DASHBOARD)
        return await measured(url, { engine: 'PostgreSQL', pid: postgres.pid })
      } finally {
        await remove()
      }
    },
  },
]
