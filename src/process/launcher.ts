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

// Entry point of the built program. Loads chunks like `require`, with V8's code cache, so that no chunk is compiled
// twice.
// A missing or damaged cache costs time and nothing else.

interface Chunk {
  exports: unknown
}

type ChunkFunction = (
  exports: unknown,
  require: (name: string) => unknown,
  module: Chunk,
  filename: string,
  folder: string,
) => void

/** Smaller chunks compile faster than their cache is read. */
const MIN_CACHED_LENGTH = 4096
/** Node modules that are slow to load, and that most commands import but never use. */
const LAZY_MODULES = /^(node:)?(child_process|crypto|fs\/promises|https|http2)$/
const WRAPPER_START = '(function(exports,require,module,__filename,__dirname){'

const here = import.meta.dirname
const nodeRequire = createRequire(import.meta.filename)
const engine = `${process.versions.v8}-${process.arch}`
/** V8 rejects a cache made with other flags. Its own hash of them is in node:v8, which takes 2 ms to load. */
const v8Flags = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').trim()
/** Written by the build, for the Node that runs the build. */
const builtCache = path.join(here, '../cache', engine)
// Under systemd or in a container a user may have no home. There os.homedir() throws, and packages call it as they load.
if (!hasHome()) process.env.HOME = '/'
/** Written when the built cache is rejected. Tried first, so that the rejection is not repeated. */
const cacheHome = findCacheHome()
const userCache = path.join(cacheHome, 'feedbackctl', v8Flags === '' ? engine : `${engine}-${checksum(v8Flags)}`)
/** Cached code is run, so no other user may write to these. Under sudo, root ignores another user's home. */
const userCacheFolders = [cacheHome, path.dirname(userCache), userCache]
const userCacheIsSafe = userCacheFolders.every(isSafeFolder)

/** The pack of each chunk. A pack is one file with chunks that the same commands load, as measured by the build. */
const packs = JSON.parse(readFileSync(path.join(here, 'packs.json'), 'latin1')) as Record<string, string | undefined>
const loadedPacks = new Map<string, Record<string, ChunkFunction>>()
const chunks = new Map<string, Chunk>()
/** The chunks of a server, compressed: an upgrade may remove their files while it runs. */
let archive: Buffer | undefined
let archived: Record<string, string> | undefined
const uncached = new Map<string, Script>()

// By default the signal opens Node's inspector, through which any user of the machine can take the process over. The
// flag --disable-sigusr1 is too new for Node 20, and a script cannot give it.
process.on('SIGUSR1', () => {})

// Everybody sees the arguments of a process, and some hold secrets.
process.title = titleOf(process.argv.slice(2))

// In Node 20, nextTick stays slow if its first call has arguments, as in some modules. That costs a server 8 %.
process.nextTick(() => {})

// The variable is Node's own switch. Source maps work only with Node's own loader.
if (process.env.NODE_DISABLE_COMPILE_CACHE !== undefined || process.sourceMapsEnabled) nodeRequire('./main.js')
else {
  process.on('exit', () => writeUserCache(uncached))
  Reflect.set(globalThis, Symbol.for('feedbackctl.keep'), keep) // for process/program.ts, which is in a chunk
  load('main.js')
}

/** The program and the command: `feedbackctl boards list`. */
function titleOf(args: readonly string[]): string {
  const words = args.slice(0, 2)
  const end = words.findIndex((word) => !/^[a-z-]+$/.test(word) || word.startsWith('-'))
  return ['feedbackctl', ...(end === -1 ? words : words.slice(0, end))].join(' ')
}

function load(name: string): unknown {
  const known = chunks.get(name)
  if (known) return known.exports
  const chunk: Chunk = { exports: {} }
  chunks.set(name, chunk)
  try {
    chunkFunction(name)(chunk.exports, chunkRequire, chunk, path.join(here, name), here)
  } catch (error) {
    chunks.delete(name) // as in Node, so that the next caller gets the error too, not a half-loaded chunk
    throw error
  }
  return chunk.exports
}

function chunkFunction(name: string): ChunkFunction {
  const packName = packs[name]
  const pack = packName === undefined ? undefined : packOf(packName)
  if (pack) return pack[name] as ChunkFunction
  return compile(name, `${WRAPPER_START}${readSource(name)}\n})`, -WRAPPER_START.length) as ChunkFunction
}

/** Undefined if its file is gone. The archive has its chunks. */
function packOf(name: string): Record<string, ChunkFunction> | undefined {
  let pack = loadedPacks.get(name)
  if (!pack) {
    const source = archive ? tryRead(() => readSource(name)) : readSource(name)
    if (source === undefined) return undefined
    pack = compile(name, source) as Record<string, ChunkFunction> // written by the build
    loadedPacks.set(name, pack)
  }
  return pack
}

function chunkRequire(name: string): unknown {
  if (name.startsWith('./')) return load(name.slice(2))
  return LAZY_MODULES.test(name) ? lazyModule(name) : nodeRequire(name)
}

