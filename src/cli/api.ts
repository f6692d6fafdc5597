import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { coerce, fieldsOf } from '../core/fields.js'
import { guess } from '../core/guesses.js'
import type { PageInfo } from '../core/pages.js'
import { API_ROOT } from '../core/wire.js'
import { everyPage } from '../service/lib/everypage.js'
import type { AnyOperation, Call } from '../service/lib/operation.js'
import { withAs } from './lib/command/declaration.js'
import type { Cli } from './lib/connection/session.js'
import { markRequest } from './lib/flags/ascurl.js'
import type { Values } from './lib/flags/fieldoption.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import type { Column } from './lib/output/table.js'
import { tell } from './lib/terminal/terminal.js'
import { readText } from './lib/terminal/textfile.js'

interface Flags extends OutputFlags {
  field?: readonly string[]
  fileField?: readonly string[]
  request?: string
  paginate?: boolean
  jq?: string
  list?: boolean
  dryRun?: boolean
  as?: string
  asCurl?: boolean
}

const collected = (value: string, before: readonly string[] = []): string[] => [...before, value]

export function register(command: Command, cli: Cli): void {
  markRequest(command)
  explain(withAs(command), {
    examples: [
      'api GET /boards',
      'api POST /posts/get -f limit=5 --fields number,title',
      'api POST /boards -f name=Ideas -f display=true',
      'api PATCH /posts -f id=12 -f partial=true -F contentMarkdown=text.md --dry-run',
      'api GET /boards --paginate',
      "api GET /boards --paginate --jq '.boards[].name'",
      'api --list',
    ],
    notes: [
      'Prints the response body of the request. Without a server it runs here, with all permissions. A field is taken as the type that the API document gives it: a number, true or false, or a list with commas. Fields of the path and of the query count too.',
    ],
  })
    .argument('[method]', 'GET, POST, PUT or DELETE (default: GET)')
    .argument('[path]', `Path below ${API_ROOT}, such as /posts`)
    .option('-f, --field <name=value>', 'a field of the request', collected)
    .option('-F, --file-field <name=file>', 'a field whose value is in a file (- for stdin)', collected)
    .option('--paginate', 'print all pages of a list, one after another')
    .option('--jq <expression>', 'print what jq makes of each response; jq has to be installed')
    .option('--list', 'list all requests, with what they do')
    .option('--dry-run', 'check the request and show the result, but change nothing')
    .action(async (method: string | undefined, path: string | undefined, _: unknown, leaf: Command) => {
      const flags = leaf.optsWithGlobals<Flags>()
      const { operations } = await import('../service/index.js')
      if (flags.jq !== undefined && (flags.output !== undefined || flags.fields !== undefined || flags.quiet))
        throw new AppError('USAGE', '--jq says what is printed. Leave -o, --fields and -q out.')
      if (flags.jq !== undefined && (flags.list || flags.asCurl))
        throw new AppError('USAGE', `--jq is for responses. Leave it out with ${flags.list ? '--list' : '--as-curl'}.`)
      if (flags.list) return list(cli, flags, operations)
      const asked = askedOf(method, path)
      const found = operationOf(operations, asked)
      const { op } = found
      if (op.download || op.upload)
        throw new AppError('USAGE', `${op.http.slice(0, op.http.lastIndexOf(' '))} takes or returns a file. Use its command, or curl with a token: ${op.summary}.`) // prettier-ignore
      const input = coerce(op.input, { ...found.input, ...(await fieldsGiven(cli, op, flags)) })
      if (flags.asCurl) {
        if (flags.paginate)
          throw new AppError('USAGE', '--paginate sends several requests. Leave it out with --as-curl.')
        return (await import('./lib/command/ascurl.js')).showRequest(cli, flags, op, input)
      }
      const call = await cli.connect({ as: flags.as, dryRun: flags.dryRun ?? false })
      if (flags.paginate) return paginate(cli, flags, call, op, input)
      await show(cli, flags, await call(op, input))
      if (flags.dryRun && asked.method !== 'GET') tell(cli.terminal, 'Nothing was changed.')
    })
}

const show = (cli: Cli, flags: Flags, body: unknown): Promise<void> => {
  const rows = rowsOf(body)
  const output = flags.json || flags.output === undefined ? 'json' : flags.output
  if (body === undefined) return Promise.resolve() // 204 No Content
  if (flags.jq !== undefined) return import('./lib/output/jq.js').then(({ throughJq }) => throughJq(cli.terminal, flags.jq ?? '.', body)) // prettier-ignore
  return print(cli.terminal, { ...flags, output }, { body, rows, columns: columnsOf(rows), id: (row) => textOf(Object.values(row)[0]), single: false }) // prettier-ignore
}

type Row = Record<string, unknown>

/** The rows of a list, or the one thing that a response has. */
function rowsOf(body: unknown): Row[] {
  if (typeof body !== 'object' || body === null) return []
  const values = Object.values(body)
  const rows: unknown[] = values.find((value) => Array.isArray(value)) ?? values.slice(0, 1)
  const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null
  return rows.every(isRow) ? rows : [body as Row]
}

const columnsOf = (rows: readonly Row[]): Column<Row>[] =>
  Object.keys(rows[0] ?? {}).map((name) => ({ head: name.toUpperCase(), field: name, text: (row) => textOf(row[name]), drop: 0 })) // prettier-ignore

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

interface ApiRequest {
  method: string
  path: string
  query: URLSearchParams
}

