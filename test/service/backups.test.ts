import { describe, expect, it } from 'vitest'
import { backupTasks } from '../../src/jobs/backuptasks.js'
import { AppError } from '../../src/core/errors.js'
import type { BackupFile } from '../../src/service/lib/context.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const HOUR_S = 3600
const EVENT = { version: '1.2.3', schema: '0042_backup_tasks', encrypted: false, redacted: false, bytes: 1_234_567 }
const page = (site: TestSite, token: string) =>
  site.http('GET //dashboard/settings/backups', { headers: { accept: 'text/html', cookie: `feedbackctl=${token}` } })
const send = (site: TestSite, path: string, token: string, form: Record<string, string>) =>
  site.http(`POST /${path}`, {
    headers: { accept: 'text/html', cookie: `feedbackctl=${token}`, origin: SITE, 'content-type': 'application/x-www-form-urlencoded' }, // prettier-ignore
    body: new URLSearchParams(form).toString(),
  })

/** A site with two backups, and the job that does what its owner asks for. */
async function makeBackups(engine: Engine, every: number | null = 24 * HOUR_S) {
  const files: BackupFile[] = [
    { ...EVENT, file: 'new.backup', createdAt: '2026-03-01T12:00:00.000Z' },
    { ...EVENT, file: 'old.backup', createdAt: '2026-02-28T12:00:00.000Z' },
  ]
  const site = await makeSite(engine, { siteUrl: SITE, rates: {}, backups: { every, list: async () => files } })
  const owner = await site.owner()
  const ran: string[] = []
  const job = backupTasks({
    names: async () => files.map(({ file }) => file),
    run: async ({ kind, file }) => {
      ran.push(`${kind} ${file}`)
      if (file === 'old.backup') throw new AppError('BACKUP_FAILED', 'old.backup is damaged: its hash differs.')
      if (kind === 'create') files.unshift({ ...EVENT, file: 'made.backup', createdAt: site.clock.now.toISOString() })
      return file ?? 'made.backup'
    },
  })
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const parts = { db: site.db, now: () => site.clock.now, log }
  const work = async () => (await job.isDue?.(parts)) && job.run({ ...parts, signal: new AbortController().signal })
  const list = async () => (await site.http('GET /backups', { token: owner })).body
  return { site, owner, files, ran, work, list }
}

