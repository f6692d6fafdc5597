// Tests the last commit on another version of Node:  npm run test:node -- 24 [--smoke | arguments for vitest]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const ROOT = path.resolve(import.meta.dirname, '../..')
const CACHE = path.join(ROOT, 'node_modules/.cache/node')
/** The npm that runs this script. The Node packages on npm contain none, so that Node runs this one. */
const NPM = process.env.npm_execpath ?? ''

const [version = '', ...rest] = process.argv.slice(2)
if (!/^\d+(\.\d+){0,2}$/.test(version) || !NPM.endsWith('.js')) {
  process.stderr.write('Usage: npm run test:node -- VERSION [--smoke | arguments for vitest]\n')
  process.exit(2)
}
const isSmoke = rest[0] === '--smoke'
const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-node-'))
chmodSync(folder, 0o755) // as root, PostgreSQL runs as another user
let child
const stop = () => child?.kill()
process.on('SIGINT', stop).on('SIGTERM', stop)
try {
  await main()
} catch (error) {
  process.stderr.write(`Node ${version}: ${error.message}\n`)
  process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function main() {
  const home = await nodeOf(version)
  const clone = path.join(folder, 'clone')
  await run('git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone])
  const env = environment(home)
  const node = path.join(home, 'bin/node')
  await run(node, [NPM, 'ci'], { cwd: clone, env })
  if (isSmoke) {
    // Users install the package, which brings no development dependencies
    await run(node, [NPM, 'prune', '--omit=dev', '--ignore-scripts'], { cwd: clone, env })
    await run(node, ['test/support/smoke.js'], { cwd: clone, env })
  } else await run(node, ['node_modules/vitest/vitest.mjs', 'run', ...rest], { cwd: clone, env })
}

/** The folder of a Node version, downloaded on first use. */
async function nodeOf(wanted) {
  const name = `node-${process.platform}-${process.arch}`
  const home = path.join(CACHE, wanted, 'node_modules', name)
  if (!existsSync(path.join(home, 'bin/node'))) {
    mkdirSync(path.join(CACHE, wanted), { recursive: true })
    writeFileSync(path.join(CACHE, wanted, 'package.json'), '{ "private": true }\n')
    await run(process.execPath, [NPM, 'install', '--no-save', '--ignore-scripts', `${name}@${wanted}`], {
      cwd: path.join(CACHE, wanted),
      env: withoutNpm(process.env),
    })
  }
  return realpathSync(home)
}

/** Puts that Node first in PATH, for child processes too, and provides its headers for native addons. */
function environment(home) {
  return {
    ...withoutNpm(process.env),
    PATH: [path.join(home, 'bin'), process.env.PATH].join(path.delimiter),
    npm_config_nodedir: home,
  }
}

/** Removes the variables that `npm run` sets. An empty `allow_scripts` would override the one of package.json. */
function withoutNpm(env) {
  const own =
    /^(npm_(package_.*|lifecycle_.*|command|node_execpath|config_(allow_scripts|local_prefix|nodedir))|NODE|INIT_CWD)$/
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.test(name)))
}

async function run(command, args, options = {}) {
  child = spawn(command, args, { stdio: 'inherit', ...options })
  const [code, signal] = await once(child, 'close')
  if (code !== 0)
    throw new Error(`${path.basename(args[0] ?? '')} ${args.slice(1).join(' ')} ended with ${signal ?? code}`)
}
