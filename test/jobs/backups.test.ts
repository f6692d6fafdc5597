import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { backupsOf, json } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { engines } from '../support/site.js'

const configOf = ({ folder }: Machine): string => path.join(folder, 'config/feedbackctl/config.toml')
const backupsIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []).filter((name) => name.endsWith('.backup')) // prettier-ignore

describe.each(engines)('backups on a schedule on %s', (engine) => {
  it('are made by one of several servers, and pruned', async () => {
    const machine = await makeMachine(engine)
    if (engine === 'postgres') await machine.run('migrate')
    await machine.setup()
    expect(await json(machine, 'status')).toMatchObject({ backups: null })
    const serve = async (args: string, every: string) => {
      const server = machine.start(`serve ${args}`, { env: { FEEDBACKCTL_BACKUP_EVERY: every, FEEDBACKCTL_BACKUP_KEEP: '2' } }) // prettier-ignore
      await server.says(/listening on/)
      return server
    }
    const folder = backupsOf(machine)
    const servers = await Promise.all([serve('', '1h'), serve('', '1h'), serve('--workers 2', '1h')])
    const made = () => servers.map((server) => server.output().stderr.match(/made a backup/g)?.length ?? 0)
    await expect.poll(made).toContain(1)
    await Promise.all(servers.map((server) => server.stop()))
    expect(made().toSorted((one, other) => one - other)).toEqual([0, 0, 1])
    expect(backupsIn(folder)).toHaveLength(1)
    const { backups } = await json(machine, 'status')
    expect(backups).toEqual({ madeAt: expect.stringMatching(/^\d{4}-/), failedAt: null, error: null })

    const often = await serve('', '1s')
    await often.says(/removed old backups[^]*removed old backups/)
    await often.stop()
    expect([2, 3], 'a stop may come before the last removal').toContain(backupsIn(folder).length) // of at least four
    for (const name of backupsIn(folder)) expect(await machine.run(`backup verify ${folder}/${name}`)).toMatchObject({ code: 0 }) // prettier-ignore
  })

  it('carry the configuration file, also where a worker makes them', async () => {
    const machine = await makeMachine(engine)
    if (engine === 'postgres') await machine.run('migrate')
    await machine.setup()
    const server = machine.start('serve --workers 2', { env: { FEEDBACKCTL_BACKUP_EVERY: '1h' } })
    await server.says(/made a backup/)
    await server.stop()
    const [name] = backupsIn(backupsOf(machine))
    const restored = await json(machine, `restore ${backupsOf(machine)}/${name} --into restored`)
    expect(restored).toMatchObject({ config: null }) // it is as it is here
    writeFileSync(configOf(machine), '# another\n', { flag: 'a' })
    const again = await json(machine, `restore ${backupsOf(machine)}/${name} --into again`)
    expect(readFileSync(String(again.config), 'utf8')).toBe(readFileSync(configOf(machine), 'utf8').replace('# another\n', '')) // prettier-ignore
  })

  it('that fail are logged, shown in status, and made as soon as they can be', async () => {
    const machine = await makeMachine(engine)
    if (engine === 'postgres') await machine.run('migrate')
    await machine.setup()
    const dir = `${machine.folder}/disk`
    writeFileSync(dir, 'not a folder')
    const server = machine.start('serve', { env: { FEEDBACKCTL_BACKUP_EVERY: '1s', FEEDBACKCTL_BACKUP_DIR: `${dir}/backups` } }) // prettier-ignore
    await server.says(/"code":"BACKUP_FAILED"[^\n]*the backup failed, and will be tried again: Cannot write \S+/)
    const shown = async () => (await json(machine, 'status')).backups // written after the line of the log
    await expect.poll(shown).toEqual({ madeAt: null, failedAt: expect.stringMatching(/^\d{4}-/), error: expect.stringContaining('Cannot write') }) // prettier-ignore
    expect((await machine.terminal('status', { columns: 300, env: { NO_COLOR: '1' } }).ended).text).toMatch(/^FAILED +the backup, just now: Cannot write /m) // prettier-ignore
    rmSync(dir)
    await server.says(/made a backup/)
    await expect.poll(shown).toMatchObject({ failedAt: null, error: null })
    await server.stop()
  })
})