describe.each(engines)('backups over HTTP on %s', (engine) => {
  it('are listed with their age, and no file can be read', async () => {
    const { site, owner, list } = await makeBackups(engine)
    expect(await list()).toMatchObject({
      backups: [{ file: 'new.backup', bytes: 1_234_567, rehearsal: null }, { file: 'old.backup' }],
      every: 24 * HOUR_S,
      is_old: false,
      task: null,
      total_count: 2,
    })
    for (const request of ['GET /backups/new.backup', 'POST /backups/new.backup/restore', 'GET /backups/restore'])
      expect((await site.http(request, { token: owner })).status).toBe(404)
    for (const file of ['../secret', '/etc/passwd', 'other.backup', ''])
      expect((await site.http('POST /backups/rehearse', { token: owner, body: { file } })).body.code).toBe('BACKUP_NOT_FOUND') // prettier-ignore
  })

  it('are old after twice the schedule, or a week without one', async () => {
    const { site, owner, list } = await makeBackups(engine, 6 * HOUR_S)
    expect(await list()).toMatchObject({ is_old: true })
    expect((await page(site, owner)).text).toContain('The newest backup is too old.')
    const unscheduled = await makeBackups(engine, null)
    expect(await unscheduled.list()).toMatchObject({ is_old: false, every: null })
    unscheduled.files.shift()
    unscheduled.files[0] = { ...EVENT, file: 'old.backup', createdAt: '2026-02-20T12:00:00.000Z' }
    expect(await unscheduled.list()).toMatchObject({ is_old: true })
  })

  it('are made and rehearsed one at a time, in the background, for the owner alone', async () => {
    const { site, owner, ran, work, list } = await makeBackups(engine)
    const asked = await site.http('POST /backups', { token: owner })
    expect([asked.status, asked.body.task]).toMatchObject([202, { kind: 'create', state: 'waiting', file: null }])
    for (const request of ['POST /backups', 'POST /backups/rehearse'])
      expect(await site.http(request, { token: owner, body: {} })).toMatchObject({ status: 409, body: { code: 'BACKUP_RUNNING' } }) // prettier-ignore
    expect(ran).toEqual([])
    await work()
    expect(await list()).toMatchObject({ task: { state: 'done', file: 'made.backup', error: null }, total_count: 3 })
    expect((await site.http('GET /site/overview', { token: owner })).body.backups.madeAt).toBe(site.clock.now.toISOString()) // prettier-ignore
    expect((await site.http('POST /backups/rehearse', { token: owner, body: {} })).status).toBe(202)
    await work()
    expect((await site.http('POST /backups/rehearse', { token: owner, body: { file: 'old.backup' } })).status).toBe(202)
    await work()
    expect(await work(), 'nothing more is asked for').toBe(false)
    expect(ran).toEqual(['create null', 'rehearse made.backup', 'rehearse old.backup'])
    expect(await list()).toMatchObject({
      backups: [
        { file: 'made.backup', rehearsal: { error: null } },
        { file: 'new.backup', rehearsal: null },
        { file: 'old.backup', rehearsal: { error: 'old.backup is damaged: its hash differs.' } },
      ],
      task: { kind: 'rehearse', state: 'failed', file: 'old.backup' },
    })
    const events = (await site.events()).filter(([action]) => action.startsWith('site.'))
    expect(events.map(([action]) => action).slice(-3)).toEqual([
      'site.backup_requested',
      'site.rehearsal_requested',
      'site.rehearsal_requested',
    ])
    const { token } = await site.member(['dashboard:read', 'settings:update', 'settings:read'])
    for (const request of ['GET /backups', 'POST /backups', 'POST /backups/rehearse'])
      expect((await site.http(request, { token })).status).toBe(403)
    expect((await page(site, token)).status).toBe(404)
  })

  it('have a page, which says what becomes of them', async () => {
    const { site, owner, work } = await makeBackups(engine)
    expect((await page(site, owner)).text).toContain('Make a backup now')
    const asked = await send(site, '/dashboard/settings/backups', owner, {})
    expect(asked.headers.location).toBe('/dashboard/settings/backups?done=backupAsked')
    const busy = (await page(site, owner)).text
    expect(busy).toContain('A backup is being made.')
    expect(busy, 'one at a time').not.toContain('Make a backup now')
    const again = '<noscript><meta http-equiv="refresh" content="3; url=/dashboard/settings/backups"/></noscript>'
    expect(busy).toContain(again)
    expect((await send(site, '/dashboard/settings/backups', owner, {})).headers.location).toContain('done=backupRunning') // prettier-ignore
    await work()
    const made = (await page(site, owner)).text
    expect(made).toMatch(/The backup was made: <bdi>made\.backup/)
    expect(made, 'the page is at rest').not.toMatch(/http-equiv|data-progress/)
    await send(site, '/dashboard/settings/backups/rehearse', owner, { file: 'old.backup' })
    await work()
    const { text } = await page(site, owner)
    expect(text).toContain('The rehearsal failed:')
    expect(text).toContain('old.backup is damaged: its hash differs.')
    expect((await send(site, '/dashboard/settings/backups/rehearse', owner, { file: '../secret' })).status).toBe(404)
  })

  it('are begun again where a server stopped before it was done', async () => {
    const { site, owner, ran, work, list } = await makeBackups(engine)
    await site.http('POST /backups', { token: owner })
    await site.db.updateTable('backup_tasks').set({ startedAt: site.clock.now.toISOString() }).execute()
    expect(await list()).toMatchObject({ task: { state: 'running' } })
    await work()
    expect(ran).toEqual(['create null'])
  })
})
