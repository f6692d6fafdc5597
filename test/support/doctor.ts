import path from 'node:path'
import { expect } from 'vitest'
import { connect } from '../../src/db/connect.js'
import type { Db } from '../../src/db/tables.js'
import { makeMachine, type Machine } from './cli.js'
import type { Engine } from './site.js'

interface Row {
  id: string
  title: string
  severity: string
  evidence: string
  fix: string | null
}

export const dataOf = ({ folder }: Machine): string => path.join(folder, 'data/feedbackctl')
export const secretOf = (machine: Machine): string => path.join(dataOf(machine), 'secret')

/** A site with a board, a post and a vote, and nothing wrong with it. */
export async function filled(engine: Engine): Promise<Machine> {
  const machine = await makeMachine(engine)
  if (engine === 'postgres') await machine.run('migrate')
  await machine.setup()
  for (const args of [
    'boards create Ideas',
    'roadmaps create Next',
    'posts create Dark --board ideas --body x',
    'posts update 1 --roadmap next',
  ]) {
    const { code, stderr } = await machine.run(args)
    if (code !== 0) throw new Error(stderr)
  }
  return machine
}

/** What `doctor` sees, which has to agree with its exit code. */
export async function doctor(machine: Machine, args = '', env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await machine.run(`doctor ${args} --json`, { env })
  const { checks, findings } = JSON.parse(stdout) as { checks: Row[]; findings: number }
  const found = checks.filter(({ severity }) => severity === 'error' || severity === 'warning')
  expect([code, found.length]).toEqual([found.length === 0 ? 0 : 9, findings])
  const ended = code === 0 ? stderr : (JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as { code: string }).code
  expect(ended).toBe(code === 0 ? 'No findings.\n' : 'DOCTOR_FINDINGS')
  return { checks, found }
}

/** Changes the database behind the program's back. */
export async function damaged({ databaseUrl }: Machine, work: (db: Db) => Promise<unknown>): Promise<void> {
  const db = await connect(databaseUrl)
  await work(db)
  await db.destroy()
}
