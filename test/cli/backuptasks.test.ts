import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { backupsOf } from '../support/backups.js'
import { makeMachine, serve } from '../support/cli.js'
import { engines } from '../support/site.js'

describe.each(engines)('backups that a server is asked for on %s', (engine) => {
  it('are those of the command, made and rehearsed in a process of their own', async () => {
    const machine = await makeMachine(engine)
    if (engine === 'postgres') await machine.run('migrate')
    const token = await machine.setup()
    const http = await serve(machine)
    const task = async () => (await http('GET /backups', { token })).body.task
    expect((await http('GET /backups', { token })).body).toMatchObject({ backups: [], is_old: true, task: null })
    expect((await http('POST /backups', { token })).status).toBe(202)
    await expect.poll(task).toMatchObject({ state: 'done', error: null })
    const { backups } = (await http('GET /backups', { token })).body
    expect(backups).toMatchObject([{ redacted: false, encrypted: false, rehearsal: null }])
    const folder = backupsOf(machine)
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([backups[0].file])
    expect((await http('POST /backups/rehearse', { token, body: {} })).status).toBe(202)
    await expect.poll(task).toMatchObject({ kind: 'rehearse', state: 'done', error: null, file: backups[0].file })
    expect(await machine.run(`backup verify ${folder}/${backups[0].file}`)).toMatchObject({ code: 0 })
  })
})
