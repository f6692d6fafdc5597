import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { temporaryFolder } from '../support/site.js'

const DIST = path.resolve(import.meta.dirname, '../../dist')

/** Packages that no read command may load, as each takes longer than the command itself. */
const SERVER = [
  'fastify',
  'pino-pretty',
  'jsonwebtoken',
  '@inquirer/prompts',
  'nodemailer',
  'pg',
  '@node-rs/argon2',
  '@node-rs/bcrypt',
  'csv-parse',
]
const DATABASE = ['better-sqlite3', 'kysely', 'typebox']
const TABLE = ['chalk', 'cli-table3']

it.each([
  ['--version', [...SERVER, ...DATABASE, ...TABLE, 'commander']],
  ['--help', [...SERVER, ...DATABASE, ...TABLE]],
  ['healthcheck', [...SERVER, 'kysely', 'typebox', ...TABLE]],
  ['boards list --help', [...SERVER, 'better-sqlite3', ...TABLE]],
  ['boards list', [...SERVER, ...TABLE]],
  ['boards list --json', [...SERVER, ...TABLE]],
  ['boards list -o table', SERVER],
])('%s loads none of %j', async (args, forbidden) => {
  const machine = await makeMachine('sqlite')
  const loaded = packagesLoaded(args, machine.env)
  expect(loaded.size).toBeGreaterThan(0)
  expect(forbidden.filter((name) => loaded.has(name))).toEqual([])
})

it('detects the packages that a command loads', async () => {
  const machine = await makeMachine('sqlite')
  await machine.run('boards create Ideas') // an empty list draws no table
  const loaded = packagesLoaded('boards list -o table', machine.env)
  for (const name of ['commander', 'kysely', 'typebox', 'better-sqlite3', ...TABLE]) expect(loaded).toContain(name)
  expect(packagesLoaded('demo --once', machine.env)).toContain('fastify')
  expect(packagesLoaded('boards create Bugs', machine.env)).not.toContain('csv-parse')
  expect(packagesLoaded('boards create -', machine.env)).toContain('csv-parse')
})

it('a server loads what makes pages at the first request for one', async () => {
  const machine = await makeMachine('sqlite')
  const server = machine.start('serve --listen 127.0.0.1:0', { env: hooked() })
  const [, url = ''] = await server.says(/listening on (http:[^"\s]+)/)
  const PAGES = ['preact', 'preact-render-to-string', 'markdown-it']
  const TEXTS = ['sanitize-html'] // which this page has none of
  const loaded = () => {
    const packages = packagesOf(server.output().stderr)
    return [...PAGES, ...TEXTS].filter((name) => packages.has(name))
  }
  expect((await fetch(`${url}/api/v1/boards`)).status).toBe(200)
  expect(packagesOf(server.output().stderr)).toContain('fastify')
  expect(loaded()).toEqual([])
  expect((await fetch(url, { headers: { accept: 'text/html' } })).status).toBe(200)
  await expect.poll(loaded).toEqual(PAGES)
  await server.stop('SIGTERM')
})

/** The packages that a command loads, bundled or from node_modules, as seen by a hook in the process. */
function packagesLoaded(args: string, env: Record<string, string>): Set<string> {
  const { stderr } = spawnSync(process.execPath, [path.join(DIST, '../bin/feedbackctl.js'), ...args.split(' ')], {
    env: { ...env, ...hooked() },
    encoding: 'utf8',
  })
  return packagesOf(stderr)
}

/** An environment in which a process says on stderr what it loads. */
function hooked(): Record<string, string> {
  const hook = path.join(temporaryFolder(), 'hook.mjs')
  writeFileSync(
    hook,
    `import fs from 'node:fs'
     import module from 'node:module'
     const say = (text) => fs.writeSync(2, text + '\\n')
     const { _load: load } = module
     module._load = function (request, ...rest) { say('REQUIRED ' + request); return load.call(this, request, ...rest) }
     const { readFileSync: read } = fs
     fs.readFileSync = (file, ...rest) => { say('READ ' + file); return read(file, ...rest) }`,
  )
  return { NODE_OPTIONS: `--import ${hook}` }
}

function packagesOf(stderr: string): Set<string> {
  const chunks = [...stderr.matchAll(/^READ (.*\/dist\/cli\/.*\.js)$/gm)].flatMap(([, file]) => chunksIn(file ?? ''))
  const required = [...stderr.matchAll(/^REQUIRED (.+)$/gm)].map(([, name]) => name ?? '')
  return new Set([...chunks.flatMap(packagesIn), ...required.filter((name) => /^[@a-z]/.test(name))])
}

/** The chunks of a pack. */
function chunksIn(file: string): string[] {
  if (!path.basename(file).startsWith('pack-')) return [file]
  return [...readFileSync(file, 'utf8').matchAll(/^"(.+?)":function/gm)].map(([, name]) =>
    path.join(path.dirname(file), name ?? ''),
  )
}

const known = new Map<string, string[]>()

/** The packages in a chunk, from its source map. */
function packagesIn(file: string): string[] {
  let packages = known.get(file)
  if (!packages) {
    const { sources } = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: string[] }
    packages = sources.flatMap(
      (source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1]?.replace('-node20', '') ?? [],
    )
    known.set(file, packages)
  }
  return packages
}
