import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { connect } from '../../src/db/connect.js'
import { migrate } from '../../src/db/schema.js'
import { startPostgres, withDatabase } from './postgres.js'

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: string // URL of a server on which databases can be created
    postgresTemplate: string // name of a migrated database
    sqliteTemplate: string // path of a migrated database
  }
}

const SHARED_MEMORY = '/dev/shm'
const MIN_FREE_BYTES = 2 ** 31

/**
 * Creates what all tests share: a temporary folder, a PostgreSQL server, and a migrated template database per engine.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(isUsable(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), 'feedbackctl-run-'))
  chmodSync(folder, 0o755) // as root, PostgreSQL runs as another user
  process.env.TMPDIR = folder // the processes that run the tests inherit it
  process.once('exit', () => rmSync(folder, { recursive: true, force: true })) // even if the setup fails

  const sqliteTemplate = path.join(folder, 'template.db')
  await makeTemplate(`sqlite:${sqliteTemplate}`)

  const { url, stop } = await startPostgres()
  const postgresTemplate = `feedbackctl_template_${process.pid}`
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`create database ${postgresTemplate}`)
  await makeTemplate(withDatabase(url, postgresTemplate))

  project.provide('postgres', url)
  project.provide('postgresTemplate', postgresTemplate)
  project.provide('sqliteTemplate', sqliteTemplate)
  return async () => {
    await admin.query(`drop database ${postgresTemplate}`)
    await admin.end()
    await stop()
  }
}

async function makeTemplate(url: string): Promise<void> {
  const db = await connect(url)
  await migrate(db)
  await db.destroy()
}

/** Whether the folder has enough space and can run scripts. Containers often mount it small or with noexec. */
function isUsable(folder: string): boolean {
  let probe: string | undefined
  try {
    const { bavail, bsize } = statfsSync(folder)
    if (Math.min(bavail * bsize, freemem()) < MIN_FREE_BYTES) return false
    probe = mkdtempSync(path.join(folder, 'feedbackctl-probe-'))
    const script = path.join(probe, 'script')
    writeFileSync(script, '#!/bin/sh\n', { mode: 0o700 })
    execFileSync(script)
    return true
  } catch {
    return false
  } finally {
    if (probe !== undefined) rmSync(probe, { recursive: true })
  }
}
