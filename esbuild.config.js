// Builds the program into dist/:  node esbuild.config.js [--entry src/cli/main.ts] [--outdir dist] [--outbase src]
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'

const { values: flags } = parseArgs({
  options: {
    entry: { type: 'string', default: 'src/cli/main.ts' },
    outdir: { type: 'string', default: 'dist' },
    outbase: { type: 'string', default: 'src' },
  },
})
const { outdir } = flags
const common = {
  format: 'cjs',
  platform: 'node',
  target: 'node20',
  minify: true,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none',
  outdir,
}
const PROGRAM = path.resolve('bin/feedbackctl.js')
const START = 'src/process/launcher.ts'
const PACKS = path.join(outdir, 'cli/packs.json')
/** Around a chunk in a pack, as in launcher.ts. */
const WRAPPED = ['function(exports,require,module,__filename,__dirname){\n', '\n}']
const SETUP = 'setup --email ada@example.org --generate-password --mail-url folder:mail'
/** src/db/sqlite/binding.ts says why. */
const bundledRequire = {
  name: 'bundled require',
  setup: (esbuild) =>
    esbuild.onLoad({ filter: /sqlite.binding\.ts$/ }, ({ path: file }) => ({
      contents: readFileSync(file, 'utf8').replace(/^const require = .*$/m, ''),
      loader: 'ts',
    })),
}
/** What people run most, each after what loads less. */
const USUAL = [
  '--version',
  '--help',
  'boards list --help',
  'boards list',
  'boards list -o table',
  'boards list --data-dir NEW', // makes a database
  'posts list',
  'users list',
  'boards create Bugs',
  'posts create Hello --body Hello',
  `${SETUP} --data-dir NEW-TOO`,
  'serve --listen 127.0.0.1:0 --config no-mail.toml',
  'serve --listen 127.0.0.1:0',
]
const UNCACHED = { NODE_DISABLE_COMPILE_CACHE: '1' }

rmSync(outdir, { recursive: true, force: true })
await bundle()
await toCommonJs()
writeFileSync(PACKS, '{}')
// Without these the program only starts slower. On a machine without better-sqlite3 this is its first run, and `npm ci` ends with what is
// missing. That is no failure: npm drops an optional dependency that cannot be built, and PostgreSQL needs none.
if (flags.outdir === 'dist')
  await quicken().catch((error) =>
    process.stderr.write(`\nfeedbackctl is built, but its first run failed:\n${error.message}\n`),
  )

/** Bundles and splits, so that a command loads what it uses; esbuild splits only modules. */
async function bundle() {
  await build({
    ...common,
    entryPoints: [flags.entry],
    outbase: flags.outbase,
    bundle: true,
    splitting: true,
    format: 'esm',
    entryNames: '[dir]/[name]',
    chunkNames: 'cli/[name]-[hash]',
    plugins: [bundledRequire],
    external: ['bindings', '@node-rs/argon2', '@fastify/swagger', '@fastify/swagger-ui', 'pg-native'],
  })
}

/** Node 20 keeps compiled code only of what is no module (launcher.ts), and finds such files sooner. */
async function toCommonJs() {
  writeFileSync(path.join(outdir, 'package.json'), '{ "type": "commonjs" }\n') // first: it also tells esbuild how a chunk's default export is imported
  const chunks = readdirSync(outdir, { recursive: true }).filter((name) => name.endsWith('.js'))
  await build({
    ...common,
    entryPoints: [
      ...chunks.map((name) => ({ in: path.join(outdir, name), out: name.slice(0, -'.js'.length) })),
      { in: START, out: 'cli/launcher' },
    ],
    supported: { 'dynamic-import': false },
    define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
    logOverride: { 'empty-import-meta': 'error' },
    allowOverwrite: true,
  })
}

/** Runs what people run most, on a throwaway site. */
async function quicken() {
  const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-build-'))
  try {
    const site = await throwawaySite(folder)
    const packs = await packed(site)
    writeFileSync(PACKS, JSON.stringify(packs))
    await fillCache(site)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What is run here, and in which environment; `script` is run instead of the program, and runs it. */
async function throwawaySite(folder) {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_CACHE_HOME: path.join(folder, 'cache'),
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  }
  const site = {
    folder,
    async run(line, { more = {}, script = PROGRAM } = {}) {
      const args = line.replace('NEW', `new-${path.basename(script)}`).split(' ')
      const child = spawn(process.execPath, [script, ...args], {
        cwd: folder,
        env: { ...env, ...more },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let said = ''
      child.stderr.on('data', (text) => {
        said += text
        const url = /listening on (http:[/\d.:]+)/.exec(text)?.[1]
        const stop = () => child.kill()
        if (url) void fetch(`${url}/api/v1/boards`).then(stop, stop)
      })
      const [code] = await once(child, 'close')
      if (code !== 0) throw new Error(`$ feedbackctl ${line}\n${said}`)
    },
  }
  writeFileSync(path.join(folder, 'no-mail.toml'), '')
  await site.run(SETUP, { more: UNCACHED }) // or what makes a database would be kept with what reads it
  await site.run('boards create Ideas', { more: UNCACHED })
  return site
}

/** Puts chunks that are loaded by the same of these lines into one file, and returns in which each is. */
async function packed(site) {
  const folder = path.resolve(outdir, 'cli')
  const [script, list] = [path.join(site.folder, 'loading.cjs'), path.join(site.folder, 'loaded.json')]
  writeFileSync(
    script,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify(Object.keys(require.cache))))
     require(${JSON.stringify(PROGRAM)})`,
  )
  const loadedBy = {}
  for (const [index, line] of USUAL.entries()) {
    await site.run(line, { more: UNCACHED, script })
    const files = JSON.parse(readFileSync(list, 'utf8')).filter(
      (file) => path.dirname(file) === folder && path.basename(file) !== 'launcher.js',
    )
    for (const file of files) (loadedBy[path.basename(file)] ??= []).push(index)
  }
  const groups = {}
  for (const [name, lines] of Object.entries(loadedBy)) (groups[lines] ??= []).push(name)
  const packs = {}
  for (const names of Object.values(groups).filter(({ length }) => length > 1)) {
    const bodies = names.map(
      (name) => `${JSON.stringify(name)}:${WRAPPED[0]}${sourceOf(path.join(folder, name))}${WRAPPED[1]}`,
    )
    const text = `({\n${bodies.join(',\n')}\n})\n`
    const pack = `pack-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.js`
    writeFileSync(path.join(folder, pack), text)
    for (const name of names) packs[name] = pack
  }
  return packs
}

/** Each of its lines stays a line. */
function sourceOf(file) {
  return readFileSync(file, 'latin1').replace(/\n?\/\/# sourceMappingURL=.*\n?$/, '')
}

/** Takes the cache that this leaves: the first command is as fast as the next. */
async function fillCache(site) {
  for (const line of ['boards list', ...USUAL]) await site.run(line) // a list needs more of what help needs too
  const cache = path.join(outdir, 'cache')
  cpSync(path.join(site.folder, 'cache/feedbackctl'), cache, { recursive: true })
  // It was made for its owner only, but may be built by root and run by others.
  chmodSync(cache, 0o755)
  for (const entry of readdirSync(cache, { recursive: true, withFileTypes: true })) {
    const name = path.join(entry.parentPath, entry.name)
    chmodSync(name, entry.isDirectory() ? 0o755 : 0o644)
    if (entry.isFile()) truncateSync(name, statSync(name).size / 2) // what a package brings is as whole as its program, and there once
  }
}
