// Builds the program into dist/:  node esbuild.config.js [--entry src/cli/main.ts] [--outdir dist] [--outbase src]
// With --if-changed, it leaves what was built from the same sources, by the same Node.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { create } from 'fontkitten'

const { values: flags } = parseArgs({
  options: {
    entry: { type: 'string', multiple: true, default: ['src/cli/main.ts'] },
    outdir: { type: 'string', default: 'dist' },
    outbase: { type: 'string', default: 'src' },
    'if-changed': { type: 'boolean', default: false },
  },
})
/** Built beside the output and then put in its place, so that no command ever runs half of a build. */
const outdir = `${flags.outdir}.${process.pid}`
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
const PROGRAM = path.resolve(outdir, 'cli/launcher.js')
const LAUNCHER = 'src/process/launcher.ts'
/** Everything else is bundled, so that installing the package brings only these. */
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
/** Packages that better-sqlite3 and pg ask for themselves. */
const OF_OTHERS = ['bindings', 'pg-native']
/** Cover the languages of the pages: Latin, Greek and Cyrillic, Arabic, Japanese. */
const FONTS = [
  'noto-sans/700Bold/NotoSans_700Bold.ttf',
  'noto-sans-arabic/700Bold/NotoSansArabic_700Bold.ttf',
  'sawarabi-gothic/400Regular/SawarabiGothic_400Regular.ttf',
]
const PACKS = path.join(outdir, 'cli/packs.json')
/** The wrapper of a chunk in a pack, as launcher.ts expects it. */
const WRAPPER = ['function(exports,require,module,__filename,__dirname){\n', '\n}']
const SETUP = 'setup --email ada@example.org --generate-password --mail-url folder:mail'
/** A thread reads files only: it needs no client of PostgreSQL. */
const withoutDatabases = {
  name: 'without-databases',
  setup({ onLoad }) {
    onLoad({ filter: /\/foreigndatabase\.ts$/ }, () => ({
      contents: 'export const fromDatabase = () => async function* () {}; export const ForeignDatabase = undefined',
    }))
  },
}

/** src/db/sqlite/binding.ts says why. */
const bundledRequire = {
  name: 'bundled require',
  setup: (esbuild) =>
    esbuild.onLoad({ filter: /sqlite.binding\.ts$/ }, ({ path: file }) => ({
      contents: readFileSync(file, 'utf8').replace(/^const require = .*$/m, ''),
      loader: 'ts',
    })),
}
/**
 * Writes `\\u` escapes for what is not ASCII: launcher.ts reads Latin-1, and esbuild escapes strings, but no regular
 * expressions. Text of JSX has no escapes, so .tsx files write theirs themselves, and `assertAscii` finds what is left.
 */
