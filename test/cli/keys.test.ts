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
  expect((await machine.run('keys list --everyone')).stdout).toMatch(
    /^ci\tpost:create\tuser_\w+\t[^\t]+Z\t[^\t]+:00:00.000Z\t/,
  )
  expect(await machine.run(`keys revoke ${id} --yes`)).toMatchObject({ code: 0 })
  expect(await machine.run('account permissions', { env })).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('INVALID_TOKEN'),
  })
  expect(await machine.run(`keys revoke ${id} --yes`)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('KEY_NOT_FOUND'),
  })
})

it('"keys revoke" asks before it ends what programs use', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run('keys create ci')
  const refused = await machine.run('keys revoke ci')
  expect([refused.code, refused.stderr.includes('Revoke key "ci"? Programs that use it')]).toEqual([5, true])
  expect(await machine.run('keys revoke ci --dry-run')).toMatchObject({ code: 0 })
  expect((await machine.run('keys list --fields name')).stdout).toBe('[{"name":"ci"}]\n')
  const screen = machine.terminal('keys revoke ci')
  await screen.sees(/Revoke key "ci"\?/)
  screen.type('y\r')
  expect(await screen.ended).toMatchObject({ code: 0 })
  expect((await machine.run('keys list --fields name')).stdout).toBe('[]\n')
})

it('"keys revoke" and "sessions end" say in JSON and with -q what has ended', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run('keys create ci')
  const { keys } = JSON.parse((await machine.run('keys list --json')).stdout) as { keys: { keyId: string }[] }
  const revoked = await machine.run('keys revoke ci --yes --json')
  expect([revoked.stderr, JSON.parse(revoked.stdout)]).toEqual(['', { deleted: keys[0] }])
  const session = (await machine.run('sessions list -q')).stdout
  expect(await machine.run(`sessions end ${session.trim().slice(0, 20)} -q`)).toEqual({
    code: 0,
    stdout: session,
    stderr: '',
  })
})
