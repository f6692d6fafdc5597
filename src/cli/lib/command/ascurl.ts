import { requestOf, rootOf, type RequestOf } from '../../../client/request.js'
import { AppError } from '../../../core/errors.js'
import { fieldsOf } from '../../../core/fields.js'
import { escaped } from '../../../core/text.js'
import type { AnyOperation } from '../../../service/lib/operation.js'
import { savedToken } from '../connection/credentials.js'
import type { Cli } from '../connection/session.js'
import type { CurlFlags } from '../flags/ascurl.js'
import type { Values } from '../flags/fieldoption.js'
import { tell, write } from '../terminal/terminal.js'
import { operationFor } from './call.js'
import { assertChange, assertComplete, complete, inputOf } from './input.js'
import type { Invocation } from './invocation.js'

/** Linux takes no argument of 128 KiB. A longer body is written to stdin. */
const MOST_BYTES = 100_000

/** Prints the requests of a command, one for each thing that it names. */
export async function showRequests<Out, Row>(
  invocation: Invocation<Out, Row>,
  given: Values,
  names: readonly string[] | undefined,
): Promise<void> {
  const { cli, leaf, view, shape, flags } = invocation
  const several = [
    flags.everyPage && '--all',
    flags.follow && '--follow',
    flags.ifNotExists && '--if-not-exists',
    leaf.args.includes('-') && 'What stdin says',
  ].find((each) => typeof each === 'string')
  if (several !== undefined) throw new AppError('USAGE', `${several} needs several requests, or none. Leave it out with --as-curl.`) // prettier-ignore
  if (view.requiresChange) assertChange(invocation, given, names !== undefined)
  await assertComplete(invocation, given)
  const quiet = { ...invocation, flags: { ...flags, input: false } }
  const { values } = await complete(quiet, given, { isSeveral: true })
  const show = async (changed: Values) => {
    const input = await inputOf(quiet, changed)
    if (flags.as === undefined || typeof view.as !== 'object')
      return showRequest(cli, flags, operationFor(invocation, input), input)
    const { op: other, fields } = view.as
    return showRequest(cli, { ...flags, as: undefined }, other as AnyOperation, fields(input, flags.as))
  }
  if (!names) return show(values)
  for (const name of names) await show({ ...values, [shape.positional.at(-1) ?? '']: name })
}

interface Options extends Omit<CurlFlags, 'as' | 'output'> {
  as?: string | undefined
  output?: string | undefined
}

/** Prints a request for curl, with its token as a variable of the shell. */
export async function showRequest(
  cli: Cli,
  { as, dryRun = false, json = false, output }: Options,
  op: Pick<AnyOperation, 'http' | 'adapt' | 'input' | 'upload' | 'access'>,
  input: Values,
  { file }: { file?: string | undefined } = {},
): Promise<void> {
  if (as !== undefined) throw new AppError('USAGE', '--as is for the database of this machine. In a request, the token says who acts. Leave it out with --as-curl.') // prettier-ignore
  const secret = fieldsOf(op.input).find(({ name, secret: isSecret }) => isSecret && input[name] !== undefined)
  if (secret) throw new AppError('USAGE', `${secret.name} is a secret, which all users of this machine would see in the arguments of curl. Leave out --as-curl.`) // prettier-ignore
  const config = await cli.config()
  const server = config.get('server')
  const root = rootOf(server ?? config.get('site.url') ?? '')
  const request = requestOf(op, await withKnownIds(cli, op, input), { root, dryRun })
  const hasToken = server === undefined || config.get('token') !== undefined || savedToken(config, server) !== undefined
  const isSigned = hasToken || op.access !== 'public'
  const line = curlLine(request, { isSigned, file })
  if (json || output === 'json') {
    const { method, url, headers, fields = null } = request
    await write(
      cli.terminal,
      `${escaped(JSON.stringify({ method, url: url.href, headers, body: fields, curl: line }))}\n`,
    )
  } else await write(cli.terminal, `${line}\n`)
  if (isSigned && !cli.terminal.env.FEEDBACKCTL_TOKEN && cli.terminal.stderr.isTTY)
    tell(cli.terminal, 'FEEDBACKCTL_TOKEN is not set. "feedbackctl keys create NAME" makes a token for programs.')
}

/** Ids for names that only commands accept, as far as the site can be asked. It is only read. */
async function withKnownIds(cli: Cli, op: Pick<AnyOperation, 'input'>, input: Values): Promise<Values> {
  if (!fieldsOf(op.input).some(({ name, names }) => names !== undefined && input[name] !== undefined)) return input
  try {
    const [{ withIds }, call] = await Promise.all([
      import('../connection/names.js'),
      cli.connect({ glance: true, literal: true }),
    ])
    return await withIds(call, op, input)
  } catch (error) {
    if (error instanceof AppError && error.code === 'AMBIGUOUS_NAME') throw error
    return input // the site cannot be reached, or tells this user nothing
  }
}

/** Single-quoted for any POSIX shell: only the single quote itself needs escaping, not line breaks, `!` or `$`. */
const posixQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

export function curlLine(
  { method, url, headers, fields }: RequestOf,
  { isSigned, file }: { isSigned: boolean; file?: string | undefined },
): string {
  const body = fields === undefined ? undefined : escaped(JSON.stringify(fields))
  const isLong = body !== undefined && Buffer.byteLength(body) > MOST_BYTES
  const words = [
    'curl',
    ...(method === 'GET' ? [] : ['-X', method]),
    ...(/[[\]{}]/.test(url.href) ? ['--globoff'] : []),
    posixQuoted(url.href),
    ...(isSigned ? ['-H', '"Authorization: Bearer $FEEDBACKCTL_TOKEN"'] : []),
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', posixQuoted(`${name}: ${value}`)]),
    ...(body === undefined ? [] : ['-H', "'Content-Type: application/json'"]),
    ...(body === undefined ? [] : isLong ? ['--data-binary', '@-'] : ['--data-raw', posixQuoted(body)]),
    ...(file === undefined || file === '-' ? [] : ['--output', posixQuoted(file)]),
  ]
  // JSON is a single line, so no line of it can be the delimiter of the here-document
  return isLong ? `${words.join(' ')} <<'END'\n${body}\nEND` : words.join(' ')
}