const asciiOnly = {
  name: 'ASCII only',
  setup: (esbuild) =>
    esbuild.onLoad({ filter: /\.[cm]?[jt]s$/ }, async ({ path: file }) => {
      const text = await readFile(file, 'utf8')
      if (!NOT_ASCII.test(text)) return undefined
      const contents = text.replaceAll(/(\\*)([^\0-\x7F])/g, (_, slashes, character) => {
        const isEscaped = slashes.length % 2 === 1 // which means the same as the character alone
        return `${isEscaped ? slashes.slice(1) : slashes}\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      })
      return { contents, loader: /\.[cm]?ts$/.test(file) ? 'ts' : 'js' }
    }),
}
const NOT_ASCII = /[^\0-\x7F]/
const SWAGGER_UI = 'node_modules/@fastify/swagger-ui/static'
/** What the page of src/http/api/docspage.ts loads. */
const SWAGGER_UI_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png']
/** The commands that are run most often. Each loads more than those before it, except the one that loads no database. */
const COMMON_COMMANDS = [
  '--version',
  '--help',
  'healthcheck', // containers run it every few seconds
  'boards list --help',
  'boards list',
  'boards list -o table',
  'boards create Ideas --data-dir NEW', // creates a database
  'posts list',
  'users list',
  'boards create Bugs',
  'posts create Hello --body Hello',
  `${SETUP} --data-dir NEW-TOO`,
  'serve --listen 127.0.0.1:0 --config no-mail.toml',
  'serve --listen 127.0.0.1:0',
]
/** How commands end that end with another code than 0. No server listens here. */
const EXIT_CODES = { healthcheck: 6 }
const NO_CACHE = { NODE_DISABLE_COMPILE_CACHE: '1' }

/** Says what the output was built from. */
const SOURCES = path.join(flags.outdir, '.sources')
const sources = hashOfSources()

if (flags['if-changed'] && existsSync(SOURCES) && readFileSync(SOURCES, 'utf8') === sources) process.exit()
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
process.once('exit', () => rmSync(outdir, { recursive: true, force: true }))
let serveChunk
await bundle()
await toCommonJs()
await bundleThreads()
await minifyAssets()
compressFiles()
writeFonts()
if (serveChunk) writeArchive(path.basename(serveChunk))
writeFileSync(PACKS, '{}')
// Without packs and cache the program only starts more slowly. Without better-sqlite3 its first run fails here, and
// `npm ci` ends with that message. The build succeeds, because the dependency is optional and PostgreSQL needs none.
if (flags.outdir === 'dist') writeManPages()
if (flags.outdir === 'dist')
  await optimizeStartup().catch((error) =>
    process.stderr.write(`\nfeedbackctl is built, but its first run failed:\n${error.message}\n`),
  )

writeFileSync(path.join(outdir, '.sources'), sources)
putInPlace()

function putInPlace() {
  const previous = `${outdir}.previous`
  if (existsSync(flags.outdir)) renameSync(flags.outdir, previous)
  renameSync(outdir, flags.outdir)
  rmSync(previous, { recursive: true, force: true })
}

/** A hash of the files that are built, of the packages that they use, and of the Node that runs them. */
function hashOfSources() {
  const hash = createHash('sha256').update(JSON.stringify([flags.entry, process.version]))
  const folders = ['src', ...new Set(flags.entry.map((entry) => path.dirname(entry)))]
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => path.join(folder, name)),
  )
  for (const file of ['esbuild.config.js', 'package.json', 'package-lock.json', ...files.toSorted()])
    if (statSync(file).isFile()) hash.update(`${file}\n`).update(readFileSync(file))
  return hash.digest('hex')
}

/** Bundles and splits, so that a command loads only what it uses. esbuild splits ES modules only. */
async function bundle() {
  const { metafile } = await build({
    ...common,
    metafile: true,
    entryPoints: flags.entry,
    outbase: flags.outbase,
    bundle: true,
    splitting: true,
    format: 'esm',
    entryNames: '[dir]/[name]',
    chunkNames: 'cli/[name]-[hash]',
    plugins: [bundledRequire, asciiOnly],
    external: [...Object.keys(dependencies), ...OF_OTHERS],
  })
  serveChunk = Object.keys(metafile.outputs).find((name) => metafile.outputs[name].entryPoint === 'src/cli/serve.ts')
  if (flags.outdir === 'dist') writeLicenses([...Object.keys(metafile.inputs), SWAGGER_UI])
}

/** Threads, each one file without chunks: a running server keeps its text, and needs no file to start it again. */
async function bundleThreads() {
  await build({
    ...common,
    sourcemap: false,
    entryPoints: {
      'threads/markdown': 'src/core/markdown/worker.ts',
      'threads/checkpoint': 'src/db/sqlite/checkpointthread.ts',
      'threads/images': 'src/core/images/encoder.ts',
      'threads/cards': 'src/core/images/cardpainter.ts',
      'threads/sources': 'src/sources/reader.ts',
    },
    plugins: [withoutDatabases],
    define: { 'import.meta.dirname': '""' }, // they read nothing of the folder of the program
    bundle: true,
    external: OF_OTHERS,
  })
}

/** What src/core/built.ts reads. */
function compressFiles() {
  const [threads, docs] = ['threads', 'docs'].map((name) => path.join(outdir, name))
  mkdirSync(docs)
  const write = (target, file) => writeFileSync(`${target}.gz`, gzipSync(readFileSync(file), { level: 9 }))
  for (const name of SWAGGER_UI_FILES) write(path.join(docs, name), path.join(SWAGGER_UI, name))
  for (const name of readdirSync(threads)) {
    write(path.join(threads, name), path.join(threads, name))
    rmSync(path.join(threads, name))
  }
}

/** Copies the fonts for src/core/images/cardpainter.ts, with a fontconfig file and a list of their code points. */
function writeFonts() {
  const folder = path.join(outdir, 'fonts')
  mkdirSync(folder)
  const points = new Set()
  for (const font of FONTS) {
    const file = createRequire(import.meta.url).resolve(`@expo-google-fonts/${font}`)
    const bytes = readFileSync(file)
    for (const point of create(bytes).characterSet) points.add(point)
    writeFileSync(path.join(folder, path.basename(file)), bytes)
    const [name] = font.split('/', 1)
    const license = path.resolve(path.dirname(file), '../LICENSE_FONT')
    cpSync(license, path.join(folder, `${name}.LICENSE`))
  }
  const ranges = []
  for (const point of Array.from(points).toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last?.[1] === point - 1) last[1] = point
    else ranges.push([point, point])
  }
  writeFileSync(path.join(folder, 'coverage.json.gz'), gzipSync(JSON.stringify(ranges), { level: 9 }))
  writeFileSync(
    path.join(folder, 'fonts.conf'),
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><dir prefix="relative">.</dir></fontconfig>
`,
  )
}

/** The style and the scripts of pages, which browsers load. */
async function minifyAssets() {
  await build({
    entryPoints: ['src/web/assets/*.css', 'src/web/assets/*.js'],
    outdir: path.join(outdir, 'web/assets'),
    minify: true,
    target: ['chrome123', 'firefox120', 'safari17.5'], // these know light-dark()
    legalComments: 'none',
  })
  writeFileSync(path.join(outdir, 'web/assets/package.json'), '{ "type": "module" }\n') // as browsers load them
  for (const name of ['icon.svg', 'icon.png']) cpSync(`src/web/assets/${name}`, path.join(outdir, 'web/assets', name))
}

/** The licenses of the packages that the program contains ask for it. */
function writeLicenses(files) {
  const packages = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []))
  const texts = Array.from(packages).map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
    return [`${name} ${version} (${license})`, ...(file ? ['', readFileSync(path.join(folder, file), 'utf8').trim()] : [])].join('\n') // prettier-ignore
  })
  writeFileSync(path.join(outdir, 'LICENSES.txt'), `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`)
}

