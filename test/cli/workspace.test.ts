import { execFileSync, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines, type Engine } from '../support/site.js'

async function makeWorld(engine: Engine) {
  const machine = await makeMachine(engine)
  await machine.setup()
  const done = async (...commands: string[]) => {
    for (const command of commands) {
      const { code, stderr } = await machine.run(command)
      expect([command, code, stderr]).toEqual([command, 0, stderr])
    }
  }
  await done('boards create Ideas', 'boards create Bugs --private', 'roadmaps create Planned --display', 'roadmaps create Done', 'tags create UI', 'roles create helpers --permissions post:update,comment:create', 'settings block-domains spam.example', "settings update --title 'Moonbase' --announcement 'Hello: *you*'") // prettier-ignore
  const exported = async () => (await machine.run('workspace export')).stdout
  const write = (text: string) => writeFileSync(path.join(machine.folder, 'site.yaml'), text)
  const planned = async (args = '') => {
    const { code, stdout, stderr } = await machine.run(`workspace plan site.yaml --json ${args}`)
    expect([code, stderr]).toEqual([0, expect.stringMatching(/Nothing was changed|The site is as/)])
    return (JSON.parse(stdout).changes as { change: string; noun: string; name: string; posts: number | null; people: number | null }[]).map(({ change, noun, name, posts, people }) => [change, noun, name, posts, people]) // prettier-ignore
  }
  return { machine, done, exported, write, planned }
}

