import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

async function filled(engine: (typeof engines)[number]) {
  const machine = await makeMachine(engine)
  const token = await machine.setup()
  const { run } = machine
  await run("boards create 'Ideas'")
  await run('roadmaps create Planned')
  for (const title of ['One', 'Two', 'Three', 'Four']) await run(`posts create ${title} --board ideas --body x`)
  const roadmapsOf = async () =>
    (JSON.parse((await run('posts list --fields roadmap.url')).stdout) as { 'roadmap.url': string | null }[])
      .map((post) => post['roadmap.url'])
      .toReversed()
  return { machine, token, run, roadmapsOf }
}

describe.each(engines)('several names in one command on %s', (engine) => {
  it('come as arguments or from stdin, each once, here and on a server', async () => {
    const { machine, token, run, roadmapsOf } = await filled(engine)
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const there = { env: { FEEDBACKCTL_SERVER: url, FEEDBACKCTL_TOKEN: token } }
    expect(await run('posts update 1 2 --roadmap planned')).toMatchObject({ code: 0 })
    expect(await roadmapsOf()).toEqual(['planned', 'planned', null, null])
    const { stdout: names } = await run('posts list -q')
    const updated = await run('posts update - --roadmap planned --json', { stdin: names, ...there })
    expect(JSON.parse(updated.stdout).map(({ post }: { post: { number: number } }) => post.number)).toEqual([
      4, 3, 2, 1,
    ])
    expect(await roadmapsOf()).toEqual(['planned', 'planned', 'planned', 'planned'])
    expect((await run('posts update - 1 2 -q --title Same', { stdin: '\n 2 \r\n' })).stdout).toMatch(
      /^same-\w+\nsame-\w+\n$/,
    )
    const deleted = await run('posts delete 3 4 --yes -o jsonl', there)
    expect(deleted.stdout.split('\n').map((line) => line && JSON.parse(line).title)).toEqual(['Three', 'Four', ''])
    expect((await run('posts list --fields number')).stdout).toBe('[{"number":2},{"number":1}]\n')
  })

  it('are an array of answers in JSON, one line each in CSV, and a document in YAML', async () => {
    const { run } = await filled(engine)
    expect((await run('posts update 1 2 --roadmap planned --fields number')).stdout).toBe(
      '[{"number":1},{"number":2}]\n',
    )
    expect((await run('posts update 1 2 --title X -o csv --fields number')).stdout).toBe('number\n1\n2\n')
    expect((await run('posts update 1 2 --title X -o yaml --fields number')).stdout).toBe('- number: 1\n- number: 2\n')
    expect((await run('posts update - --title X --json', { stdin: '1\n' })).stdout).toMatch(/^\[\{"post":.*\}\]\n$/)
    expect((await run('posts update 1 --title X --json')).stdout).toMatch(/^\{"post":/)
  })

  it('that fail are said, the others are done, and the exit code tells', async () => {
    const { run, roadmapsOf } = await filled(engine)
    const some = await run('posts update 1 99 2 --roadmap planned --json')
    expect([some.code, JSON.parse(some.stdout).length]).toEqual([7, 2])
    expect(JSON.parse(some.stderr)).toMatchObject({ name: '99', code: 'POST_NOT_FOUND', exit: 3 })
    expect(await roadmapsOf()).toEqual(['planned', 'planned', null, null])
    const none = await run('posts delete 98 99 --yes')
    expect([none.code, none.stdout]).toEqual([3, ''])
    expect(none.stderr).toMatch(
      /✗ 98: .*\(POST_NOT_FOUND\)\n✗ 99: .*\n2 of 2 posts failed\.\n  fix   feedbackctl posts list\n$/,
    )
    const wrong = await run('boards update ideas other --color red')
    expect([wrong.code, wrong.stderr.match(/✗/g)]).toEqual([2, ['✗']])
  })

  it('are confirmed once, tried in a dry run, and none are nothing to do', async () => {
    const { run } = await filled(engine)
    const unsure = await run('posts delete 1 2')
    expect(unsure).toMatchObject({ code: 5, stdout: '' })
    expect(unsure.stderr).toContain('Delete 2 posts? This cannot be undone. Pass --yes to confirm.')
    const tried = await run('posts delete 1 2 --dry-run')
    expect([tried.code, tried.stderr.match(/^Would /gm)?.length]).toEqual([0, 2])
    expect(await run('posts delete - --yes --json', { stdin: '' })).toMatchObject({ code: 0, stdout: '[]\n' })
    expect(await run('posts delete -', { stdin: '\n' })).toMatchObject({
      code: 0,
      stderr: 'No names were given. Nothing was changed.\n',
    })
    expect(await run('posts update 1 2')).toMatchObject({ code: 2 })
    const both = await run('posts update - --body-file -', { stdin: '1\n' })
    expect([both.code, both.stderr.includes('cannot both be read from stdin')]).toEqual([2, true])
    expect((await run('posts list --fields number')).stdout.match(/number/g)).toHaveLength(4)
  })
})

it('several users are changed, and get and lose a role, in one command', async () => {
  const { run } = (await filled('sqlite')).machine
  for (const name of ['eve', 'bob']) await run(`users create ${name}@example.org --password-stdin`, { stdin: 'correct horse battery' }) // prettier-ignore
  await run('roles create - -q', { stdin: 'helpers\nwriters\n' })
  const people = 'eve@example.org\nbob@example.org\n'
  const columns = async (fields: string) =>
    (await run(`users list --query example.org --fields ${fields} -o tsv`)).stdout
  expect((await run('users update eve@example.org - --verified', { stdin: people })).code).toBe(0)
  expect(await columns('email,isVerified')).toContain('eve@example.org\ttrue\nbob@example.org\ttrue\n')
  expect((await run('roles update helpers writers --description Team')).code).toBe(0)
  const given = await run('roles assign helpers eve@example.org nobody@example.org bob@example.org')
  expect([given.code, given.stderr.match(/^(Gave|✗ nobody)/gm)?.length]).toEqual([7, 3])
  expect((await run('roles assign writers -', { stdin: people })).code).toBe(0)
  expect((await columns('roles')).match(/"helpers".*"writers"/g)).toHaveLength(2)
  expect((await run('roles unassign writers bob@example.org eve@example.org')).code).toBe(0)
  expect((await columns('roles')).match(/"writers"/g)).toBeNull()
  expect((await run('roles unassign helpers --user eve@example.org')).code).toBe(0)
  for (const wrong of [
    'roles assign helpers',
    'roles assign helpers bob@example.org --user eve@example.org',
    'users update eve@example.org bob@example.org --generate-password',
  ])
    // prettier-ignore
    expect((await run(wrong)).code).toBe(2)
})

it('what is wrong for all names is said once, and lines that fail have a fix', async () => {
  const { run } = (await filled('sqlite')).machine
  for (const [args, stdin, code, message, list] of [
    ['roles assign nope a b', '', 'INVALID_ROLE_ID', 'Role "nope" not found. Give its id, or its name.', 'roles'],
    ['roles unassign nope a b', '', 'INVALID_ROLE_ID', 'Role "nope" not found. Give its id, or its name.', 'roles'],
    ['posts update 1 2 --roadmap nope', '', 'VALIDATION_ERROR', '--roadmap must be the id or url of a roadmap; "nope" is not.', 'roadmaps'], // prettier-ignore
    ['posts create - --board nope --body x', 'a\nb\n', 'VALIDATION_ERROR', '--board must be the id or url of a board; "nope" is not.', 'boards'], // prettier-ignore
  ] as const)
    expect([args, await run(args, { stdin })]).toEqual([
      args,
      { code: 3, stdout: '', stderr: `✗ ${message}\n  fix   feedbackctl ${list} list\n  code  ${code} (exit 3)\n` },
    ])
  const lines = await run('posts create - --body x', { stdin: 'title,board\na,nope\nb,nope\n' })
  expect([lines.code, lines.stderr.match(/^✗ line/gm)?.length]).toEqual([3, 2])
  expect(lines.stderr).toContain('2 of 2 posts failed.\n  fix   feedbackctl boards list\n')
})

it('several things are followed, reported, answered and taken off a list in one command', async () => {
  const { run } = (await filled('sqlite')).machine
  await run("boards create 'Bugs'")
  for (const name of ['a', 'b']) await run(`comments create 1 --body ${name}`)
  const ids = (await run('comments list 1 -q')).stdout
  for (const [command, stdin] of [
    ['posts follow -', '1\n2\n'],
    ['posts unfollow 1 2', ''],
    ['boards follow ideas bugs', ''],
    ['boards unfollow -', 'ideas\nbugs\n'],
    ['posts report 1 2 --reason x', ''],
    ['comments report - --reason x', ids],
    ['comments answer -', ids],
    ['comments unanswer -', ids],
  ] as const) {
    const { code, stdout, stderr } = await run(command, { stdin })
    expect([command, code, stdout.split('\n').length > 2 || stderr.split('\n').length > 2]).toEqual([command, 0, true])
  }
  for (const command of [
    'notifications read 98 99',
    'mail suppressed remove a@example.org b@example.org',
    'identities unlink x y --yes',
  ])
    expect([command, (await run(command)).stderr.match(/^✗/gm)?.length]).toEqual([command, 2])
})

it('what is taken away can be written delete for every noun', async () => {
  const { run } = await makeMachine('sqlite')
  for (const command of ['keys', 'sessions', 'invitations', 'identities', 'votes', 'mail queue', 'mail suppressed'])
    expect([command, await run(`${command} delete`)]).toEqual([
      command,
      expect.objectContaining({ code: 2, stderr: expect.stringContaining('Missing required argument: <') }),
    ])
})

it('several deletions are asked about once on a terminal, with what each loses', async () => {
  const { machine } = await filled('sqlite')
  const screen = machine.terminal('posts delete 1 2 99')
  await screen.sees(/ 99: [^]*Delete post #1 "One"\?[^]*Delete post #2 "Two"\?[^]*Delete 2 posts\?/)
  screen.type('y\r')
  expect(await screen.ended).toMatchObject({ code: 7 })
  const people = machine.terminal('users delete a@example.org b@example.org')
  await people.ended
  for (const name of ['a', 'b'])
    await machine.run(`users create ${name}@example.org --password-stdin`, { stdin: 'correct horse battery' })
  const typed = machine.terminal('users delete a@example.org b@example.org')
  await typed.sees(/Delete 2 users\? Type 2 to confirm/)
  typed.type('2\r')
  expect(await typed.ended).toMatchObject({ code: 0 })
  expect((await machine.run('users list --fields email')).stdout.match(/email/g)).toHaveLength(1)
})

it('people are blocked and signed out on a server by who may not read them', async () => {
  const { machine, run } = await filled('sqlite')
  await run('roles create guards --permissions user:block')
  for (const name of ['guard', 'eve', 'bob'])
    await run(`users create ${name}@example.org --password-stdin`, { stdin: 'correct horse battery' })
  await run('roles assign guards guard@example.org')
  for (const name of ['eve', 'bob']) await run(`users update ${name}@example.org --username ${name}`)
  const server = machine.start('serve')
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  const signedIn = await run(`login --server ${url} --email guard@example.org --password-stdin --json`, {
    stdin: 'correct horse battery',
  })
  expect(signedIn.code).toBe(0)
  const there = { env: { FEEDBACKCTL_SERVER: url } }
  const unsure = await run('users block eve', there)
  expect([unsure.code, unsure.stderr]).toEqual([5, expect.stringContaining('Block eve? All their sessions end.')])
  expect(await run('users block eve --yes', there)).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Blocked .+\.\n$/) }) // prettier-ignore
  expect(await run('users unblock eve', there)).toMatchObject({ code: 0 })
  const both = await run('users block eve bob --yes --json', there)
  expect([both.code, JSON.parse(both.stdout).map(({ user }: { user: object }) => user)]).toEqual([
    0,
    ['eve', 'bob'].map((username) => expect.objectContaining({ username, isBlocked: true, email: '' })),
  ])
  expect(await run('users sign-out eve --yes', there)).toMatchObject({ code: 0 })
  const hidden = await run('users block eve@example.org --yes', there)
  expect([hidden.code, hidden.stderr]).toEqual([3, expect.stringContaining('Give their user name or id.')])
})