/** Node 20 has a code cache for CommonJS only (launcher.ts), and it resolves CommonJS files faster. */
async function toCommonJs() {
  // Before the build: esbuild reads it to interpret default exports.
  writeFileSync(path.join(outdir, 'package.json'), '{ "type": "commonjs" }\n')
  const chunks = readdirSync(outdir, { recursive: true }).filter((name) => name.endsWith('.js'))
  await build({
    ...common,
    entryPoints: [
      ...chunks.map((name) => ({ in: path.join(outdir, name), out: name.slice(0, -'.js'.length) })),
      { in: LAUNCHER, out: 'cli/launcher' },
    ],
    supported: { 'dynamic-import': false },
    define: { 'import.meta.filename': '__filename', 'import.meta.dirname': '__dirname' },
    logOverride: { 'empty-import-meta': 'error' },
    allowOverwrite: true,
  })
  assertAscii()
}

/** Throws where a file of the program has a character that launcher.ts would read wrong. */
function assertAscii() {
  for (const name of readdirSync(outdir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js')) continue
    const found = /.{0,40}[^\0-\x7F]/.exec(readFileSync(path.join(outdir, name), 'utf8'))
    if (found) throw new Error(`${name}: in a .tsx file, a regular expression needs an escape: ${found[0]}`)
  }
}

/** Writes every chunk that `serve` may load, now or later, into a file that a server keeps. */
function writeArchive(first) {
  const folder = path.join(outdir, 'cli')
  const archive = {}
  const names = new Set([first])
  for (const name of names) {
    archive[name] = sourceOf(path.join(folder, name))
    for (const [, required] of archive[name].matchAll(/require\("\.\/([^"]+)"\)/g)) names.add(required)
  }
  const text = Buffer.from(JSON.stringify(archive), 'latin1')
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 5,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  }
  writeFileSync(path.join(folder, 'archive.br'), brotliCompressSync(text, { params }))
}

/** The manual pages, of the command tree itself. npm installs them with the program. */
function writeManPages() {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, '__man', path.join(outdir, 'man')], {
    env: { ...process.env, ...NO_CACHE },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`The manual pages were not written.\n${stderr}`)
}

