import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { expect, it } from 'vitest'
import { EXIT_CODES, topics } from '../src/cli/help.js'
import { unitOf } from '../src/cli/serviceunit.js'
import { branches } from '../src/cli/tree.js'
import { secondsOf } from '../src/core/durations.js'
import { AppError, errorCodes, statusOf, type ErrorCode } from '../src/core/errors.js'
import { limitNames, LIMITS, REQUESTS, SHARED } from '../src/core/limits.js'
import { declaredFlags, keys, settings, variableOf } from '../src/core/settings.js'
import { codesOf } from '../src/http/api/openapi.js'
import { operations } from '../src/service/index.js'
import type { AnyOperation } from '../src/service/lib/operation.js'
import { pageKeys } from '../src/service/lib/paging.js'
import { importOutput } from './support/importoutput.js'

// What documents say of commands, routes, codes and settings follows from the code. A table between
// `<!-- table: NAME -->`
// and `<!-- end -->` is compared with what the code says, and "npm run golden" writes it anew.

const ROOT = path.join(import.meta.dirname, '..')
const DOCUMENTS = [
  'README.md',
  ...readdirSync(path.join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
const TABLE = /(<!-- table: (.+?) -->\n)([^]*?)(<!-- end -->)/g

const read = (document: string) => readFileSync(path.join(ROOT, document), 'utf8')
const all = DOCUMENTS.map(read).join('\n')
const tableNames = [...all.matchAll(TABLE)].map(([, , name = '']) => name)

it.each(DOCUMENTS)('the tables of %s say what the code says', async (document) => {
  const filled: string[] = []
  let end = 0
  const text = read(document)
  for (const { index, 0: found, 1: open = '', 2: name = '', 3: before = '', 4: close = '' } of text.matchAll(TABLE)) {
    filled.push(text.slice(end, index), open, await tableOf(name, before), close)
    end = index + found.length
  }
  await expect(filled.join('') + text.slice(end)).toMatchFileSnapshot(path.join(ROOT, document))
})

it('every operation, setting, code and command is in a table', () => {
  const nouns = tableNames.flatMap((name) => (name.startsWith('operations ') ? name.split(' ').slice(1) : []))
  expect(nouns.toSorted()).toEqual([...new Set(operations.map(nounOf))].toSorted())
  for (const name of ['settings', 'limits', 'errors', 'exit-codes', 'commands']) expect(tableNames).toContain(name)
})

it('every error code has a meaning, and every exit code is listed', () => {
  const rows = /<!-- table: errors -->\n[^]*?<!-- end -->/.exec(all)?.[0].match(/^\| `.*$/gm) ?? []
  expect(rows).toHaveLength(errorCodes.length)
  expect(rows.filter((row) => !/\| [A-Z].*\. \|$/.test(row))).toEqual([])
  const exits = EXIT_CODES.map(([code]) => Number(code))
  for (const code of errorCodes) {
    const error = new AppError(code, '')
    expect(exits).toContain(error.exit)
    expect(exits).toContain(error.serveExit)
  }
})

it('the systemd unit restarts the server for as long as it takes, and does not cut its shutdown short', () => {
  const unit = unitOf({
    name: 'feedbackctl',
    isUsers: false,
    program: ['feedbackctl'],
    config: '/etc/feedbackctl/config.toml',
  })
  const lines = Object.fromEntries(unit.split('\n').map((line) => line.split(/=(.*)/)))
  expect(lines).toMatchObject({ StartLimitIntervalSec: '0', Restart: 'always', RestartPreventExitStatus: '78' })
  const graces = 5 + 5 // of a worker, and of the process that waits for workers
  expect(Number(lines.TimeoutStopSec)).toBeGreaterThanOrEqual(
    secondsOf(settings['shutdown.timeout'].default ?? '') + graces,
  )
})

/** Variables that systemd sets for a service. */
const OF_SYSTEMD = new Set(['CREDENTIALS_DIRECTORY', 'LISTEN_FDS', 'LISTEN_PID'])

it('every code, variable, route, topic and file that a document mentions exists', () => {
  const variables = new Set(keys.flatMap((key) => [variableOf(key), `${variableOf(key)}_FILE`]))
  const known = (name: string) =>
    errorCodes.includes(name as ErrorCode) || variables.has(name) || topics['environment']?.().includes(name)
  const routes = new Set([...operations.map(routeOf), 'GET /healthz', 'GET /readyz', 'GET /echoz', 'GET /api'])
  const mentioned = (pattern: RegExp, exists: (name: string) => unknown) => {
    const names = [...all.matchAll(pattern)].map(([, name = '']) => name)
    return names.length === 0 ? [`nothing is like ${pattern}`] : names.filter((name) => !exists(name))
  }
  const links = DOCUMENTS.flatMap((document) =>
    [...read(document).matchAll(/\]\((?!https?:|(?:import|fider)-image)([^)#]+)/g)].map(([, link = '']) =>
      path.join(ROOT, path.dirname(document), link),
    ),
  )
  expect(links).not.toEqual([])
  expect({
    names: mentioned(/`([A-Z]+(?:_[A-Z]+)+)(?:=[^`]*)?`/g, (name) => known(name) || OF_SYSTEMD.has(name)),
    codes: mentioned(/^ {2}code {2}(\w+)/gm, (name) => errorCodes.includes(name as ErrorCode)),
    routes: mentioned(/`((?:GET|POST|PUT|PATCH|DELETE) \/[^`?]*)/g, (route) => routes.has(route)),
    topics: mentioned(/feedbackctl help ([a-z-]+)/g, (topic) => topic in topics || topic === 'options'),
    links: links.filter((link) => !existsSync(link)),
  }).toEqual({ names: [], codes: [], routes: [], topics: [], links: [] })
})

