import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

async function filled(engine: (typeof engines)[number]) {
  const machine = await makeMachine(engine)
  await machine.setup()
  const { run } = machine
  await run("boards create 'Ideas'")
  await run("posts create Über --body '=1+1' --board ideas")
  await run('posts create Plain --body x')
  return run
}

describe.each(engines)('the fields of rows on %s', (engine) => {
  it('are chosen with --fields, in the order given, one level deep', async () => {
    const run = await filled(engine)
    const out = async (args: string) => (await run(args)).stdout
    expect(await out('posts list --fields title,number,board.name')).toBe(
      '[{"title":"Plain","number":2,"board.name":null},{"title":"Über","number":1,"board.name":"Ideas"}]\n',
    )
    expect(await out('posts list --all --fields number')).toBe('[{"number":2},{"number":1}]\n')
    expect(await out('posts show 1 --fields title,number --json')).toBe('{"title":"Über","number":1}\n')
    expect(await out('posts list -o jsonl --fields number')).toBe('{"number":2}\n{"number":1}\n')
    expect(await out('posts list -o csv --fields number,board.name,contentMarkdown')).toBe(
      "number,board.name,contentMarkdown\n2,,x\n1,Ideas,'=1+1\n",
    )
    expect(await out('posts list -o yaml --fields number')).toBe('- number: 2\n- number: 1\n')
    expect(await out('events list --fields action -L 1')).toBe('[{"action":"post.created"}]\n')
    expect(await out('posts delete 2 --yes --fields title')).toBe('{"title":"Plain"}\n')
  })

  it('are listed by --fields alone, and a wrong one is refused before anything is done', async () => {
    const run = await filled(engine)
    const listed = (await run('posts list --fields')).stdout.split('\n')
    expect(listed).toEqual(expect.arrayContaining(['number', 'createdAt', 'author.username', 'board.name']))
    const headings = (await run('posts list -o csv')).stdout.split('\n')[0]?.split(',') ?? []
    expect(headings).toContain('createdAt')
    expect(headings.filter((heading) => !listed.includes(heading))).toEqual(['marks'])
    const refused = await run('posts update 1 --title New --fields titel')
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    expect(JSON.parse(refused.stderr).message).toContain('Did you mean "title"?')
    const inner = JSON.parse((await run('posts list --fields votesCount')).stderr) as { message: string }
    expect(inner.message).toContain('Did you mean "voters.votesCount"?')
    expect((await run('posts show 1 --fields title')).stdout).toBe('{"title":"Über"}\n')
    for (const args of ['posts list --fields number -q', 'posts list --fields ,', 'posts list --bom --json'])
      expect(await run(args)).toMatchObject({ code: 2, stdout: '' })
    expect(await run('votes add 1 --fields name')).toMatchObject({ code: 2, stdout: '' })
  })

  it('of a command that is no operation are known too, before anything is done', async () => {
    const run = await filled(engine)
    const changing = ['owner link', 'secret new --yes', 'secret rotate', 'backup create', 'backup prune --yes', 'restore x', 'rollback --yes', 'db copy x y', 'mail test', 'mail queue retry --all', 'doctor --fix --yes'] // prettier-ignore
    const reading = [
      'backup list',
      'status',
      'config list',
      'config path',
      'config validate',
      'config get listen',
      'whoami',
      'mail preview',
      'mail queue list',
      'doctor',
      'healthcheck',
    ]
    const state = async () => [(await run('backup list --json')).stdout, (await run('events list --json')).stdout]
    const before = await state()
    for (const args of [...changing, ...reading.filter((each) => each !== 'backup list')]) {
      const refused = await run(`${args} --fields nope`)
      expect([args, refused.code, refused.stdout]).toEqual([args, 2, ''])
      expect([args, refused.stderr]).toEqual([
        args,
        expect.stringContaining('Unknown field \\"nope\\". --fields alone'),
      ])
      const listed = await run(`${args} --fields`)
      expect([args, listed.code, listed.stdout]).toEqual([args, 0, expect.stringMatching(/^([a-z][a-zA-Z0-9]*\n)+$/)]) // one case
    }
    expect(await state()).toEqual(before)
    expect((await run('migrate --fields nope')).code).toBe(2)
    expect((await run('mail preview reset --fields')).stdout).toBe('template\nlanguage\nsubject\ntext\nhtml\n')
    await run('backup create')
    expect(await run('backup list --fields nope')).toMatchObject({ code: 2, stdout: '' })
    expect((await run('secret new --yes --fields sessions,apps')).stdout).toMatch(/^\{"sessions":\d,"apps":0\}\n$/)
  })

  it('are listed by --fields alone without the arguments that the command needs otherwise', async () => {
    const run = await filled(engine)
    for (const [args, field] of [
      ['posts show', 'title'],
      ['posts search', 'title'],
      ['posts delete', 'title'],
      ['users update', 'email'],
      ['comments list', 'comment.body'],
      ['restore', 'kept'],
      ['restore --into new', 'kept'],
      ['db copy', 'table'],
      ['backup verify', 'tables'],
      ['backup rehearse', 'migratedTo'],
      ['backup list', 'createdAt'],
      ['mail queue show', 'text'],
      ['mail queue retry', 'recipient'],
      ['mail queue cancel', 'recipient'],
    ] as const) {
      const { code, stdout, stderr } = await run(`${args} --fields`)
      expect([args, code, stderr, stdout.split('\n')]).toEqual([args, 0, '', expect.arrayContaining([field])])
      expect([args, (await run(`${args} --fields nope`)).code]).toEqual([args, 2])
    }
    expect(await run('posts show')).toMatchObject({ code: 2, stderr: expect.stringContaining('argument: <post>') })
  })

  it('of csv have a byte order mark with --bom', async () => {
    const run = await filled(engine)
    expect((await run('posts list -o csv --bom --fields title')).stdout).toBe('\uFEFFtitle\nPlain\nÜber\n')
  })

  it('say a password that is generated where they leave it out', async () => {
    const run = await filled(engine)
    const { stdout, stderr } = await run('users create x@example.org --generate-password --fields email')
    expect(stdout).toBe('{"email":"x@example.org"}\n')
    expect(stderr).toMatch(/shown only now: \S{20}/)
  })
})
