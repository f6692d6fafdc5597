import type { TObject, TSchema } from 'typebox'
import { statusOf, type ErrorCode, type Failure } from '../../core/errors.js'
import { SIGN_IN_ERRORS } from '../../service/lib/access.js'
import type { AnyOperation } from '../../service/lib/operation.js'
import { documented, inBody, requiredOf } from './documented.js'
import { tagOf, tags } from './tags.js'

/** The OpenAPI 3.1 document: each operation with its input, its response and every error code. */
export function openapi(operations: readonly AnyOperation[], root: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const op of operations) {
    const [method, url] = op.http.split(' ') as [string, string]
    const path = url.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(op) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'feedbackctl',
      version: '1',
      description: 'The published LogChimp API v1, as this version of feedbackctl serves it.',
      contact: { name: 'The operator of this site' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: root }],
    tags: tags(operations),
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { Error: ERROR },
    },
  }
}

/** Every error code of an operation: its own, those of access control, and those of the server. */
export const codesOf = (op: AnyOperation): ErrorCode[] => failuresOf(op).map((failure) => statusOf(failure).code)

function failuresOf(op: AnyOperation): Failure[] {
  const { access } = op
  const checks: Failure[] = [
    'VALIDATION_ERROR',
    ...(op.mails ? (['MAIL_CONFIG_MISSING'] as const) : []),
    ...(access === 'public' ? [] : SIGN_IN_ERRORS),
    ...(op.writes ? (['EMAIL_NOT_VERIFIED'] as const) : []),
    ...(access === 'public' || access === 'signed-in' ? [] : (['NOT_ENOUGH_PERMISSION'] as const)),
  ]
  const body: Failure[] = op.http.startsWith('GET')
    ? []
    : ['INVALID_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE']
  return [
    ...new Set([
      ...checks,
      ...op.errors,
      ...body,
      'DECODE_URI_ERROR',
      'RATE_LIMITED',
      'SERVER_ERROR',
      'DATABASE_UNREACHABLE',
      ...(op.download || op.upload ? (['SERVER_BUSY'] as const) : []),
      ...(op.upload ? (['BAD_REQUEST', 'BAD_REQUEST 408'] as const) : []),
      ...(op.http.startsWith('GET') ? [] : (['STORAGE_FULL'] as const)),
    ] as Failure[]),
  ]
}

function describe(op: AnyOperation): object {
  const [method, url, status] = op.http.split(' ') as [string, string, string]
  const inPath = [...url.matchAll(/:(\w+)/g)].map(([, name]) => name)
  const properties = Object.entries(op.input.properties)
  const required = requiredOf(op.input)
  const inQuery = method === 'GET' || op.upload !== undefined
  const parameters = properties
    .filter(([name]) => inQuery || inPath.includes(name))
    .map(([name, schema]) => parameter(name, schema, inPath.includes(name) ? 'path' : 'query', required.includes(name)))
  const success = { description: op.summary, ...(status !== '204' && { content: contentOf(op) }) }
  return {
    operationId: op.id,
    summary: op.summary,
    description: [accessOf(op), ...(op.upload ? [RECEIVED] : op.download ? [STREAMED] : [])].join(' '),
    tags: [tagOf(op)],
    ...(op.access === 'public' ? { security: [{}, { bearer: [] }] } : { security: [{ bearer: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(op.upload && { requestBody: { required: true, content: bodiesOf(op.upload) } }),
    ...(!inQuery && {
      requestBody: {
        required: required.some((name) => !inPath.includes(name)),
        content: json(bodyOf(op.input, inPath)),
      },
    }),
    responses: { [status]: success, ...failures(failuresOf(op)) },
  }
}

/** Who may call it. */
function accessOf({ access }: AnyOperation): string {
  if (access === 'public') return 'No account is needed.'
  if (access === 'signed-in') return 'Any account may call it.'
  if (access === 'session') return 'Any account may call it, but not with an API key.'
  if (access === 'owner') return 'Only the owner of the site may call it.'
  return `The account needs the permission ${[access].flat().join(' or ')}.`
}

const parameter = (name: string, schema: TSchema, where: string, required: boolean) => {
  const { description, ...rest } = documented(schema)
  return {
    name,
    in: where,
    required,
    ...(description !== undefined && { description }),
    schema: rest,
    ...(rest.type === 'array' && { style: 'form', explode: false }),
  }
}

function bodyOf(input: TObject, inPath: (string | undefined)[]): object {
  const own = Object.entries(input.properties).filter(([name]) => !inPath.includes(name))
  const required = requiredOf(input).filter((name) => !inPath.includes(name))
  return {
    type: 'object',
    properties: Object.fromEntries(own.map(([name, schema]) => [name, inBody(schema)])),
    ...(required.length > 0 && { required }),
  }
}

function failures(all: Failure[]): object {
  const known = all.map(statusOf)
  const statuses = [...new Set(known.map(({ status }) => status))].toSorted((a, b) => a - b)
  return Object.fromEntries(
    statuses.map((status) => {
      const group = known.filter((each) => each.status === status).map(({ code }) => code)
      const schema = {
        allOf: [{ $ref: '#/components/schemas/Error' }, { type: 'object', properties: { code: { enum: group } } }],
      }
      return [status, { description: group.join(', '), content: json(schema) }]
    }),
  )
}

const json = (schema: object) => ({ 'application/json': { schema } })

/** A constant text is sent as plain text, and a download as what it declares. */
const contentOf = ({ output, download }: AnyOperation) =>
  Object.fromEntries(
    (download?.types ?? ['const' in output ? 'text/plain' : 'application/json']).map((type) => [
      type,
      { schema: documented(output) },
    ]),
  )

const STREAMED =
  'The response is sent while it is read. If it fails on the way, the connection ends before the last chunk.'

const RECEIVED =
  'The body is received while it is worked on, and the answer is sent meanwhile. What the answer has is stored, even if the rest of the body never arrives.'

/** An upload has text of any length. */
const bodiesOf = ({ accepts }: NonNullable<AnyOperation['upload']>) =>
  Object.fromEntries(accepts.map((type) => [type, { schema: { type: 'string' } }]))

const ERROR = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'string', description: 'For machines' },
    message: { type: 'string', description: 'For people' },
    why: { type: 'string' },
    passwordToken: {
      type: 'string',
      description: 'With TOTP_REQUIRED: send it in place of the password, with the code; valid for ten minutes',
    },
    errors: {
      type: 'array',
      description: 'With VALIDATION_ERROR: each field that is not valid',
      items: {
        type: 'object',
        required: ['code', 'message', 'field', 'rule'],
        properties: {
          code: { type: 'string' },
          message: { type: 'string' },
          field: { type: 'string' },
          rule: { type: 'string' },
          value: {},
        },
      },
    },
  },
}
