import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

it('"keys create" prints a key that works with --server until "keys revoke"', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run('users create eve@example.org --generate-password')
  const [, server = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
  const created = await machine.run('keys create ci --permissions post:create --as eve@example.org')
  expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining('shown only now') })
  const [token = '', name, permissions, expires, id = ''] = created.stdout.trim().split('\t')
  expect([token, name, permissions, expires]).toEqual([
    expect.stringMatching(/^fbk_[\w-]{43}$/),
    'ci',
    'post:create',
    expect.stringMatching(/Z$/),
  ])
  const env = { FEEDBACKCTL_TOKEN: token, FEEDBACKCTL_SERVER: server }
  expect((await machine.run('account permissions', { env })).stdout).toBe('post:create\n')
  expect(await machine.run('keys create more', { env })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('API key'),
  })
  expect((await machine.run('keys list')).stdout).toBe('')
  expect((await machine.run('keys list --all true')).stdout).toMatch(
    /^ci\tpost:create\tuser_\w+\t[^\t]+Z\t[^\t]+:00:00.000Z\t/,
  )
  expect(await machine.run(`keys revoke ${id}`)).toMatchObject({ code: 0 })
  expect(await machine.run('account permissions', { env })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('INVALID_TOKEN'),
  })
  expect(await machine.run(`keys revoke ${id}`)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('KEY_NOT_FOUND'),
  })
})
