// Tests on another version of Node:  npm run test:node -- 24 [--smoke [package.tgz] | arguments for vitest]
// It tests a clone of the last commit, or a package that "npm pack" wrote.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const ROOT = path.resolve(import.meta.dirname, '../..')
/** Not in node_modules, which "npm ci" empties. */
const CACHE = path.join(ROOT, '.cache/node')
/** The npm that runs this script. The Node packages on npm contain none, so that Node runs this one. */
const NPM = process.env.npm_execpath ?? ''

/** The versions of npm that must install the package without a warning. */
const NPM_VERSIONS = ['10', '11']
/** About settings of this machine, not about the package. */
const OF_MACHINE = /^npm warn Unknown \w+ config /i

const [version = '', ...rest] = process.argv.slice(2)
if (!/^\d+(\.\d+){0,2}$/.test(version) || !NPM.endsWith('.js')) {
  process.stderr.write('Usage: npm run test:node -- VERSION [--smoke [PACKAGE] | arguments for vitest]\n')
  process.exit(2)
}
const isSmoke = rest[0] === '--smoke'
const file = isSmoke && rest[1] !== undefined ? path.resolve(rest[1]) : undefined
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
  const node = path.join(home, 'bin/node')
  const env = isSmoke && !needsCompiler(node) ? withoutCompiler(home) : environment(home)
  if (file !== undefined) return smokePackage(node, env)
  const clone = path.join(folder, 'clone')
  await run('git', ['clone', '--quiet', '--no-hardlinks', ROOT, clone])
  await run(node, [NPM, 'ci'], { cwd: clone, env, warnings: !isSmoke })
  if (isSmoke) await run(node, ['test/support/smoke.js'], { cwd: clone, env })
  else await run(node, ['node_modules/vitest/vitest.mjs', 'run', ...rest], { cwd: clone, env })
}

/** Installs the package with each npm, and runs what the last has installed. */
async function smokePackage(node, env) {
  let prefix
  for (const wanted of NPM_VERSIONS) {
    const npm = path.join(await fromRegistry('npm', wanted), 'bin/npm-cli.js')
    prefix = path.join(folder, `npm-${wanted}`)
    await run(node, [npm, 'install', '--global', '--prefix', prefix, file], { cwd: folder, env, warnings: false })
  }
  const program = path.join(prefix, 'lib/node_modules/feedbackctl/bin/feedbackctl.js')
  await run(node, [path.join(import.meta.dirname, 'smoke.js'), program], { cwd: folder, env })
}

/** The folder of a Node version. */
async function nodeOf(wanted) {
  return realpathSync(await fromRegistry(`node-${process.platform}-${process.arch}`, wanted))
}

/** The folder of a package, downloaded on first use. */
async function fromRegistry(name, wanted) {
  const cache = path.join(CACHE, `${name}-${wanted}`)
  const home = path.join(cache, 'node_modules', name)
  if (!existsSync(path.join(home, 'package.json'))) {
    mkdirSync(cache, { recursive: true })
    writeFileSync(path.join(cache, 'package.json'), '{ "private": true }\n')
    await run(process.execPath, [NPM, 'install', '--no-save', '--ignore-scripts', `${name}@${wanted}`], {
      cwd: cache,
      env: withoutNpm(process.env),
    })
  }
  return home
}

/** src/db/sqlite/binding.ts says why. */
function needsCompiler(node) {
  return Number(execFileSync(node, ['-p', 'process.versions.napi'])) < 10
}

/** Puts that Node first in PATH, and everything out of reach that a native addon is compiled with. */
function withoutCompiler(home) {
  const nowhere = path.join(folder, 'nowhere')
  const tools = path.join(folder, 'tools')
  mkdirSync(tools)
  // npm runs scripts with a shell, and scripts run npm
  symlinkSync('/bin/sh', path.join(tools, 'sh'))
  symlinkSync(NPM, path.join(tools, 'npm'))
  return {
    ...environment(home),
    PATH: [path.join(home, 'bin'), tools].join(path.delimiter),
    CC: nowhere,
    CXX: nowhere,
    npm_config_python: nowhere,
    npm_config_nodedir: nowhere,
  }
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

/** Runs a command. Without `warnings` it fails where npm warns. */
async function run(command, args, { warnings = true, ...options } = {}) {
  child = spawn(command, args, { stdio: ['inherit', 'inherit', warnings ? 'inherit' : 'pipe'], ...options })
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    errors += text
    process.stderr.write(text)
  })
  const [code, signal] = await once(child, 'close')
  const name = `${path.basename(args[0] ?? '')} ${args.slice(1).join(' ')}`
  if (code !== 0) throw new Error(`${name} ended with ${signal ?? code}`)
  const warned = errors.split('\n').filter((line) => /^npm warn /i.test(line) && !OF_MACHINE.test(line))
  if (warned.length > 0) throw new Error(`${name} warned:\n${warned.join('\n')}`)
}
