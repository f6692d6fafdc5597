import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { importFiles } from '../../src/cli/lib/server/importfiles.js'
import { importRuns } from '../../src/jobs/importruns.js'
import { DRY_RUN_HEADER } from '../../src/core/wire.js'
import * as boards from '../../src/service/boards.js'
import * as users from '../../src/service/users.js'
import { cleanup, engines, makeSite, type Engine, type TestSite } from '../support/site.js'

type Files = ReturnType<typeof importFiles>

const ideas = 'title\nOne\nTwo\n'
const noLines = async function* () {}
const log = { info() {}, warn() {}, error() {} }

/** A folder of data, with the files that servers with it find. */
function disk() {
  const folder = mkdtempSync(path.join(tmpdir(), 'importruns-'))
  cleanup(() => rmSync(folder, { recursive: true, force: true }))
  const left = () => readdirSync(folder)
  return { files: importFiles(folder), left, folder }
}

async function siteWith(engine: Engine, files: Files) {
  const site = await makeSite(engine, { imports: { lines: noLines, files } })
  const token = await site.owner()
  const send = (query: string, body = ideas, by = token) =>
    site.http(`POST /import/runs?${query}`, { token: by, body: Buffer.from(body), headers: { 'content-type': 'application/octet-stream' } }) // prettier-ignore
  const confirm = (runId: string) => site.http('POST /import/runs/confirm', { token, body: { runId } })
  const cancel = (runId: string) => site.http('POST /import/runs/cancel', { token, body: { runId } })
  const shown = async () => (await site.http('GET /import/runs', { token })).body.run
  const titles = async () => (await site.db.selectFrom('posts').select('title').orderBy('title').execute()).map(({ title }) => title) // prettier-ignore
  return { site, token, send, confirm, cancel, shown, titles }
}

/** A server of the site: what its job does at one look. */
function serverOf({ base, db, clock }: TestSite, files: Files) {
  const job = importRuns({ ...base, imports: { lines: noLines, files } })
  return (signal = new AbortController().signal) => job.run({ db, now: () => clock.now, log, signal })
}

const later = (site: TestSite, seconds: number) => (site.clock.now = new Date(site.clock.now.getTime() + seconds * 1000)) // prettier-ignore

