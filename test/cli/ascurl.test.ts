import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { curlLine } from '../../src/cli/lib/command/ascurl.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { engines } from '../support/site.js'

/** Texts that a shell, JSON or a URL could take for something else. */
const ODD = [
  `It's "quoted" 'twice'`,
  '$HOME `id` $(id) \\ \\n %s',
  '! !! !x #5 ~ * ? [a] {b,c} | & ; < >',
  '💡 日本語 é ‮abc',
  '-rf --data @/etc/passwd',
]

/** Runs a printed line in a POSIX shell: with curl, or with what the shell would give it. */
async function sent(line: string, token: string): Promise<{ status: number; text: string }> {
  const env = { PATH: process.env.PATH, FEEDBACKCTL_TOKEN: token }
  const hasCurl = spawnSync('curl', ['--version']).status === 0
  if (hasCurl) {
    const { stdout } = spawnSync('sh', ['-c', line.replace(/^curl /, "curl -sS -w '\\n%{http_code}' ")], { env, encoding: 'utf8' }) // prettier-ignore
    const at = stdout.lastIndexOf('\n')
    return { status: Number(stdout.slice(at + 1)), text: stdout.slice(0, at) }
  }
  const words = wordsOf(line, token)
  const valuesOf = (flag: string) => words.flatMap((word, index) => (words[index - 1] === flag ? [word] : []))
  const response = await fetch(words.find((word) => /^https?:/.test(word)) ?? '', {
    method: valuesOf('-X')[0] ?? 'GET',
    headers: valuesOf('-H').map((header) => header.split(/: (.*)/s).slice(0, 2) as [string, string]),
    body: valuesOf('--data-raw')[0] ?? null,
  })
  return { status: response.status, text: await response.text() }
}

/** The arguments that a POSIX shell makes of a line. */
const wordsOf = (line: string, token = ''): string[] =>
  spawnSync('sh', {
    input: `curl() { printf '%s\\0' "$@"; }\n${line}`, env: { PATH: process.env.PATH, FEEDBACKCTL_TOKEN: token }, encoding: 'utf8' }) // prettier-ignore
    .stdout.split('\0')
    .slice(0, -1)

async function served(machine: Machine) {
  const token = await machine.setup()
  const server = machine.start('serve')
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  const env = { FEEDBACKCTL_SERVER: url, FEEDBACKCTL_TOKEN: token }
  const line = async (args: string) => {
    const { code, stdout, stderr } = await machine.run(`${args} --as-curl`, { env })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).not.toContain(token)
    return stdout.trimEnd()
  }
  return { env, token, line }
}

