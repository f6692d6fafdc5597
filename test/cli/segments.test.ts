import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

it.each(engines)('votes are listed one by one, or by segment, on %s', async (engine) => {
  const machine = await makeMachine(engine)
  if (engine === 'postgres') await machine.run('migrate')
  await machine.setup()
  for (const command of [
    "posts create 'Offline mode'",
    'users create eve@acme.example --no-invite',
    'users tag eve@acme.example --add VIP,beta',
    'labs update --vote-on-behalf',
    'votes add 1 --as eve@acme.example',
  ])
    expect([command, (await machine.run(command)).code]).toEqual([command, 0])
  const { stdout } = await machine.run('votes list 1 --by segment -o csv')
  expect(stdout.replaceAll('\r', '')).toBe('by,name,votes\ndomain,acme.example,1\ndomain,example.org,1\nrole,,2\ntag,,1\ntag,beta,1\ntag,VIP,1\n') // prettier-ignore
  const { segments, voters } = JSON.parse((await machine.run('votes list 1 --by segment --json --limit 1')).stdout)
  expect([voters, segments[0]]).toEqual([2, { by: 'domain', name: 'acme.example', votes: 1 }])
  expect((await machine.run('votes list 1 --by segment -o table')).stdout).toMatch(/BY +SEGMENT +VOTES\ndomain +acme\.example +1\n[^]*role +none +2\n/) // prettier-ignore
  expect(JSON.parse((await machine.run('votes list 1 --by segment --fields name,votes')).stdout)[0]).toEqual({ name: 'acme.example', votes: 1 }) // prettier-ignore
  const rows = (await machine.run('votes list 1 -o csv')).stdout
  expect(rows).toMatch(/^user\.name,user\.username,tags,createdAt,.*\n[^]*"beta, VIP"/)
  for (const [flags, said] of [
    ['--by nothing', '--by must be segment; "nothing" is not.'],
    ['--by segment --since 7d', '--since and --by segment contradict each other. Give only one.'],
    ['--by segment --all', '--all and --by segment contradict each other. Give only one.'],
  ] as const) {
    const { code, stderr } = await machine.run(`votes list 1 ${flags}`)
    expect([flags, code, stderr.includes(said)]).toEqual([flags, 2, true])
  }
})