async function tableOf(name: string, before: string): Promise<string> {
  const [kind = '', ...words] = name.split(' ')
  if (kind === 'operations') return table(['Route', 'Access', 'Answer', 'Description'], operationRows(words))
  if (kind === 'settings') return table(['Key', 'Flag', 'Variable', 'Default', 'Description'], settingRows())
  if (kind === 'limits') return table(['Setting', 'Default', 'What is counted', 'For an account', 'For an address'], limitRows()) // prettier-ignore
  if (kind === 'errors') return table(['Code', 'HTTP', 'Exit', 'Meaning'], errorRows(before))
  if (kind === 'exit-codes') return table(['Exit', 'Meaning'], EXIT_CODES)
  if (kind === 'import') return `\n\`\`\`\n${await importOutput(words.join(' '))}\`\`\`\n\n`
  if (kind === 'commands') return table(['Command', 'Verbs', 'Description'], await commandRows())
  throw new Error(`There is no table "${name}".`)
}

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  `\n${[heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('')}\n`

const code = (text: string) => `\`${text}\``
const nounOf = (op: AnyOperation) => op.id.split('.')[0] ?? ''
const routeOf = (op: AnyOperation) => op.http.replace(/ \d+$/, '')

const operationRows = (nouns: readonly string[]): string[][] =>
  operations
    .filter((op) => nouns.includes(nounOf(op)))
    .map((op) => [code(routeOf(op)), accessOf(op), answerOf(op), op.summary])

function accessOf({ access }: AnyOperation): string {
  if (access === 'public') return 'everyone'
  if (access === 'signed-in') return 'signed in'
  if (access === 'session') return 'signed in, no key'
  if (access === 'owner') return 'owner'
  return [access].flat().map(code).join(' or ')
}

/** The status, and the keys of the body. */
function answerOf({ http, output }: AnyOperation): string {
  const status = /\d+$/.exec(http)?.[0] ?? ''
  if ('const' in output) return `${status} ${code(String(output.const))}`
  const body = 'properties' in output ? Object.keys(output.properties as object) : []
  const shown = body.filter((key) => !(key in pageKeys) && key !== 'results').map(code)
  return [status, shown.join(', '), ...('page_info' in pageKeys && body.includes('page_info') ? ['paged'] : [])]
    .filter((part) => part !== '')
    .join(' ')
}

const settingRows = (): string[][] =>
  keys.map((key) => {
    const { command, default: preset, derived = preset ?? 'none', description } = settings[key]
    const flags = declaredFlags(key).map(({ flags: flag }) => code(flag.replace(/ .*/, '')))
    const only = command === undefined ? '' : ` (${command})`
    return [code(key), flags.join(', ') + only, code(variableOf(key)), preset ? code(preset) : derived, description]
  })

const limitRows = (): string[][] => [
  [code('limits.requests'), code(REQUESTS), 'requests of every kind, cached or not', '', REQUESTS.replace('/', ' in ')],
  ...limitNames.map((name) => {
    const { accounts, counted } = LIMITS[name]
    const preset = settings[`limits.${name}`].default ?? ''
    const [few, time] = preset.split('/') as [string, string]
    const many = `${Number(few) * SHARED} in ${time}`
    const ofAccount = {
      none: '',
      together: `${few} in ${time}`,
      'by address': `${few} in ${time} from one address, ${many} from all`,
    }
    return [code(`limits.${name}`), code(preset), counted, ofAccount[accounts], accounts === 'none' ? `${few} in ${time}` : many] // prettier-ignore
  }),
]

/** The meanings are written by hand. */
function errorRows(before: string): string[][] {
  const meanings = new Map([...before.matchAll(/^\| `(\w+)` \|.*\| (.*) \|$/gm)].map(([, name, text]) => [name, text]))
  const sent = new Set([...operations.flatMap(codesOf), 'NOT_FOUND', 'BAD_REQUEST'])
  return errorCodes.map((name) => {
    const { status, exit, serveExit } = new AppError(name, '')
    const others = operations.flatMap((op) => op.errors.map(statusOf)).filter((failure) => failure.code === name)
    const statuses = [...new Set([status, ...others.map((failure) => failure.status)])].toSorted((a, b) => a - b)
    const ofServe = serveExit === exit ? '' : ` (serve: ${serveExit})`
    return [code(name), sent.has(name) ? statuses.join(', ') : '', `${exit}${ofServe}`, meanings.get(name) ?? '']
  })
}

const commandRows = async (): Promise<string[][]> =>
  Promise.all(
    branches.map(async ({ name, summary, load }) => {
      const command = new Command(name)
      const { register } = await load()
      register(command, {} as never) // nothing runs
      const verbs = command.commands.flatMap((verb) =>
        verb.commands.length === 0 ? [verb.name()] : verb.commands.map((inner) => `${verb.name()} ${inner.name()}`),
      )
      return [code(name), verbs.join(', '), summary]
    }),
  )
