import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { requestMaintenance } from '../../src/db/maintenance.js'
import { json } from '../support/backups.js'
import { makeMachine, PROGRAM, type Machine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { PNG } from '../support/images.js'
import { engines, temporaryFolder } from '../support/site.js'

const ROOT = path.resolve(PROGRAM, '../..')
/** What the package needs of others. */
const PACKAGES = ['@node-rs', 'better-sqlite3', 'better-sqlite3-node20', 'bindings', 'file-uri-to-path']
const SOURCES = /(deps|src|obj|obj\.target)$/

/** The optional package for images. */
const addSharp = () =>
  symlinkSync(
    path.join(ROOT, 'node_modules/sharp'),
    path.join(path.dirname(installed.program), '../node_modules/sharp'),
  )

/** An installed package of its own, and what an upgrade does to it. */
let installed: { program: string; replace(version: string): void; remove(): void }

beforeEach(() => {
  const folder = path.join(temporaryFolder(), 'feedbackctl')
  const install = (target: string) => {
    for (const name of ['bin', 'dist', 'package.json']) cpSync(path.join(ROOT, name), path.join(target, name), { recursive: true }) // prettier-ignore
    for (const name of PACKAGES.map((each) => path.join('node_modules', each)))
      if (existsSync(path.join(ROOT, name)))
        cpSync(path.join(ROOT, name), path.join(target, name), { recursive: true, filter: (file) => !SOURCES.test(file) }) // prettier-ignore
  }
  const remove = () => {
    renameSync(folder, `${folder}.retired`) // as npm does
    rmSync(`${folder}.retired`, { recursive: true })
  }
  mkdirSync(folder)
  install(folder)
  installed = {
    program: path.join(folder, 'bin/feedbackctl.js'),
    remove,
    replace(version) {
      remove()
      install(folder)
      const file = path.join(folder, 'package.json')
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), version }))
    },
  }
})

const KEPT = /needs the files of the program no more/

async function startServer(machine: Machine, args: string) {
  const server = machine.start(`serve --log-level debug ${args}`)
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  await server.says(KEPT)
  return { server, url }
}

/** A table that is rendered in a thread. */
const LONG = `# Long\n\n${'| a | b |\n'.repeat(2)}${'**word** [link](https://example.org) `code` '.repeat(200)}`

