import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'

it('commands use the same words on every noun, and old words still work', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const { run } = machine
  await run('users create eve@example.org --password-stdin', { stdin: 'correct horse battery' })
  await run('boards create - -q', { stdin: 'One\nTwo\n' })
  await run("posts create 'Dark mode' --as eve@example.org")

  for (const [oldest, newest] of [
    ['--sort oldest', '--sort newest'],
    ['--created asc', '--created desc'],
  ]) {
    // prettier-ignore
    const names = async (order: string | undefined) => (await run(`boards list -q ${order}`)).stdout
    expect([await names(oldest), await names(newest)]).toEqual(['one\ntwo\n', 'two\none\n'])
  }
  expect(await run('events list --sort sideways')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--sort must be one of newest, oldest; "sideways" is not.'),
  })

  expect((await run('votes delete 1 --as eve@example.org')).stderr).toContain('labs update --vote-on-behalf')
  expect((await run('votes add 1')).stderr).toBe('Voted for post #1 "Dark mode".\n')
  expect((await run('votes remove 1 --dry-run')).stderr).toBe('Would delete the vote for post #1 "Dark mode".\n')
  expect((await run('votes rm 1')).stderr).toBe('Deleted the vote for post #1 "Dark mode".\n')
  expect((await run('comments create 1 --body Yes')).stderr).toBe('Commented on post #1 "Dark mode".\n')

  expect((await run('keys create ci --days 2w --fields expiresAt')).code).toBe(0)
  expect((await run('keys create ci2 --days soon')).code).toBe(2)
  expect((await run('moderate list --days 3w --json')).code).toBe(0)
  expect((await run('secret rotate --hours 3d')).code).toBe(2)
  expect((await run('secret rotate --hours 2d')).stderr).toContain('for 48 hours more')
  expect((await run('keys delete ci --yes')).code).toBe(0)

  await run('posts update 1 --title Darker --as eve@example.org')
  const events = JSON.parse((await run('events list --action post.updated --json')).stdout).events
  expect(events).toMatchObject([{ actor: { userId: expect.any(String) }, via: 'cli' }])

  for (const command of ['users block eve@example.org', 'users sign-out eve@example.org', 'sessions end-all']) {
    const tried = await run(`${command} --dry-run`)
    expect([tried.code, tried.stderr]).toEqual([0, expect.stringMatching(/^Would (block|sign|end) /)])
    expect(await run(command)).toMatchObject({ code: 5, stderr: expect.stringContaining('--yes') })
    expect((await run(`${command} --yes`)).code).toBe(0)
  }
  expect((await run('settings block-domains a.example b.example,c.example -q')).stdout).toBe(
    'a.example\nb.example\nc.example\n',
  )
})

it('a user is a user in every list, and old words still work', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const { run } = machine
  await run('boards create Ideas --private')
  await run('users create eve@example.org --generate-password')
  const ofUser = await run('events list --user eve@example.org --json')
  expect(JSON.parse(ofUser.stdout).events.length).toBeGreaterThan(0)
  expect(await run('events list --person eve@example.org --json')).toEqual(ofUser)
  expect((await run('events list --help')).stdout).not.toContain('--person')
  expect((await run('status -o tsv --header')).stdout).toMatch(/\tusers\t/)
  expect((await run('owner reset --help')).stdout).toContain('\n\nSet a new password for the owner;')
  const shown = await machine.terminal('boards list', { columns: 80 }).ended
  expect(shown.text).toMatch(/ACCESS[^]*private/)
})