describe('--as-curl', () => {
  it.each(engines)('prints a request with which curl gets what the command gets, on %s', async (engine) => {
    const machine = await makeMachine(engine)
    const { env, token, line } = await served(machine)
    const create = await line('boards create Ideas --url ideas')
    expect(JSON.parse((await machine.run('boards list --json', { env })).stdout).boards).toEqual([])
    const dry = await sent(await line('boards create Ideas --url ideas --dry-run'), token)
    expect([dry.status, (await machine.run('boards list -q', { env })).stdout]).toEqual([201, ''])
    expect((await sent(create, token)).status).toBe(201)
    await machine.run('posts create Dark --board ideas', { env })
    for (const args of [
      'boards list',
      'boards show ideas',
      'posts list --limit 1 --board ideas',
      'posts show 1',
      'users list',
      'api GET /boards -f limit=1',
    ]) {
      const { stdout } = await machine.run(`${args} --json --raw`, { env })
      const { status, text } = await sent(await line(args), token)
      expect([args, status, JSON.parse(text)]).toEqual([args, 200, JSON.parse(stdout)])
    }
    expect((await sent(await line('posts update 1 --title Darker'), token)).status).toBe(200)
    expect((await sent(await line('posts delete 1'), token)).status).toBe(204)
    expect((await machine.run('posts list -q', { env })).stdout).toBe('')
  })

  it('quotes every text for the shell', async () => {
    const machine = await makeMachine('sqlite')
    const { token, line } = await served(machine)
    expect((await sent(await line('boards create Ideas --url ideas'), token)).status).toBe(201)
    const env = { FEEDBACKCTL_TOKEN: token }
    for (const [index, text] of ODD.entries()) {
      const given = { stdin: `${text}\nand more`, env }
      const at = `--server ${/http:[^']+(?=\/api)/.exec(await line('boards list'))?.[0]}`
      const printed = await machine.run(`posts create Odd --board ideas --body-file - --as-curl ${at}`, given)
      expect((await sent(printed.stdout.trimEnd(), token)).status).toBe(201)
      const shown = await machine.run(`posts show ${index + 1} --json --raw ${at}`, { env })
      expect(JSON.parse(shown.stdout).post.contentMarkdown).toBe(given.stdin)
    }
  })

  it('works for an address and a text of any kind', () => {
    const url = new URL("http://[::1]:8000/api/v1/it's?q=[a]{b}")
    for (const text of [...ODD, 'a\nb\r\nc\t\u0007', 'x'.repeat(200_000)]) {
      const line = curlLine(
        { method: 'POST', url, headers: {}, fields: { text } },
        { isSigned: true, file: "my 'file'" },
      )
      const words = wordsOf(line, 'T')
      expect(words).toContain(url.href)
      expect(words).toContain('Authorization: Bearer T')
      expect(words).toContain("my 'file'")
      const isLong = text.length > 100_000
      const body = isLong ? (line.split('\n')[1] ?? '') : (words[words.indexOf('--data-raw') + 1] ?? '')
      expect(JSON.parse(body)).toEqual({ text })
    }
  })

  it('prints a line for each name, and JSON for programs', async () => {
    const { run } = await makeMachine('sqlite')
    const { stdout } = await run('posts delete 1 2 --as-curl')
    expect(stdout.split('\n').map((line) => wordsOf(line).at(-1))).toEqual(['{"id":"1"}', '{"id":"2"}', undefined])
    const { curl, ...request } = JSON.parse((await run('boards create Ideas --as-curl --json --dry-run')).stdout)
    expect(request).toEqual({
      method: 'POST',
      url: expect.stringMatching(/^http:\/\/localhost:\d+\/api\/v1\/boards$/),
      headers: { 'feedbackctl-dry-run': '1' },
      body: { name: 'Ideas' },
    })
    expect(curl).toContain("-H 'feedbackctl-dry-run: 1'")
  })

  it('looks names up that only commands accept, and changes nothing', async () => {
    const machine = await makeMachine('sqlite')
    await machine.run('roles create Helpers')
    const { roles } = JSON.parse((await machine.run('roles list --json')).stdout) as {
      roles: { id: string; name: string }[]
    }
    const id = roles.find(({ name }) => name === 'Helpers')?.id
    const { stdout } = await machine.run(`roles delete ${id?.slice(0, -1)} --as-curl`)
    expect(JSON.parse(wordsOf(stdout).at(-1) ?? '')).toEqual({ id })
    expect((await machine.run('roles list -q')).stdout).toContain(id)
  })

  it.each([
    ['backup create', '"feedbackctl backup create" is not one request of the API'],
    ['login', '"feedbackctl login" is not one request'],
    ['context list', '"feedbackctl context list" is not one request'],
    ['serve', '"feedbackctl serve" is not one request'],
    ['posts list --all', '--all needs several requests'],
    ['events list --follow', '--follow needs several requests'],
    ['boards create Ideas --if-not-exists', '--if-not-exists needs several requests'],
    ['posts create -', 'What stdin says needs several requests'],
    ['api GET /boards --paginate', '--paginate sends several requests'],
    ['users create a@example.org --generate-password', 'password is a secret'],
    ['posts delete 1 --as ada', '--as is for the database of this machine'],
    ['posts update 1', 'change'],
  ])('%s --as-curl says why not', async (line, message) => {
    const machine = await makeMachine('sqlite')
    const { code, stdout, stderr } = await machine.run(`${line} --as-curl`)
    expect([code, stdout, stderr.replaceAll(/\s+/g, ' ')]).toEqual([2, '', expect.stringContaining(message)])
    expect((await machine.run(`config get data.dir`)).stdout).toContain(path.basename(machine.folder))
  })
})
