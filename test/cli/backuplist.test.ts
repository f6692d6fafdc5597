import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

it('lists backups by pages, by time and in both orders, as every list', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const folder = path.join(machine.folder, 'kept')
  mkdirSync(folder)
  const names = ['first', 'second', 'third'].map((name) => path.join(folder, `${name}.backup`))
  for (const name of names) expect((await machine.run(`backup create ${name}`)).code).toBe(0)
  const list = async (flags: string) => JSON.parse((await machine.run(`backup list ${folder} ${flags} --json`)).stdout)
  const files = async (flags: string) => (await list(flags)).backups.map(({ file }: { file: string }) => file)

  const [first, second, third] = names
  expect(await list('--limit 2')).toMatchObject({
    backups: [{ file: third }, { file: second }],
    page_info: { count: 2, current_page: 1, has_next_page: true, start_cursor: third, end_cursor: second },
    total_count: 3,
    total_pages: 2,
  })
  expect(await list('--limit 2 --page 2')).toMatchObject({
    backups: [{ file: first }],
    page_info: { current_page: 2, has_next_page: false },
  })
  expect(await files(`--after ${third}`)).toEqual([second, first])
  expect(await files('--sort oldest')).toEqual([first, second, third])
  expect(await files(`--sort oldest --after ${second}`)).toEqual([third])
  expect(await list('--all')).toMatchObject({ backups: [{}, {}, {}], total_count: 3, total_pages: 1 })
  expect(await files('--since 1h')).toEqual([third, second, first])
  expect(await files('--until 2020-01-01')).toEqual([])
  expect((await machine.run(`backup list ${folder} --until 2020-01-01`)).stderr).toBe('')
  expect(await machine.run(`backup list ${folder} --page 2`)).toMatchObject({
    stderr: expect.stringContaining('Page 2 is past the end. The list has 1 page, 3 rows.'),
  })
  const { createdAt } = (await list('--limit 1')).backups[0]
  expect(await files(`--since ${createdAt}`)).toEqual([third])
  expect(await machine.run(`backup list ${folder} --after nothing`)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('VALIDATION_ERROR'),
  })
  expect(await machine.run(`backup list ${folder} --all --limit 2`)).toMatchObject({ code: 2 })
})

it('names the files that only look like backups, as doctor and prune do', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const { file: whole } = JSON.parse((await machine.run('backup create --json')).stdout)
  const folder = path.dirname(whole)
  const empty = path.join(folder, 'empty.backup')
  writeFileSync(empty, '')
  mkdirSync(path.join(folder, 'folder.backup'))
  copyFileSync(whole, path.join(folder, 'other.txt'))
  const reason = `${empty} is damaged or incomplete. It does not begin like a backup of feedbackctl.`
  const { stderr } = await machine.run('backup list -o table')
  expect(stderr).toContain(`1 backup in ${folder}\nNot listed: ${reason}`)
  expect(stderr.match(/Not listed/g)).toHaveLength(1)
  const { checks } = JSON.parse((await machine.run('doctor backups --json')).stdout)
  expect(JSON.stringify(checks)).toContain(reason)
  expect((await machine.run('backup prune --keep 1 --yes')).stderr).toContain('Left alone: empty.backup (it cannot be read as a backup)') // prettier-ignore
})