/** A proxy that loads a module on first access. */
function lazyModule(name: string): unknown {
  let loaded: object | undefined
  const module = () => (loaded ??= nodeRequire(name) as object)
  return new Proxy(
    {},
    {
      get: (_, key) => Reflect.get(module(), key),
      has: (_, key) => Reflect.has(module(), key),
      ownKeys: () => Reflect.ownKeys(module()),
      getOwnPropertyDescriptor(_, key) {
        const descriptor = Reflect.getOwnPropertyDescriptor(module(), key)
        // A proxy demands it, as the target lacks the property.
        return descriptor && { ...descriptor, configurable: true }
      },
    },
  )
}

/** The file first, as it may have a code cache. */
function readSource(name: string): string {
  try {
    return readFileSync(path.join(here, name), 'latin1') // the build escapes all other characters
  } catch (error) {
    const source = archive && chunksIn(archive)[name]
    if (source === undefined) throw error
    return source
  }
}

/** Reads the chunks that a server may load later. */
async function keep(): Promise<void> {
  const { readFile } = nodeRequire('node:fs/promises') as typeof import('node:fs/promises')
  archive = await readFile(path.join(here, 'archive.br'))
}

function chunksIn(compressed: Buffer): Record<string, string> {
  const { brotliDecompressSync } = nodeRequire('node:zlib') as typeof import('node:zlib')
  archived ??= JSON.parse(brotliDecompressSync(compressed).toString('latin1')) as Record<string, string>
  return archived
}

function compile(name: string, source: string, columnOffset = 0): unknown {
  const cachedData = source.length < MIN_CACHED_LENGTH ? undefined : readCache(name)
  const script = new Script(source, {
    filename: `dist/cli/${name}`, // the same wherever it was built, because the code cache keeps it
    columnOffset,
    ...(cachedData && { cachedData }),
  })
  if (source.length >= MIN_CACHED_LENGTH && script.cachedDataRejected !== false) uncached.set(name, script)
  return script.runInThisContext()
}

/** A chunk's name contains a hash of its source, so a cache of the same name belongs to the same source. */
function readCache(name: string): Buffer | undefined {
  const found = userCacheIsSafe ? tryRead(() => undamaged(readOwnFile(path.join(userCache, name)))) : undefined
  return found ?? tryRead(() => readFileSync(path.join(builtCache, name)))
}

/**
 * The data of a user cache file, which holds it twice. A crash of the machine may damage new files, and V8 crashes on
 * damaged data. Comparing two copies is faster than loading a module for checksums.
 */
function undamaged(content: Buffer): Buffer | undefined {
  const data = content.subarray(0, content.length / 2)
  return data.equals(content.subarray(content.length / 2)) ? data : undefined
}

function tryRead<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Reads a file that no other user can write to. Checks the open file, which cannot be replaced after the check. */
function readOwnFile(file: string): Buffer {
  // Windows has no O_NOFOLLOW and does not need it.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || !isWritableByMeOnly(stats)) throw new Error(`${file} is not safe to run`)
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** A symbolic link is not safe. */
function isSafeFolder(folder: string): boolean {
  try {
    const stats = lstatSync(folder, { throwIfNoEntry: false })
    return stats !== undefined && stats.isDirectory() && isWritableByMeOnly(stats)
  } catch {
    return false
  }
}

/** Windows has neither owners nor modes. */
function isWritableByMeOnly({ uid, mode }: Stats): boolean {
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
}

/** Called at exit, so that the cache includes all functions that ran. Renames are atomic for concurrent processes. */
function writeUserCache(scripts: ReadonlyMap<string, Script>): void {
  if (scripts.size === 0) return
  const temporary = path.join(userCache, Math.random().toString(36).slice(2))
  try {
    if (!makeCacheFolders()) return
    for (const [name, script] of scripts) {
      const data = script.createCachedData()
      // Never overwrites a file or follows a link.
      writeFileSync(temporary, Buffer.concat([data, data]), { mode: 0o600, flag: 'wx' })
      renameSync(temporary, path.join(userCache, name))
    }
  } catch {
    removeIfExists(temporary) // the folder is read-only, or the disk is full
  }
}

/**
 * Creates each folder only in a safe parent. A recursive mkdir never returns where Linux answers ENOENT, as in /proc.
 */
function makeCacheFolders(): boolean {
  return userCacheFolders.every((folder) => {
    if (!existsSync(folder) && isSafeFolder(path.dirname(folder))) mkdirSync(folder, { mode: 0o700 })
    return isSafeFolder(folder)
  })
}

function removeIfExists(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // it does not exist
  }
}

function checksum(text: string): string {
  return (nodeRequire('node:zlib') as typeof import('node:zlib')).crc32(text).toString(16)
}

function findCacheHome(): string {
  const { XDG_CACHE_HOME: chosen = '' } = process.env
  return path.isAbsolute(chosen) ? chosen : path.join(homedir(), '.cache')
}

function hasHome(): boolean {
  try {
    return homedir() !== ''
  } catch {
    return false
  }
}
