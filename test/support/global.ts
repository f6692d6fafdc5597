import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { connect } from '../../src/db/connect.js'
import { migrate } from '../../src/db/migrate.js'
import { resetOf, SCHEMA } from './schema.js'
import { startPostgres, withDatabase } from './postgres.js'

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: string // URL of a server on which databases can be created
    postgresTemplate: string // name of a migrated database
    postgresSchema: string // what SCHEMA says of it
    postgresReset: string // statements that make a database like it again
    sqliteTemplate: string // path of a migrated database
    hostProgram: string // path of host.ts, built
    notesProgram: string // path of notesprogram.ts, built
  }
}

const ROOT = path.resolve(import.meta.dirname, '../..')
/** Where the programs of the tests are built. */
const PROGRAMS = path.join(ROOT, '.cache/programs')
const SHARED_MEMORY = '/dev/shm'
const MIN_FREE_BYTES = 2 ** 31

/**
 * Creates what all tests share: a temporary folder, a PostgreSQL server, a migrated template database per engine, and
 * the programs of the tests.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(path.join(isUsable(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir(), 'feedbackctl-run-'))
  chmodSync(folder, 0o755) // as root, PostgreSQL runs as another user
  process.env.TMPDIR = folder // the processes that run the tests inherit it
  process.once('exit', () => rmSync(folder, { recursive: true, force: true })) // even if the setup fails

  const sqliteTemplate = path.join(folder, 'template.db')
  const [{ url, stop }] = await Promise.all([
    startPostgres(),
    buildPrograms(),
    makeTemplate(`sqlite:${sqliteTemplate}`),
  ])
  project.onTestsRerun(buildPrograms) // in watch mode, after a file changed

  const postgresTemplate = `feedbackctl_template_${process.pid}`
  const admin = new pg.Client({ connectionString: url })
  await admin.connect()
  await admin.query(`create database ${postgresTemplate}`)
  await makeTemplate(withDatabase(url, postgresTemplate))
  const template = new pg.Client({ connectionString: withDatabase(url, postgresTemplate) })
  await template.connect()
  project.provide('postgresSchema', String((await template.query(SCHEMA)).rows[0].schema))
  project.provide('postgresReset', await resetOf(template))
  await template.end() // a database is no template while somebody is connected

  project.provide('hostProgram', path.join(PROGRAMS, 'dist/support/host.js'))
  project.provide('notesProgram', path.join(PROGRAMS, 'dist/support/notesprogram.js'))
  project.provide('postgres', url)
  project.provide('postgresTemplate', postgresTemplate)
  project.provide('sqliteTemplate', sqliteTemplate)
  return async () => {
    await admin.query(`drop database ${postgresTemplate}`)
    await admin.end()
    await stop()
  }
}

/** Builds the sources with what the tests add to them, as the product is built, unless they are as in the last run. */
async function buildPrograms(): Promise<void> {
  mkdirSync(PROGRAMS, { recursive: true })
  for (const shared of ['node_modules', 'package.json']) {
    rmSync(path.join(PROGRAMS, shared), { force: true })
    symlinkSync(path.join(ROOT, shared), path.join(PROGRAMS, shared))
  }
  const entries = ['host', 'notesprogram'].flatMap((name) => ['--entry', `test/support/${name}.ts`])
  const outdir = path.join(PROGRAMS, 'dist')
  await promisify(execFile)(process.execPath, ['esbuild.config.js', '--if-changed', ...entries, '--outbase', 'test', '--outdir', outdir], { cwd: ROOT }) // prettier-ignore
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
