import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import path from 'node:path'
import { Script } from 'node:vm'

// Where the built program starts. It loads chunks as `require` does, and hands V8 what it made of a chunk the last time, so
// that it compiles none of it again. Whatever is wrong with that costs time and nothing else.

interface Chunk {
  exports: unknown
}

type Body = (
  exports: unknown,
  require: (name: string) => unknown,
  module: Chunk,
  filename: string,
  folder: string,
) => void

/** Smaller chunks are compiled sooner than their cache is read. */
const WORTH_IT = 4096
/** Modules of Node that take long to load, and that most commands import for nothing. */
const SELDOM_USED = /^(node:)?(child_process|crypto|fs\/promises|https|http2)$/
const PREFIX = '(function(exports,require,module,__filename,__dirname){'

const here = import.meta.dirname
const native = createRequire(import.meta.filename)
const tag = `${process.versions.v8}-${process.arch}`
/** V8 takes a cache only under the flags under which it was made. Its own number for them is in node:v8, which takes 2 ms to load. */
const flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').trim()
/** Made by the build, for the Node that builds. */
const built = path.join(here, '../cache', tag)
/** Made by the first run for which that one is not right, and looked into first, or a cache that V8 refuses would be tried for ever. */
const home = cacheHome()
const own = path.join(home, 'feedbackctl', flags === '' ? tag : `${tag}-${checksum(flags)}`)
/** What is in it is run, so nobody else may write to any of these: root (sudo) leaves the home of somebody else alone. */
const ownFolders = [home, path.dirname(own), own]
const ownIsSafe = ownFolders.every(isSafe)

/** Chunks that a usual command loads together are in one file too, a pack: the build finds out which. By chunk. */
const packs = JSON.parse(readFileSync(path.join(here, 'packs.json'), 'latin1')) as Record<string, string | undefined>
const opened = new Map<string, Record<string, Body>>()
const chunks = new Map<string, Chunk>()
const compiled = new Map<string, Script>() // without a cache

// In Node 20 nextTick stays slow for good when it is first called with arguments, as some module does: 8 % of what a server does.
process.nextTick(() => {})

// The first is Node's own switch; and only its own loader reads source maps.
if (process.env.NODE_DISABLE_COMPILE_CACHE !== undefined || process.sourceMapsEnabled) native('./main.js')
else {
  process.on('exit', () => keep(compiled))
  load('main.js')
}

function load(name: string): unknown {
  const known = chunks.get(name)
  if (known) return known.exports
  const chunk: Chunk = { exports: {} }
  chunks.set(name, chunk)
  try {
    bodyOf(name)(chunk.exports, required, chunk, path.join(here, name), here)
  } catch (error) {
    chunks.delete(name) // as in Node, whoever asks next gets the error too, not half a chunk
    throw error
  }
  return chunk.exports
}

function bodyOf(name: string): Body {
  const pack = packs[name]
  if (pack === undefined) return compile(name, `${PREFIX}${textOf(name)}\n})`, -PREFIX.length) as Body
  let bodies = opened.get(pack)
  if (!bodies) opened.set(pack, (bodies = compile(pack, textOf(pack)) as Record<string, Body>)) // by the build
  return bodies[name] as Body
}

function required(name: string): unknown {
  if (name.startsWith('./')) return load(name.slice(2))
  return SELDOM_USED.test(name) ? onFirstUse(name) : native(name)
}

/** A module that is loaded when somebody looks into it. */
function onFirstUse(name: string): unknown {
  let found: object | undefined
  const module = () => (found ??= native(name) as object) // Node takes microseconds to find it again
  return new Proxy(
    {},
    {
      get: (_, key) => Reflect.get(module(), key),
      has: (_, key) => Reflect.has(module(), key),
      ownKeys: () => Reflect.ownKeys(module()),
      getOwnPropertyDescriptor(_, key) {
        const descriptor = Reflect.getOwnPropertyDescriptor(module(), key)
        return descriptor && { ...descriptor, configurable: true } // it must be, as the empty object has none
      },
    },
  )
}

function textOf(name: string): string {
  return readFileSync(path.join(here, name), 'latin1') // the build escapes all else
}

function compile(name: string, source: string, columnOffset = 0): unknown {
  const cachedData = source.length < WORTH_IT ? undefined : cacheOf(name)
  const script = new Script(source, {
    filename: path.join(here, name),
    columnOffset,
    ...(cachedData && { cachedData }),
  })
  if (source.length >= WORTH_IT && script.cachedDataRejected !== false) compiled.set(name, script)
  return script.runInThisContext()
}

/** The name of a chunk holds a hash of what is in it, so what was kept under that name is of this very text. */
function cacheOf(name: string): Buffer | undefined {
  const found = ownIsSafe ? ifThere(() => whole(readOwn(path.join(own, name)))) : undefined
  return found ?? ifThere(() => readFileSync(path.join(built, name)))
}

/**
 * What this program has written is there twice, as V8 crashes on what was damaged, which a crash of the machine may do to new files. To
 * compare the two takes less time than to load what makes checksums.
 */
function whole(kept: Buffer): Buffer | undefined {
  const data = kept.subarray(0, kept.length / 2)
  return data.equals(kept.subarray(kept.length / 2)) ? data : undefined
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Asks what it opened, not what lies under that name now. */
function readOwn(file: string): Buffer {
  const opened = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW) // Windows has no O_NOFOLLOW, which adds nothing there
  try {
    const is = fstatSync(opened)
    if (!is.isFile() || !isOnlyMine(is)) throw new Error(`${file} is somebody else's`)
    return readFileSync(opened)
  } finally {
    closeSync(opened)
  }
}

/** A folder, not a link to one. */
function isSafe(folder: string): boolean {
  try {
    const is = lstatSync(folder, { throwIfNoEntry: false })
    return is !== undefined && is.isDirectory() && isOnlyMine(is)
  } catch {
    return false
  }
}

/** Windows knows neither owner nor mode. */
function isOnlyMine({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
}

/** With all functions that ran. Written aside and renamed: two processes may do this at once, or one be killed. */
function keep(scripts: ReadonlyMap<string, Script>): void {
  if (scripts.size === 0) return
  const aside = path.join(own, Math.random().toString(36).slice(2))
  try {
    if (!makeFolders()) return
    for (const [name, script] of scripts) {
      const data = script.createCachedData()
      writeFileSync(aside, Buffer.concat([data, data]), { mode: 0o600, flag: 'wx' }) // never over what is there, nor through a link
      renameSync(aside, path.join(own, name))
    }
  } catch {
    removeIfThere(aside) // it cannot be made, or there is no room in it
  }
}

/** Each only in a safe one; and making whole paths never ends where Linux refuses it with ENOENT, as in /proc. */
function makeFolders(): boolean {
  return ownFolders.every((folder) => {
    if (!existsSync(folder) && isSafe(path.dirname(folder))) mkdirSync(folder, { mode: 0o700 })
    return isSafe(folder)
  })
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // it was not
  }
}

function checksum(text: string): string {
  return (native('node:zlib') as typeof import('node:zlib')).crc32(text).toString(16)
}

function cacheHome(): string {
  const { XDG_CACHE_HOME: chosen = '' } = process.env
  if (path.isAbsolute(chosen)) return chosen
  try {
    return path.join(homedir(), '.cache')
  } catch {
    return path.join(here, '..') // a container's user may have no home
  }
}