function askedOf(method: string | undefined, given: string | undefined): ApiRequest {
  const [first, second] = given === undefined && method?.includes(' ') ? method.split(/ +/, 2) : [method, given]
  const isPathAlone = second === undefined && first?.startsWith('/')
  const [verb, address] = isPathAlone ? ['GET', first] : [first?.toUpperCase(), second]
  if (verb === undefined || address === undefined)
    throw new AppError('USAGE', 'Give a method and a path, such as GET /posts. "feedbackctl api --list" lists all.')
  const [whole = '', ...query] = address.split('?')
  const path = `/${whole.replace(/^\/+|\/+$/g, '')}`
  return {
    method: verb,
    path: path.startsWith(`${API_ROOT}/`) ? path.slice(API_ROOT.length) : path,
    query: new URLSearchParams(query.join('?')),
  }
}

/** The operation of a request, with the fields of its path and its query. Fixed words of a path win over names. */
function operationOf(
  operations: readonly AnyOperation[],
  { method, path, query }: ApiRequest,
): { op: AnyOperation; input: Record<string, string> } {
  const words = path.split('/')
  const matching = operations.flatMap((op) => {
    const [verb, pattern = ''] = op.http.split(' ')
    const parts = pattern.split('/')
    if (parts.length !== words.length) return []
    const params: Record<string, string> = {}
    for (const [index, part] of parts.entries()) {
      const word = words[index] ?? ''
      if (part.startsWith(':') && word !== '') params[part.slice(1)] = decoded(word)
      else if (part !== word) return []
    }
    return [{ op, verb, params }]
  })
  const best = matching
    .filter(({ verb }) => verb === method)
    .toSorted((one, other) => Object.keys(one.params).length - Object.keys(other.params).length)[0]
  if (!best) throw noRequest(operations, { method, path }, matching.map(({ verb = '' }) => verb)) // prettier-ignore
  return { op: best.op, input: { ...Object.fromEntries(query), ...best.params } }
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return word
  }
}

function noRequest(
  operations: readonly AnyOperation[],
  { method, path }: Pick<ApiRequest, 'method' | 'path'>,
  verbs: readonly string[],
): AppError {
  const shown = JSON.stringify(path.slice(0, 100).toWellFormed())
  if (verbs.length > 0)
    return new AppError('USAGE', `The API has no ${method.slice(0, 20)} ${shown}. It has ${[...new Set(verbs)].join(' and ')}.`) // prettier-ignore
  const paths = [...new Set(operations.map(({ http }) => http.split(' ')[1] ?? ''))]
  return new AppError('USAGE', `The API has no path ${shown}.${guess(path, paths)} "feedbackctl api --list" lists all.`)
}

/** The fields given as flags. A secret comes from a file: all users of the machine see the arguments of a command. */
async function fieldsGiven({ terminal }: Cli, op: AnyOperation, flags: Flags): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  const secrets = fieldsOf(op.input).flatMap(({ name, secret }) => (secret ? [name] : []))
  for (const each of flags.field ?? []) {
    const [name, value] = pairOf(each, '-f name=value')
    if (secrets.includes(name)) throw new AppError('USAGE', `${name} is a secret, and all users of this machine can see the arguments of a command. Give it as -F ${name}=FILE, or -F ${name}=- for stdin.`) // prettier-ignore
    found[name] = value
  }
  for (const each of flags.fileField ?? []) {
    const [name, file] = pairOf(each, '-F name=file')
    found[name] = await readText(terminal, file, '-F')
  }
  return found
}

function pairOf(text: string, rule: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new AppError('USAGE', `${JSON.stringify(text.slice(0, 100))} is not a field. Give ${rule}.`)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Prints each page as a response of its own. */
async function paginate(cli: Cli, flags: Flags, call: Call, op: AnyOperation, input: Values): Promise<void> {
  const names = fieldsOf(op.input).map(({ name }) => name)
  if (!names.includes('after') || !names.includes('limit'))
    throw new AppError('USAGE', '--paginate is for lists with pages: requests with the fields limit and after.')
  if (input.page !== undefined || input.after !== undefined)
    throw new AppError('USAGE', '--paginate prints all pages. Leave page and after out.')
  const pages = everyPage<{ page_info: PageInfo }, Row>({
    limit: typeof input.limit === 'number' ? input.limit : 100,
    read: async (place) => (await call(op, { ...input, ...place })) as { page_info: PageInfo },
    rowsOf,
    infoOf: ({ page_info: info }) => info,
  })
  for await (const { answer } of pages) await show(cli, flags, answer)
}

const requestOf = ({ http }: AnyOperation): [string, string] => http.split(' ').slice(0, 2) as [string, string]

const requests: Column<AnyOperation>[] = [
  { head: 'METHOD', text: (op) => requestOf(op)[0], whole: true, drop: 0 },
  { head: 'PATH', text: (op) => requestOf(op)[1], drop: 0 },
  { head: 'WHAT IT DOES', text: ({ summary }) => summary, drop: 1 },
]

function list(cli: Cli, flags: Flags, operations: readonly AnyOperation[]): Promise<void> {
  const rows = operations.toSorted((one, other) => (requestOf(one)[1] < requestOf(other)[1] ? -1 : 1))
  const body = rows.map((op) => ({ method: requestOf(op)[0], path: requestOf(op)[1], summary: op.summary }))
  return print(cli.terminal, flags, { body, rows, columns: requests, id: ({ http }) => http, single: false })
}