describe.each(engines)('a server on %s whose package was removed', (engine) => {
  it('answers everything that it answered before', async () => {
    const machine = await makeMachine(engine, { program: installed.program })
    const token = await machine.setup()
    addSharp()
    const { server, url } = await startServer(machine, '')
    installed.remove()
    const ask = async (line: string, status: number, { body, ...headers }: Record<string, unknown> = {}) => {
      const [method = '', target = ''] = line.split(' ')
      const answer = await fetch(`${url}${target}`, {
        method,
        headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      expect([line, answer.status]).toEqual([line, status])
      return text
    }
    const post = async (path: string, status: number, body: object) =>
      JSON.parse(await ask(`POST /api/v1${path}`, status, { body, authorization: `Bearer ${token}` }))
    const page = (path: string, status = 200) => ask(`GET ${path}`, status, { accept: 'text/html' })

    const { boardId, url: board } = (await post('/boards', 201, { name: 'Ideas' })).board
    const { slug } = (await post('/posts', 201, { title: 'Long', contentMarkdown: LONG, boardId })).post
    const password = 'correct horse battery'
    await post('/auth/login', 200, { email: 'ada@example.org', password })
    await post('/auth/signup', 201, { email: 'bob@example.org', password })
    for (const path of ['/', '/boards', `/boards/${board}`, '/roadmaps', '/login', '/join', '/search?q=long', '/password-reset']) await page(path) // prettier-ignore
    for (const path of ['/feed.atom', `/boards/${board}/feed.atom`, `/posts/${slug}/feed.atom`, '/sitemap.xml', '/robots.txt']) await page(path) // prettier-ignore
    await page('/nothing', 404)
    const shown = await page(`/posts/${slug}`)
    await ask(`GET /posts/${slug}/card.png`, 503) // it needs the fonts of the package
    // On a busy machine a text may be given up
    let tries = 0
    const rendered = async () => {
      const contentMarkdown = `${LONG} ${++tries}`
      const created = (await post('/posts', 201, { title: 'Long', contentMarkdown, boardId })).post
      return (await page(`/posts/${created.slug}`)).includes('<strong>word</strong>')
    }
    await expect.poll(rendered).toBe(true)
    for (const [, asset = ''] of shown.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)) await ask(`GET ${asset}`, 200)
    const docs = await ask('GET /api/v1/docs/', 200)
    const files = Array.from(docs.matchAll(/(?:href|src)="\.\/([^"]+)"/g), ([, file]) => file)
    expect(files.length).toBeGreaterThan(3)
    for (const file of ['json', ...files]) await ask(`GET /api/v1/docs/${file}`, 200)

    expect(server.output().stderr).not.toMatch(/"level":[56]0/)

    const release = await requestMaintenance(machine.databaseUrl, new Date())
    const status = async () => (await fetch(`${url}/readyz`)).status
    await expect.poll(status).toBe(503)
    await release()
    await expect.poll(status).toBe(200)
    await page('/')
    expect(await server.stop()).toMatchObject({ code: 0 })
  })
})

it('a server of an older version is named by its log, status and doctor', async () => {
  const machine = await makeMachine('sqlite', { program: installed.program })
  await machine.setup()
  const { server } = await startServer(machine, '')
  installed.replace('9.9.9')
  await server.says(/"version":"[^"]+","installed":"9.9.9".*version 9.9.9 is installed: restart to run it/)
  const status = await machine.run('status -o table')
  expect(status.stderr).toMatch(/The server with pid \d+ on \S+ runs version \S+: restart it to run 9\.9\.9\./)
  expect(status.stderr).toContain(`pid ${server.child.pid} `)
  const doctor = await machine.run('doctor servers --offline --json')
  expect(JSON.parse(doctor.stdout).checks).toMatchObject([{ severity: 'warning', fix: 'Restart it to run 9.9.9.' }])
  expect(server.output().stderr.match(/is installed/g)).toHaveLength(1)
})

it('workers of two versions never run beside each other', async () => {
  const machine = await makeMachine('sqlite', { program: installed.program })
  await machine.setup()
  const server = machine.start(`serve --workers 2 --log-level debug --listen 127.0.0.1:${await freePort()}`)
  const workers = () => Array.from(server.output().stderr.matchAll(/"pid":(\d+),[^\n]*"listening on (\S+?)"/g))
  await expect.poll(() => workers().length).toBe(2)
  const [[, first, url = ''] = [], [, second] = []] = workers()
  installed.replace('9.9.9')
  process.kill(Number(second), 'SIGKILL')
  await server.says(/a worker exited and is not restarted, as another version is installed/)
  expect((await fetch(`${url}/api/v1/boards`)).status).toBe(200)
  process.kill(Number(first), 'SIGKILL')
  await server.says(/starts the workers of the version that is installed now/)
  await expect.poll(() => workers().length).toBe(4)
  const { servers } = await json(machine, 'status')
  expect(servers).toMatchObject([{ version: '9.9.9', workers: 2 }])
  installed.remove()
  for (const [, pid] of workers().slice(2)) process.kill(Number(pid), 'SIGKILL')
  expect(await server.ended).toMatchObject({ code: 1 })
})

it('an upload of an image says why it fails: its package was never there, or is gone for a moment', async () => {
  const upload = async (isInstalled: boolean) => {
    const machine = await makeMachine('sqlite', { program: installed.program })
    const token = await machine.setup()
    if (isInstalled) addSharp()
    const { server, url } = await startServer(machine, '')
    if (isInstalled) installed.remove()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'image/png' }
    const answer = await fetch(`${url}/api/v1/images`, { method: 'POST', headers, body: PNG })
    const { code } = (await answer.json()) as { code: string }
    await server.stop()
    return [answer.status, code, answer.headers.get('retry-after')]
  }
  expect(await upload(false)).toEqual([501, 'IMAGES_UNAVAILABLE', null])
  expect(await upload(true)).toEqual([503, 'SERVER_BUSY', '60'])
})
