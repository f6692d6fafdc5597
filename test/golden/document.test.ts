import path from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Spectral } from '@stoplight/spectral-core'
import { oas } from '@stoplight/spectral-rulesets'
import openapiTypescript, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { expect, it } from 'vitest'
import type { AppError } from '../../src/core/errors.js'
import { parse } from '../../src/core/fields.js'
import { API_ROOT } from '../../src/core/wire.js'
import { openapi } from '../../src/http/api/openapi.js'
import { operations } from '../../src/service/index.js'
import type { AnyOperation } from '../../src/service/lib/operation.js'

// What tools of others make of the API document.

const document = openapi(operations, API_ROOT) as { paths: Record<string, Record<string, Described>> }

it('passes the recommended rules of Redocly', async () => {
  const config = await createConfig({
    extends: ['recommended'],
    // The published API has `/posts/search/{words}` beside `/posts/{post_id}/votes`: the fixed word wins.
    rules: { 'no-ambiguous-paths': 'off' },
  })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([])
})

it('passes the recommended rules of Spectral', async () => {
  const spectral = new Spectral()
  spectral.setRuleset({ extends: [[oas as never, 'recommended']] }) // its own types of a ruleset do not fit
  const problems = await spectral.run(JSON.stringify(document))
  expect(problems.map(({ code, message, path }) => `${code}: ${message} ${path.join('/')}`)).toEqual([])
})

it('requires the fields that the operation requires, and no others', () => {
  const differ = operations.filter((op) => {
    const { parameters = [], requestBody } = describedAs(op)
    const body = requestBody?.content['application/json']?.schema.required ?? []
    const names = [...parameters.filter(({ required }) => required).map(({ name }) => name), ...body]
    return names.toSorted().join() !== missingIn(op).join() || (requestBody?.required ?? false) !== (body.length > 0 || op.upload !== undefined)
  })
  expect(differ.map(({ id }) => id)).toEqual([])
})

it('gives openapi-typescript a client that needs no argument the server can do without', async () => {
  const calls = `
    import createClient from 'openapi-fetch'
    import type { paths } from './api.js'
    const api = createClient<paths>({ baseUrl: '' })
    export const boards: { name: string }[] | undefined = (await api.GET('/boards')).data?.boards
    await api.GET('/boards', { params: { query: { limit: 5, created: 'desc' } } })
    await api.GET('/boards/get', { params: { query: { created: 'ASC' } } })
    await api.GET('/posts/search/{words}', { params: { path: { words: 'dark' } } })
    await api.GET('/posts/{post_id}/activity', { params: { path: { post_id: '1' } } })
    await api.GET('/users')
    await api.GET('/keys')
    await api.GET('/audit')
    await api.GET('/events', { params: { query: { person: 'ada' } } })
    await api.GET('/moderation')
    await api.GET('/roadmaps')
    await api.POST('/posts/get', { body: { page: '2' } })
    await api.POST('/keys', { body: { name: 'sync' } })
    await api.DELETE('/sessions')
    await api.DELETE('/users/profile', { body: { password: '' } })
    await api.DELETE('/users/{user}', { params: { path: { user: 'ada' } } })
    export const secret: string | undefined = (await api.POST('/totp')).data?.secret
    // @ts-expect-error what the operation requires
    await api.POST('/keys', { body: {} })
    // @ts-expect-error a choice that it does not have
    await api.GET('/boards', { params: { query: { created: 'up' } } })
  `
  const { paths, ...rest } = document
  const called = Object.entries(paths).filter(([url]) => calls.includes(`'${url}'`)) // all of them would take seconds
  const types = astToString(await openapiTypescript(JSON.stringify({ ...rest, paths: Object.fromEntries(called) })))
  expect(problemsOf({ 'api.d.ts': types, 'calls.ts': calls })).toEqual([])
})

interface Described {
  parameters?: { name: string; required: boolean }[]
  requestBody?: { required: boolean; content: { 'application/json'?: { schema: { required?: string[] } } } }
}

function describedAs({ http }: AnyOperation): Described {
  const [method = '', url = ''] = http.split(' ')
  return document.paths[url.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] ?? {}
}

/** The fields that the operation asks for when it gets none. */
function missingIn({ input }: AnyOperation): string[] {
  try {
    parse(input, {})
    return []
  } catch (error) {
    return ((error as AppError).errors ?? []).map(({ field }) => field).toSorted()
  }
}

/** What the compiler says of these files, under --strict. */
function problemsOf(files: Record<string, string>): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  }
  const host = ts.createCompilerHost(options)
  const texts = new Map(Object.entries(files).map(([name, text]) => [path.join(import.meta.dirname, name), text]))
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (name) => texts.has(name) || fileExists(name)
  host.readFile = (name) => texts.get(name) ?? readFile(name)
  host.getSourceFile = (name, ...rest) => {
    const text = texts.get(name)
    return text === undefined ? getSourceFile(name, ...rest) : ts.createSourceFile(name, text, ts.ScriptTarget.ES2022)
  }
  const program = ts.createProgram([...texts.keys()], options, host)
  return ts.getPreEmitDiagnostics(program).map((each) => ts.flattenDiagnosticMessageText(each.messageText, '\n'))
}