/** Runs the common commands on a temporary site to write the packs and the code cache. */
async function optimizeStartup() {
  const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-build-'))
  try {
    const site = await makeTemporarySite(folder)
    const packs = await writePacks(site)
    writeFileSync(PACKS, JSON.stringify(packs))
    await fillCache(site)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Sets up a site whose `run` runs a command. `script`, if given, is run instead of the program and must run it. */
async function makeTemporarySite(folder) {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_CACHE_HOME: path.join(folder, 'cache'),
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  }
  const site = {
    folder,
    async run(line, { extraEnv = {}, script = PROGRAM } = {}) {
      const args = line.replace('NEW', `new-${path.basename(script)}`).split(' ')
      const child = spawn(process.execPath, [script, ...args], {
        cwd: folder,
        env: { ...env, ...extraEnv },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let stderr = ''
      child.stderr.on('data', (text) => {
        stderr += text
        const url = /listening on (http:[/\d.:]+)/.exec(text)?.[1]
        const stop = () => child.kill()
        if (url) void fetch(`${url}/api/v1/boards`).then(stop, stop)
      })
      const [code] = await once(child, 'close')
      if (code !== 0 && code !== EXIT_CODES[line]) throw new Error(`$ feedbackctl ${line}\n${stderr}`)
    },
  }
  writeFileSync(path.join(folder, 'no-mail.toml'), '')
  // With a cache, code that creates a database would be cached with code that reads it.
  await site.run(SETUP, { extraEnv: NO_CACHE })
  await site.run('boards create Ideas', { extraEnv: NO_CACHE })
  return site
}

/** Writes chunks that the same commands load into one file, and returns the file of each chunk. */
async function writePacks(site) {
  const folder = path.resolve(outdir, 'cli')
  const [script, report] = [path.join(site.folder, 'loading.cjs'), path.join(site.folder, 'loaded.json')]
  writeFileSync(
    script,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(report)}, JSON.stringify(Object.keys(require.cache))))
     require(${JSON.stringify(PROGRAM)})`,
  )
  const loadedBy = {}
  for (const [index, line] of COMMON_COMMANDS.entries()) {
    await site.run(line, { extraEnv: NO_CACHE, script })
    const files = JSON.parse(readFileSync(report, 'utf8')).filter(
      (file) => path.dirname(file) === folder && path.basename(file) !== 'launcher.js',
    )
    for (const file of files) (loadedBy[path.basename(file)] ??= []).push(index)
  }
  const groups = {}
  for (const [name, lines] of Object.entries(loadedBy)) (groups[lines] ??= []).push(name)
  const packs = {}
  for (const names of Object.values(groups).filter(({ length }) => length > 1)) {
    const bodies = names.map(
      (name) => `${JSON.stringify(name)}:${WRAPPER[0]}${sourceOf(path.join(folder, name))}${WRAPPER[1]}`,
    )
    const text = `({\n${bodies.join(',\n')}\n})\n`
    const pack = `pack-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.js`
    writeFileSync(path.join(folder, pack), text)
    for (const name of names) packs[name] = pack
  }
  return packs
}

/** The source without its source map comment. Line numbers stay the same. */
function sourceOf(file) {
  return readFileSync(file, 'latin1').replace(/\n?\/\/# sourceMappingURL=.*\n?$/, '')
}

/** Runs the common commands and copies the user cache that they leave, so that a first run is as fast as the next. */
async function fillCache(site) {
  await site.run('migrate', { extraEnv: NO_CACHE })
  // First, because the cache has only functions that ran, and a list runs more of the chunks it shares with help.
  for (const line of ['boards list', ...COMMON_COMMANDS]) await site.run(line)
  const cache = path.join(outdir, 'cache')
  cpSync(path.join(site.folder, 'cache/feedbackctl'), cache, { recursive: true })
  // The user cache has mode 0700, but root may build what others run.
  chmodSync(cache, 0o755)
  for (const entry of readdirSync(cache, { recursive: true, withFileTypes: true })) {
    const name = path.join(entry.parentPath, entry.name)
    chmodSync(name, entry.isDirectory() ? 0o755 : 0o644)
    if (entry.isFile()) truncateSync(name, statSync(name).size / 2) // only the user cache holds the data twice
  }
}