describe.each(engines)('imports in the background on %s', (engine) => {
  it('are done by the server with the file, one at a time and once', async () => {
    const [here, elsewhere] = [disk(), disk()]
    const { site, send, confirm, shown, titles, token } = await siteWith(engine, here.files)
    const [first, second, other] = [serverOf(site, here.files), serverOf(site, here.files), serverOf(site, elsewhere.files)] // prettier-ignore
    expect(await shown()).toBe(null)
    const { status, body } = await send('isCheck=true&name=ideas.csv')
    expect([status, body.run.state, body.run.by]).toEqual([201, 'waiting', 'Ada'])
    const [folder = ''] = here.left()
    const [file = ''] = readdirSync(path.join(here.folder, folder))
    expect([statSync(path.join(here.folder, folder)).mode & 0o777, statSync(path.join(here.folder, folder, file)).mode & 0o777]).toEqual([0o700, 0o600]) // prettier-ignore

    expect(await send('isCheck=true')).toMatchObject({ status: 409, body: { code: 'IMPORT_RUNNING' } })
    expect(here.left()).toEqual([folder])
    const streamed = await site.http('POST /import/file', { token, body: Buffer.from(ideas), headers: { 'content-type': 'application/octet-stream' } }) // prettier-ignore
    expect(streamed).toMatchObject({ status: 409, body: { code: 'IMPORT_RUNNING' } })

    await other()
    expect((await shown()).state).toBe('waiting')
    await Promise.all([first(), second(), other()])
    expect(await shown()).toMatchObject({ state: 'checked', isKept: true, result: { product: 'csv' } })
    expect([await titles(), here.left()]).toEqual([[], [folder]])

    const [one, two] = await Promise.all([confirm(body.run.runId), confirm(body.run.runId)])
    expect([one.status, two.status].toSorted((a, b) => a - b)[0]).toBe(202)
    expect([one.status, two.status].toSorted((a, b) => a - b)[1]).toBeGreaterThan(400)
    expect((await shown()).done).toContainEqual({ type: 'post', done: 0, found: 2 })
    await Promise.all([first(), second(), other()])
    const done = await shown()
    expect(done).toMatchObject({ state: 'done', isKept: false, result: { isBalanced: true } })
    expect(done.done).toContainEqual({ type: 'post', done: 2, found: 2 })
    expect([await titles(), here.left()]).toEqual([['One', 'Two'], []])
    expect(await confirm(done.runId)).toMatchObject({ status: 404, body: { code: 'IMPORT_NOT_FOUND' } })
  })

  it('that a server has left are said to have stopped, and the same file goes on', async () => {
    const { files, left } = disk()
    const { site, send, confirm, shown, titles } = await siteWith(engine, files)
    const { runId } = (await send('')).body.run
    const at = new Date(site.clock.now.getTime() + 60_000).toISOString() // of a server whose clock goes ahead
    await site.db.updateTable('import_runs').set({ startedAt: at, seenAt: at }).where('runId', '=', runId).execute()
    const [server, other] = [serverOf(site, files), serverOf(site, disk().files)]
    await Promise.all([server(), other()])
    later(site, 10)
    await server()
    expect((await shown()).state).toBe('running')
    later(site, 10)
    await other() // without the file
    expect((await shown()).state).toBe('stopped')
    expect(left()).toHaveLength(1)
    await serverOf(site, files)() // which starts
    expect(left()).toEqual([])

    // A server that stops ends it itself
    const stopping = new AbortController()
    await send('')
    stopping.abort()
    await server(stopping.signal)
    expect((await shown()).state).toBe('stopped')
    expect(left()).toEqual([])

    // No server has the file
    const lost = (await send('')).body.run
    await files.remove((await files.ids())[0] ?? '')
    await server()
    expect((await shown()).state).toBe('waiting')
    later(site, 20)
    await server()
    expect(await shown()).toMatchObject({ runId: lost.runId, state: 'stopped' })

    await send('isCheck=true')
    await server()
    await confirm((await shown()).runId)
    await server()
    expect([(await shown()).state, await titles()]).toEqual(['done', ['One', 'Two']])
  })

  it('end where somebody cancels them, and what was done stays', async () => {
    const { files, left } = disk()
    const people = (from: number) => Array.from({ length: 8001 }, (_, at) => ({ type: 'person', sourceId: `${from + at}` })) // prettier-ignore
    let cancelled: () => Promise<unknown> = () => Promise.resolve()
    const slow: Files = {
      ...files,
      open: async () => ({
        product: 'records',
        preview: undefined,
        bytes: noLines,
        async *records() {
          yield { type: 'nonsense' }
          yield* people(0)
          await cancelled()
          yield* people(10_000)
          yield* people(20_000)
        },
      }),
    }
    const { site, send, cancel, shown } = await siteWith(engine, slow)
    const server = serverOf(site, slow)
    const count = async () => (await site.db.selectFrom('users').select('userId').execute()).length
    const { runId } = (await send('')).body.run
    cancelled = async () => {
      await vi.waitUntil(async () => (await shown()).done.some(({ type, done }: { type: string; done: number }) => type === 'person' && done > 0), { timeout: 30_000 }) // prettier-ignore
      expect(await cancel(runId)).toMatchObject({ status: 202, body: { run: { state: 'running', isCancelled: true } } })
      const { seenAt } = await site.db.selectFrom('import_runs').select('seenAt').executeTakeFirstOrThrow()
      later(site, 1)
      await vi.waitUntil(async () => (await site.db.selectFrom('import_runs').select('seenAt').executeTakeFirstOrThrow()).seenAt !== seenAt, { timeout: 30_000 }) // prettier-ignore
    }
    await server()
    expect(await shown()).toMatchObject({ state: 'cancelled', isCancelled: true, error: null, refused: 1 })
    const there = await count()
    expect(there).toBeGreaterThan(6000)
    expect(there).toBeLessThan(20_000)
    expect(left()).toEqual([])

    // One that waits, too
    const waiting = (await send('')).body.run
    await cancel(waiting.runId)
    await server()
    expect([(await shown()).state, await count(), left()]).toEqual(['cancelled', there, []])
  })

  it('end at once where the file says nothing for long, also when the server ends', async () => {
    const { files, left } = disk()
    let [reading, ended] = [0, 0]
    const silent: Files = {
      ...files,
      open: async () => ({
        product: 'records',
        preview: undefined,
        bytes: noLines,
        async *records(_note, signal) {
          reading += 1
          try {
            await once(signal ?? new AbortController().signal, 'abort')
            yield {}
          } finally {
            ended += 1
          }
        },
      }),
    }
    const { site, send, cancel, shown } = await siteWith(engine, silent)
    const server = serverOf(site, silent)
    const begun = (times: number) => vi.waitUntil(() => reading === times, { timeout: 30_000 })
    const { runId } = (await send('')).body.run
    const working = server()
    await begun(1)
    await cancel(runId)
    await working
    expect([(await shown()).state, ended, left()]).toEqual(['cancelled', 1, []])
    const stop = new AbortController()
    await send('')
    const stopping = server(stop.signal)
    await begun(2)
    stop.abort()
    await stopping
    expect([(await shown()).state, ended, left()]).toEqual(['stopped', 2, []])
  })

  it('hold back other imports, but no dry run', async () => {
    const { files } = disk()
    const { site, send, token } = await siteWith(engine, files)
    await send('')
    const record = '{"type":"tag","sourceId":"1","name":"UI"}\n'
    const others = (type: string, headers = {}) => (path: string) => site.http(path, { token, body: record, headers: { 'content-type': type, ...headers } }) // prettier-ignore
    const refused = { status: 409, body: { code: 'IMPORT_RUNNING' } }
    expect(await others('application/x-ndjson')('POST /import/records?source=x')).toMatchObject(refused)
    expect(await others('application/jsonl')('POST /import/site')).toMatchObject(refused)
    expect((await others('application/x-ndjson', { [DRY_RUN_HEADER]: '1' })('POST /import/records?source=x')).status).toBe(200) // prettier-ignore
    await serverOf(site, files)()
    expect((await others('application/x-ndjson')('POST /import/records?source=x')).status).toBe(200)
  })

  it('lose the lines that have the address of a person who goes, and nothing else', async () => {
    const { files } = disk()
    const { site, send, shown } = await siteWith(engine, files)
    const server = serverOf(site, files)
    const ann = await site.member([], { email: 'ann_100%@example.org' })
    // A name that is in every answer
    const bob = await site.member([], { email: 'bob@example.org' })
    await site.db.updateTable('users').set({ name: 'post' }).where('userId', '=', bob.userId).execute()
    const kept = async () => ({
      previews: (await site.db.selectFrom('import_runs').select('result').orderBy('askedAt').execute()).map(
        ({ result }) => result?.includes('preview'),
      ),
      refused: (await site.db.selectFrom('import_refusals').select('text').execute()).map(
        ({ text }) => text.split('\n').length - 2,
      ),
    })
    await send('source=a&isCheck=true', 'title,author\nOne,Ann_100%@example.org\n') // in its preview
    await server()
    const refused = (by: string) => `{"type":"post","sourceId":"${by}","title":"","text":"by ${by}"}\n`
    await send('source=b', refused('ANN_100%@example.org') + refused('annX100Y@example.org'))
    await server()
    const before = await kept()
    expect(before.refused).toEqual([2])
    await site.call(users.remove, { user: bob.userId })
    expect(await kept()).toEqual(before)
    await site.call(users.remove, { user: ann.userId })
    expect(await kept()).toEqual({ previews: [false, false], refused: [1] })
    expect((await shown()).state).toBe('done')
  })

  it('end with the rights of who asked for them', async () => {
    const { files, left } = disk()
    const { site, send, shown, titles } = await siteWith(engine, files)
    await send('')
    await site.db.updateTable('users').set({ isOwner: 0 }).execute()
    await serverOf(site, files)()
    await site.db.updateTable('users').set({ isOwner: 1 }).execute()
    expect(await shown()).toMatchObject({ state: 'failed', error: { code: 'NOT_ENOUGH_PERMISSION' } })
    expect([await titles(), left()]).toEqual([[], []])
  })

  it('fail where the board is gone since', async () => {
    const { files, left } = disk()
    const { site, send, shown, titles } = await siteWith(engine, files)
    await site.call(boards.create, { name: 'Ideas' })
    await send('boardId=ideas')
    await site.call(boards.remove, { boardId: 'ideas' })
    await serverOf(site, files)()
    expect(await shown()).toMatchObject({
      state: 'failed',
      error: { code: 'VALIDATION_ERROR', message: expect.stringMatching(/^boardId must be/) as string },
    })
    expect([await titles(), left()]).toEqual([[], []])
  })

  it('leave no file for longer than they need it', async () => {
    const { files, left, folder } = disk()
    const { site, send, shown, confirm } = await siteWith(engine, files)
    const server = serverOf(site, files)
    await send('isCheck=true')
    await server()
    later(site, 3601)
    expect(await shown()).toMatchObject({ state: 'checked', isKept: false })
    expect(await confirm((await shown()).runId)).toMatchObject({ status: 404, body: { code: 'IMPORT_NOT_FOUND' } })
    await server()
    expect(left()).toEqual([])

    // What a server that was killed has received, without a run
    for await (const _ of files.receive(chunks(), { untilRemoved: true })) continue
    const [name = ''] = left()
    const old = new Date(Date.now() - 2 * 3_600_000)
    for (const each of ['', ...readdirSync(path.join(folder, name))]) utimesSync(path.join(folder, name, each), old, old) // prettier-ignore
    await serverOf(site, files)()
    expect(left()).toEqual([])

    // What is cut off while it is sent
    async function* cut() {
      yield Buffer.from('title\nO')
      await Promise.reject(new Error('cut'))
    }
    await expect((async () => { for await (const _ of files.receive(cut(), { untilRemoved: true })) continue })()).rejects.toThrow('cut') // prettier-ignore
    expect(left()).toEqual([])
  })
})

async function* chunks() {
  yield await Promise.resolve(Buffer.from(ideas))
}
