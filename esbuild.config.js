// Builds the program into dist/:  node esbuild.config.js [--entry src/cli/main.ts] [--outdir dist] [--outbase src]
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
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
const common = { format: 'cjs', platform: 'node', target: 'node20', minify: true, sourcemap: 'linked', sourcesContent: false, legalComments: 'none', outdir }
const START = 'src/cli/start.ts'

rmSync(outdir, { recursive: true, force: true })
await bundle()
await toCommonJs()
// Without it everything works, so a machine on which the program does not run yet (no better-sqlite3) can build it too.
if (flags.outdir === 'dist') await fillCache().catch((error) => process.stderr.write(`Nothing was kept of what was compiled: ${error.message}\n`))

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
    external: ['better-sqlite3', '@node-rs/argon2', '@fastify/swagger', '@fastify/swagger-ui', 'pg-native'],
  })
}

/** Node 20 keeps compiled code only of what is no module (start.ts), and finds such files sooner. */
async function toCommonJs() {
  writeFileSync(path.join(outdir, 'package.json'), '{ "type": "commonjs" }\n') // first: it also tells esbuild how a chunk's default export is imported
  const chunks = readdirSync(outdir, { recursive: true }).filter((name) => name.endsWith('.js'))
  await build({
    ...common,
    entryPoints: [...chunks.map((name) => ({ in: path.join(outdir, name), out: name.slice(0, -'.js'.length) })), { in: START, out: 'cli/start' }],
    supported: { 'dynamic-import': false },
    define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
    logOverride: { 'empty-import-meta': 'error' },
    allowOverwrite: true,
  })
}

/** Runs what people run most, on a throwaway site, and takes the cache that this leaves: the first command is as fast as the next. */
async function fillCache() {
  const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-build-'))
  try {
    const cache = path.join(outdir, 'cache')
    cpSync(await cacheLeftIn(folder), cache, { recursive: true })
    // It was made for its owner only, but may be built by root and run by others.
    chmodSync(cache, 0o755)
    for (const entry of readdirSync(cache, { recursive: true, withFileTypes: true }))
      chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function cacheLeftIn(folder) {
  const env = { PATH: process.env.PATH, HOME: folder, XDG_CACHE_HOME: path.join(folder, 'cache'), XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const program = path.resolve('bin/feedbackctl.js')
  const run = (line, more = {}) => {
    const { status, stderr } = spawnSync(process.execPath, [program, ...line.split(' ')], { cwd: folder, env: { ...env, ...more }, encoding: 'utf8' })
    if (status !== 0) throw new Error(`feedbackctl ${line}: ${stderr}`)
  }
  const uncached = { NODE_DISABLE_COMPILE_CACHE: '1' } // or what makes a database would be kept with what reads it
  const setup = 'setup --email ada@example.org --generate-password --mail-url folder:mail'
  run(setup, uncached)
  run('boards create Ideas', uncached)
  for (const line of ['--help', 'boards list -o table', 'posts list', 'users list', 'boards create Bugs', 'posts create Hello --body Hello']) run(line)
  run(setup, { XDG_DATA_HOME: path.join(folder, 'new') })
  const server = spawn(process.execPath, [program, 'serve', '--listen', '127.0.0.1:0'], { cwd: folder, env })
  const stop = () => server.kill()
  server.stderr.once('data', (line) => void fetch(`${/http:[/\d.:]+/.exec(line)?.[0]}/api/v1/boards`).then(stop, stop))
  await new Promise((resolve) => server.once('close', resolve))
  return path.join(folder, 'cache/feedbackctl')
}
