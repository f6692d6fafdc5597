import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import path from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { zipped } from '../../src/core/zip.js'
import { filled } from '../support/backups.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { cleanup, engines } from '../support/site.js'
import { zipOf } from '../support/zip.js'

/** The files of a folder, by their paths. */
const filesIn = (machine: Machine, folder: string): Record<string, string> => {
  const root = path.join(machine.folder, folder)
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(path.join(root, name)).isFile()) // prettier-ignore
  return Object.fromEntries(names.toSorted().map((name) => [name, readFileSync(path.join(root, name), 'latin1')]))
}

describe.each(engines)('export --server on %s', (engine) => {
  it('gives the owner, and nobody else, what the machine of the site exports', async () => {
    const machine = await filled(engine)
    const [, url = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
    const done = async (command: string, stdin?: string) => {
      const { code, stdout, stderr } = await machine.run(command, stdin === undefined ? {} : { stdin })
      expect([command, code, stderr]).toEqual([command, 0, stderr])
      return { stdout, stderr }
    }
    const at = `--server ${url}`
    await done(`login ${at} --email ada@example.org --password-stdin`, 'correct horse battery')
    await done(`export --out there.jsonl ${at}`)
    await done('export --out here.jsonl')
    const lines = (name: string) => readFileSync(path.join(machine.folder, name), 'utf8').split('\n').filter((line) => !/^\{"type":"(event|event_seal|user_use|end)"/.test(line)) // prettier-ignore
    expect(lines('there.jsonl')).toEqual(lines('here.jsonl'))
    expect((await done(`export ${at}`)).stdout).toMatch(/^\{"type":"header"[^]*\{"type":"end","lines":\d+\}\n$/)
    await done('export --csv here')
    expect((await done(`export --csv there ${at}`)).stderr).toMatch(/^Wrote \d+ files to there\.\n$/)
    expect(filesIn(machine, 'there')).toEqual(filesIn(machine, 'here'))
    const env = { FEEDBACKCTL_SITE_URL: '' }
    await machine.run('export --static public', { env })
    const { stdout } = await done(`export --static copy --json ${at}`)
    const [own, copied] = [filesIn(machine, 'public'), filesIn(machine, 'copy')]
    expect(Object.keys(copied)).toEqual(Object.keys(own))
    expect(copied['index.html']).toContain('Dark mode')
    const pages = Object.keys(copied).filter((name) => name.endsWith('.html')).length
    expect(JSON.parse(stdout)).toMatchObject({ folder: 'copy', files: Object.keys(copied).length, pages, privatePosts: 1 }) // prettier-ignore
    expect(statSync(path.join(machine.folder, 'copy/index.html')).mode & 0o777).toBe(0o644)

    for (const args of ['--csv there', '--static copy', '--with-passwords', '--csv x --out y'])
      expect([args, (await machine.run(`export ${args} ${at}`)).code]).toEqual([args, 2])
    await done('users create eve@example.org --password-stdin', 'a good password')
    await done(`login ${at} --email eve@example.org --password-stdin`, 'a good password')
    const before = readdirSync(machine.folder)
    for (const args of ['', '--csv new', '--static new', '--out new'])
      expect([args, await machine.run(`export ${args} ${at}`)]).toMatchObject([args, { code: 4, stdout: '' }])
    expect(readdirSync(machine.folder)).toEqual(before)
    expect((await fetch(`${url}/api/v1/export?format=csv`)).status).toBe(400)
  })
})

it('the archive is one that other programs read, and the page of backups leads to it', async () => {
  const machine = await filled('sqlite')
  const [, url = ''] = await machine.start('serve').says(/listening on (http:\S+?)"/)
  const signIn = await fetch(`${url}/api/v1/auth/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email: 'ada@example.org', password: 'correct horse battery' }) }) // prettier-ignore
  const { user } = (await signIn.json()) as { user: { authToken: string } }
  const headers = { authorization: `Bearer ${user.authToken}` }
  const answer = await fetch(`${url}/api/v1/export?format=csv&bom=true`, { headers })
  expect(answer.headers.get('content-type')).toBe('application/zip')
  expect(answer.headers.get('content-disposition')).toMatch(/filename="csv-\d{4}-\d\d-\d\d\.zip"/)
  const file = path.join(machine.folder, 'csv.zip')
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
  const read = 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(len(z.namelist())); print(z.read("posts.csv").decode())' // prettier-ignore
  const python = spawnSync('python3', ['-c', read, file], { encoding: 'utf8' })
  expect(python.stdout).toMatch(/^\d+\n\uFEFFnumber,title,[^]*Dark mode/)
  const browser = { accept: 'text/html', cookie: `feedbackctl=${user.authToken}` }
  const page = await (await fetch(`${url}/dashboard/settings/backups`, { headers: browser })).text()
  const links = Array.from(page.matchAll(/<a href="([^"]+\/backups\/[^"]+)"/g), ([, link = '']) => new URL(link, url))
  const saved: unknown[] = []
  for (const link of links) {
    const sent = await fetch(link, { headers: browser }) // one at a time: few run for one person
    await sent.arrayBuffer()
    expect(sent.status).toBe(200)
    saved.push(sent.headers.get('content-disposition'))
  }
  expect(saved).toEqual(['site', 'csv', 'pages'].map((start) => expect.stringContaining(`filename="${start}-`)))
  const visitor = await fetch(links[0] ?? url, { redirect: 'manual' })
  expect([visitor.status, visitor.headers.get('location')]).toEqual([303, expect.stringContaining('/login')])
})

/** A server that answers every request with one file. */
async function answering(answer: () => { type: string; body: string | Buffer }): Promise<string> {
  const server = createServer((_, response) => {
    const { type, body } = answer()
    response.writeHead(200, { 'content-type': type, 'content-disposition': 'attachment; filename="x"' })
    response.end(body)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  cleanup(() => void server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

/** An archive in which two names share one content. */
function overlapping(): Buffer {
  const one = zipOf({ 'a.csv': 'x'.repeat(5000) })
  const entry = one.subarray(-22 - 46 - 5, -22)
  const [other, end] = [Buffer.from(entry), Buffer.from(one.subarray(-22))]
  other.write('b', 46)
  end.writeUInt16LE(2, 8)
  end.writeUInt16LE(2, 10)
  end.writeUInt32LE(2 * entry.length, 12)
  return Buffer.concat([one.subarray(0, -22), other, end])
}

/** An archive of a file that is a thousand times as long as the archive. */
async function bomb(): Promise<Buffer> {
  const packed: Uint8Array[] = []
  const files = Readable.from([{ file: 'a.csv', text: Buffer.alloc(20_000_000), rows: 0 }])
  for await (const { bytes } of zipped(files, new Date())) packed.push(bytes)
  return Buffer.concat(packed)
}

it('what a server sends leads nowhere but into the folder, or is refused', async () => {
  const machine = await makeMachine('sqlite')
  mkdirSync(path.join(machine.folder, 'work'))
  const changed = zipOf({ 'a.csv': 'hello', 'b.csv': 'x' })
  changed.write('j', changed.indexOf('hello'))
  const bodies: Record<string, [Buffer, because?: string]> = {
    up: [zipOf({ '../x.csv': 'x' })],
    absolute: [zipOf({ '/tmp/x.csv': 'x' })],
    inside: [zipOf({ 'a/../../x.csv': 'x' })],
    back: [zipOf({ '..\\x.csv': 'x' })],
    hidden: [zipOf({ '.ssh/authorized_keys': 'x' })],
    odd: [zipOf({ 'a\u001b[31m.csv': 'x' })],
    larger: [zipOf({ 'a.csv': 'x' }, 1000)],
    cut: [zipOf({ 'a.csv': 'x' }).subarray(0, -10)],
    none: [Buffer.from('hello')],
    empty: [zipOf({}), 'it has no files'],
    changed: [changed, '"a.csv" is damaged'],
    twice: [zipOf([['a.csv', 'x'], ['a.csv', 'y']]), 'it has "a.csv" twice'],
    apart: [zipOf([['a.csv', 'x'], ['b.csv', 'y'], ['a.csv', 'z']]), 'it has "a.csv" twice'],
    both: [zipOf({ a: 'x', 'a/b.csv': 'y' }), '"a" is both a file and a folder'],
    overlapping: [overlapping(), 'its files overlap'],
    bomb: [await bomb(), '"a.csv" unpacks to 20.0 MB'],
  } // prettier-ignore
  let name = ''
  const url = await answering(() => ({ type: 'application/zip', body: bodies[name]?.[0] ?? '' }))
  const before = readdirSync(machine.folder, { recursive: true })
  for (name of Object.keys(bodies)) {
    const { code, stderr } = await machine.run(`export --csv work/out --server ${url}`)
    const said = `no export that can be unpacked: ${bodies[name]?.[1] ?? ''}`
    expect([name, code, stderr]).toEqual([name, 6, expect.stringContaining(said)])
    expect([stderr.includes('\u001b'), readdirSync(machine.folder, { recursive: true })]).toEqual([false, before])
  }
})

it('lines that a server sends are an export to its end, or are no site', async () => {
  const machine = await makeMachine('sqlite')
  const header = '{"type":"header","format":"feedbackctl","version":1,"schema":"0001","passwords":false}\n'
  const [jsonl, zip] = ['application/jsonl; charset=utf-8', 'application/zip']
  const answers: Record<string, [type: string, body: string | Buffer, says?: string]> = {
    whole: [jsonl, `${header}{"type":"post"}\n{"type":"end","lines":2}\n`],
    header: [jsonl, header, 'its last line is missing'],
    cut: [jsonl, `${header}{"type":"end","li`, 'its last line is missing'],
    fewer: [jsonl, `${header}{"type":"end","lines":2}\n`, 'its last line says 2 lines, and it has 1'],
    nothing: [jsonl, '', 'its last line is missing'],
    else: [jsonl, '{"posts":[]}\n{"type":"end","lines":1}\n', 'its first line is not a header'],
    archive: [zip, zipOf({ 'a.csv': 'x' }), 'its type is "application/zip"'],
  }
  let name = ''
  const url = await answering(() => ({ type: answers[name]?.[0] ?? '', body: answers[name]?.[1] ?? '' }))
  for (name of Object.keys(answers)) {
    const says = answers[name]?.[2]
    const file = `${name}.jsonl`
    const saved = await machine.run(`export --out ${file} --server ${url}`)
    const printed = await machine.run(`export --server ${url}`)
    const isThere = readdirSync(machine.folder).includes(file)
    expect([name, saved.code, printed.code, isThere]).toEqual([name, ...(says === undefined ? [0, 0, true] : [6, 6, false])]) // prettier-ignore
    const told = says === undefined ? `Wrote the site to ${file}.` : `${says}. Removed ${file}`
    expect([name, saved.stderr]).toEqual([name, expect.stringContaining(told)])
  }
  answers.lines = [jsonl, 'x']
  name = 'lines'
  const { code, stderr } = await machine.run(`export --csv out --server ${url}`)
  expect([code, stderr]).toEqual([6, expect.stringContaining('its type is "application/jsonl"')])
})
