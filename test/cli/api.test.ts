import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, createReadStream, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { finished } from 'node:stream/promises'
import { describe, expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'
import { engines, OWNER } from '../support/site.js'

const json = async (machine: Machine, command: string) => {
  const { code, stdout, stderr } = await machine.run(command)
  expect([command, code, stderr]).toEqual([command, 0, ''])
  return JSON.parse(stdout)
}

describe.each(engines)('api on %s', (engine) => {
  it('sends any request of the API, here or to a server', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    expect((await json(machine, 'api POST /boards -f name=Ideas -f display=true')).board).toMatchObject({ url: 'ideas', display: true }) // prettier-ignore
    writeFileSync(path.join(machine.folder, 'text.md'), '**Dark**\n')
    const { post } = await json(machine, 'api POST /posts -f title=One -f boardId=ideas -F contentMarkdown=text.md')
    expect(post).toMatchObject({ title: 'One', contentMarkdown: '**Dark**' })
    for (const request of ['api GET /boards', 'api /boards', 'api get /api/v1/boards/', "api 'GET /boards?limit=5'"])
      expect((await json(machine, request)).boards).toHaveLength(1)
    expect((await json(machine, `api POST /posts/slug -f slug=${post.slug}`)).post.number).toBe(1)
    expect(JSON.parse((await machine.run('api GET /boards --fields name')).stdout)).toEqual([{ name: 'Ideas' }])
    expect((await machine.run('api GET /boards -o csv')).stdout).toMatch(/Ideas,ideas/)
    const dry = await machine.run('api POST /boards -f name=Bugs --dry-run')
    expect(dry).toMatchObject({ code: 0, stderr: 'Nothing was changed.\n', stdout: expect.stringContaining('Bugs') })
    await machine.run('boards create Bugs')
    const pages = (await machine.run("api GET '/boards?limit=1' --paginate")).stdout.trim().split('\n')
    expect(pages.map((line) => JSON.parse(line).boards[0].name)).toEqual(expect.arrayContaining(['Bugs', 'Ideas']))
    const [, url = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
    const token = (await machine.run(`login --server ${url} --email ada@example.org --password-stdin`, { stdin: OWNER.password })).code // prettier-ignore
    expect(token).toBe(0)
    expect((await json(machine, `api GET /boards --server ${url}`)).boards).toHaveLength(2)
    expect(await machine.run(`api DELETE /boards -f boardId=bugs --server ${url}`)).toMatchObject({
      code: 0,
      stdout: '',
    })
    expect((await json(machine, `api GET /boards --server ${url}`)).boards).toHaveLength(1)
  })
})

it('api prints what jq makes of each page, where jq is installed', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  for (const name of ['Ideas', 'Bugs']) await machine.run(`boards create ${name}`)
  const bin = path.join(machine.folder, 'bin')
  mkdirSync(bin)
  const env = { PATH: bin }
  const names = "api GET '/boards?limit=1' --paginate --jq '-.boards[].name'"
  expect(await machine.process(names, { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('needs the program jq') }) // prettier-ignore
  const program = `#!${process.execPath}
    const [raw, expression] = process.argv.slice(2)
    if (raw !== '-r' || expression !== ' -.boards[].name') { console.error('compile error'); process.exit(3) }
    let text = ''
    process.stdin.on('data', (part) => (text += part)).on('end', () => console.log(JSON.parse(text).boards[0].name))
  `
  writeFileSync(path.join(bin, 'jq'), program, { mode: 0o755 })
  expect(await machine.process(names, { env })).toEqual({ code: 0, stdout: 'Bugs\nIdeas\n', stderr: '' })
  expect(await machine.process('api GET /boards --jq nonsense', { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('jq refuses this: compile error') }) // prettier-ignore
  expect((await machine.run('api GET /boards --jq . -o csv')).code).toBe(2)
  for (const flag of ['--list', '--as-curl'])
    expect(await machine.run(`api GET /boards --jq . ${flag}`)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(`Leave it out with ${flag}.`) }) // prettier-ignore
  writeFileSync(path.join(bin, 'jq'), `#!${process.execPath}\nconsole.log('one'); console.error('not a number'); process.exitCode = 5`) // prettier-ignore
  expect(await machine.process('api GET /boards --jq .', { env })).toMatchObject({ code: 2, stdout: 'one\n', stderr: expect.stringContaining('jq refuses this: not a number') }) // prettier-ignore
  chmodSync(path.join(bin, 'jq'), 0o644)
  expect(await machine.process('api GET /boards --jq .', { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('jq cannot be started (EACCES)') }) // prettier-ignore
})

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('api ends jq when %s ends it', async (signal) => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const bin = path.join(machine.folder, 'bin')
  mkdirSync(bin)
  const alive = path.join(machine.folder, 'alive')
  execFileSync('mkfifo', [alive])
  // It holds a pipe open for as long as it lives, and heeds no signal but SIGKILL
  const program = `#!${process.execPath}
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
    require('fs').writeSync(require('fs').openSync(${JSON.stringify(alive)}, 'w'), 'started')
    setInterval(() => {}, 1000)
  `
  writeFileSync(path.join(bin, 'jq'), program, { mode: 0o755 })
  const { child, ended } = machine.start('api GET /boards --jq .', { env: { PATH: bin } })
  const life = createReadStream(alive)
  await once(life, 'data')
  child.kill(signal)
  await Promise.all([ended, finished(life.resume())])
  expect(child.signalCode).toBe(signal)
})

it('api says what is wrong with a request, and changes nothing', async () => {
  const { run, setup } = await makeMachine('sqlite')
  await setup()
  const refused: [string, number, string][] = [
    ['api', 2, 'Give a method and a path'],
    ['api GET', 2, 'Give a method and a path'],
    ['api GET /board', 2, 'Did you mean "/boards"?'],
    ['api PUT /boards', 2, 'It has GET'],
    ['api POST /boards -f name', 2, 'is not a field'],
    ['api POST /boards -f nam=Ideas', 2, 'Did you mean "name"?'],
    ['api POST /boards -f name=Ideas -f display=maybe', 2, 'display must be'],
    ['api POST /auth/login -f email=x -f password=secret', 2, 'password is a secret'],
    ['api POST /boards -F name=missing.txt', 2, 'Cannot read missing.txt'],
    ['api GET /boards/none', 3, 'BOARD_NOT_FOUND'],
    ['api GET /export/posts', 2, 'file'],
    ['api GET /settings/site --paginate', 2, '--paginate is for lists'],
    ["api GET '/boards?page=2' --paginate", 2, 'Leave page and after out'],
  ]
  for (const [command, code, words] of refused)
    expect([command, await run(command)]).toEqual([command, expect.objectContaining({ code, stderr: expect.stringContaining(words) })]) // prettier-ignore
  expect(JSON.parse((await run('boards list --json')).stdout).boards).toEqual([])
  const { stdout } = await run('api --list -o tsv')
  expect(stdout).toMatch(/^GET\t\/boards\t/m)
})