describe.each(engines)('a workspace on %s', (engine) => {
  it('is exported, and applied changes nothing, also on an empty site twice', async () => {
    const { exported, write, planned, machine } = await makeWorld(engine)
    const text = await exported()
    write(text)
    expect(await planned()).toEqual([])
    const same = await machine.run('workspace apply site.yaml --yes')
    expect([same.code, same.stderr]).toEqual([0, 'The site is as site.yaml says. Nothing was changed.\n'])
    const other = await makeMachine(engine)
    await other.setup()
    writeFileSync(path.join(other.folder, 'site.yaml'), text)
    expect(await other.run('workspace apply site.yaml --yes')).toMatchObject({ code: 0, stderr: expect.stringContaining('Made ') }) // prettier-ignore
    expect((await other.run('workspace export')).stdout).toBe(text)
    const events = (await other.run('events list --json')).stdout
    expect((await other.run('workspace apply site.yaml --yes')).code).toBe(0)
    expect((await other.run('events list --json')).stdout).toBe(events)
    const json = (await machine.run('workspace export --json')).stdout
    write(json)
    expect(await planned()).toEqual([])
  })

  it('is changed as the plan says, with what each change touches', async () => {
    const { machine, done, exported, write, planned } = await makeWorld(engine)
    await done("posts create 'Dark mode' --board ideas", 'posts update 1 --roadmap planned', 'posts tag 1 --add ui', 'roles assign helpers --user ada@example.org') // prettier-ignore
    const before = await exported()
    write(
      before
        .replace('title: Moonbase', 'title: Moon')
        .replace('name: Ideas', 'name: Wishes')
        .replace(/ {2}- url: bugs(\n {4}.*)*/, '  - url: new\n    name: New')
        .replace(/( {2}- url: planned(?:\n {4}.*)*\n)( {2}- url: done(?:\n {4}.*)*\n)/, '$2$1')
        .replace('name: UI', 'name: Interface')
        .replace('      - post:update\n', '')
        .replace('spam.example', 'Other.example'),
    )
    const plan = [
      ['update', 'settings', '', null, null],
      ['update', 'board', 'ideas', 1, 0],
      ['create', 'board', 'new', null, null],
      ['update', 'tag', 'ui', 1, null],
      ['update', 'role', 'helpers', null, 1],
      ['update', 'blocked domains', '', null, null],
      ['delete', 'board', 'bugs', 0, 0],
      ['move', 'roadmaps', '', null, null],
    ]
    expect(await planned()).toEqual(plan)
    const isPrivate = await machine.run('workspace apply site.yaml --dry-run')
    expect(isPrivate).toMatchObject({ code: 2, stderr: expect.stringContaining('board "bugs" (private)') })
    expect((await machine.run('workspace apply site.yaml --dry-run --delete-used')).stderr).toBe('Would make 8 changes. Nothing was changed.\n') // prettier-ignore
    expect(await machine.run('workspace apply site.yaml --delete-used')).toMatchObject({ code: 5, stderr: expect.stringContaining('--yes') }) // prettier-ignore
    expect(await exported()).toBe(before)
    const applied = await machine.run('workspace apply site.yaml --yes --json --delete-used')
    expect([applied.code, JSON.parse(applied.stdout).changes.map(({ change, noun, name, posts, people }: Record<string, unknown>) => [change, noun, name, posts, people])]).toEqual([0, plan]) // prettier-ignore
    expect(await planned()).toEqual([])
    expect(await exported()).toMatch(/title: Moon\n[^]*url: ideas\n {4}name: Wishes\n[^]*url: done\n[^]*url: planned\n[^]*Interface\n[^]*other.example/) // prettier-ignore
    expect((await machine.run('posts show 1 --json')).stdout).toContain('"name":"Wishes"')
  })

  it('keeps what posts or people have, unless a flag says otherwise', async () => {
    const { machine, done, exported, write } = await makeWorld(engine)
    await done("posts create 'Dark mode' --board ideas", 'posts update 1 --roadmap done', 'posts tag 1 --add ui', 'roles assign helpers --user ada@example.org') // prettier-ignore
    const before = await exported()
    write('format: feedbackctl-workspace/1\nboards: []\nroadmaps: []\ntags: []\nroles: []\n')
    for (const args of ['apply site.yaml --yes', 'apply site.yaml --dry-run']) {
      const { code, stderr } = await machine.run(`workspace ${args}`)
      expect([code, stderr]).toEqual([2, expect.stringContaining('board "ideas" (1 post), board "bugs" (private), roadmap "done" (1 post), tag "ui" (1 post), role "helpers" (1 user)')]) // prettier-ignore
    }
    expect(await exported()).toBe(before)
    await done('workspace apply site.yaml --yes --delete-used')
    expect(await exported()).toMatch(/title: Moonbase\n[^]*boards: \[\]\nroadmaps: \[\]\ntags: \[\]\nroles: \[\]\nblockedDomains:\n/) // prettier-ignore
    expect((await machine.run('posts list -o name')).stdout).toContain('dark-mode')
  })

  it('keeps a board without posts that somebody follows', async () => {
    const { machine, done, write, planned } = await makeWorld(engine)
    await done('users create eve@example.org --no-invite', 'boards create Wishes', 'boards follow wishes --as eve@example.org') // prettier-ignore
    write('format: feedbackctl-workspace/1\nboards: [{url: ideas}, {url: bugs}]\n')
    expect(await planned()).toEqual([['delete', 'board', 'wishes', 0, 1]])
    expect(await machine.run('workspace apply site.yaml --yes')).toMatchObject({ code: 2, stderr: expect.stringContaining('board "wishes" (1 user)') }) // prettier-ignore
    await done('workspace apply site.yaml --yes --delete-used')
    expect(await planned()).toEqual([])
  })

  it('is refused where the file would hide what the caller does not see, or is none', async () => {
    const { machine, write } = await makeWorld(engine)
    for (const flags of ['-o csv', '-q', '--fields title'])
      expect(await machine.run(`workspace export ${flags}`)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('YAML') }) // prettier-ignore
    const refused: [string, string][] = [
      ['roles: [{name: "@everyone"}]', '@everyone'],
      ['settings: {title: A, title: B}', '"title" twice'],
      ['settings: {announcement: Hi, announcementUntil: "2099-07-01 10:00"}', 'announcementUntil'],
    ]
    for (const [text, words] of refused) {
      write(`format: feedbackctl-workspace/1\n${text}\n`)
      const { code, stderr } = await machine.run('workspace plan site.yaml')
      expect([text, code, stderr]).toEqual([text, expect.toBeOneOf([2, 3]), expect.stringContaining(words)])
    }
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    await machine.run('users create eve@example.org --password-stdin', { stdin: 'a good password' })
    await machine.run(`login --server ${url} --email eve@example.org --password-stdin`, { stdin: 'a good password' })
    expect(await machine.run(`workspace export --server ${url}`)).toMatchObject({ stdout: '', stderr: expect.stringContaining('board:read') }) // prettier-ignore
  })

  it('is all of a file or nothing, and an error says where', async () => {
    const { machine, exported, write } = await makeWorld(engine)
    const before = await exported()
    const head = 'format: feedbackctl-workspace/1\n'
    const cases: [string, string][] = [
      ['a: [', 'is not YAML'],
      ['', 'is no workspace'],
      ['- 1', 'is no workspace'],
      [`${head}posts: []`, 'unknown part "posts"'],
      [`${head}boards: {}`, 'must have a list as boards'],
      [`${head}boards: [{url: x, nmae: y}]`, 'unknown field "nmae" in boards[0]'],
      [`${head}boards: [{url: x, constructor: y}]`, 'unknown field "constructor"'],
      [`${head}__proto__: {}`, 'unknown part "__proto__"'],
      [`${head}boards: [{url: x, color: 123456}]`, 'boards[0].color that is not a text; put it in quotes'],
      [`${head}boards: [{name: x}]`, 'has no url in boards[0]'],
      [`${head}tags: [{url: x, name: a}, {url: x, name: b}]`, 'has "x" twice in tags'],
      [`${head}boards: [{url: x}]`, 'The new board "x" needs a name'],
      [`${head}boards: [{url: x, name: y, color: red}]`, 'board "x": color must be'],
      [`${head}roles: [{name: x, permissions: [all]}]`, 'role "x": permissions must be'],
      [`${head}blockedDomains: [no domain]`, 'blocked domains: "no domain" is not a domain name'],
      [
        `${head}settings: {title: New}\ntags: [{url: ui}, {url: 'Odd url!', name: Odd}]`,
        'tag "Odd url!": Its url would be "odd-url"',
      ],
      [`${head}a: &a [x, x, x, x, x, x, x, x, x, x]\n${'bcdefgh'.split('').map((each, at) => `${each}: &${each} [${`*${'abcdefg'[at]},`.repeat(10)}]`).join('\n')}`, 'Nothing was changed'], // prettier-ignore
      ['x'.repeat(1_100_000), 'longer than 1 MB'],
    ]
    for (const [text, said] of cases) {
      write(text)
      const { code, stderr } = await machine.run('workspace apply site.yaml --yes')
      expect([text.slice(0, 200), code, stderr]).toEqual([text.slice(0, 200), expect.toBeOneOf([2, 5]), expect.stringContaining(said)]) // prettier-ignore
    }
    expect(await exported()).toBe(before)
    // Each change alone could be made, and both together not
    write(`${head}boards: [{url: ideas}, {url: bugs}, {url: new, name: New}, {url: "new ", name: Other}]`)
    for (const args of ['plan site.yaml', 'apply site.yaml --dry-run', 'apply site.yaml --yes'])
      expect([args, await machine.run(`workspace ${args}`)]).toMatchObject([args, { code: 5, stderr: expect.stringContaining('board "new": The url "new" is taken') }]) // prettier-ignore
    expect(await exported()).toBe(before)
    execFileSync('sh', ['-c', `mkfifo ${path.join(machine.folder, 'pipe')}`])
    const writer = spawn('sh', ['-c', `head -c 3000000 /dev/zero > ${path.join(machine.folder, 'pipe')}`], { stdio: 'ignore' }) // prettier-ignore
    expect((await machine.run('workspace plan pipe')).stderr).toContain('pipe is longer than 1 MB')
    writer.kill()
    expect((await machine.run('workspace apply none.yaml --yes')).stderr).toContain('Cannot read none.yaml')
    expect((await machine.run('workspace apply site.yaml --server http://127.0.0.1:1')).stderr).toContain('only on the machine of the site') // prettier-ignore
  })
})
