import { EventEmitter, once } from 'node:events'
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
  const site = await makeSite(engine, { siteUrl: 'http://localhost:3000', imports: { lines: noLines, files } })
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
    const people = (from: number) => Array.from({ length: 8001 }, (_, at) => `{"type":"person","sourceId":"${from + at}"}`) // prettier-ignore
    let cancelled: () => Promise<unknown> = () => Promise.resolve()
    const slow: Files = {
      ...files,
      open: async () => ({
        product: 'records',
        preview: undefined,
        bytes: noLines,
        async *records() {
          yield '{"type":"nonsense"}'
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
      await vi.waitUntil(async () => (await shown()).done.some(({ type, done }: { type: string; done: number }) => type === 'person' && done > 0), { timeout: 50_000 }) // prettier-ignore
      expect(await cancel(runId)).toMatchObject({ status: 202, body: { run: { state: 'running', isCancelled: true } } })
      const { seenAt } = await site.db.selectFrom('import_runs').select('seenAt').executeTakeFirstOrThrow()
      later(site, 1)
      await vi.waitUntil(async () => (await site.db.selectFrom('import_runs').select('seenAt').executeTakeFirstOrThrow()).seenAt !== seenAt, { timeout: 50_000 }) // prettier-ignore
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
            yield '{}'
          } finally {
            ended += 1
          }
        },
      }),
    }
    const { site, send, cancel, shown } = await siteWith(engine, silent)
    const server = serverOf(site, silent)
    const begun = (times: number) => vi.waitUntil(() => reading === times, { timeout: 50_000 })
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

  it('are events: their start, their end with counts, and who cancels them', async () => {
    const { files } = disk()
    const { site, send, confirm, cancel, shown, token } = await siteWith(engine, files)
    const server = serverOf(site, files)
    const told = async () => {
      const { events } = (await site.http('GET /events?limit=50', { token })).body as { events: { action: string; subject: string | null; actor: { username: string }; details: { field: string; after: string }[] | null }[] } // prettier-ignore
      return events
        .filter(({ action }) => action.startsWith('site.import_'))
        .map(({ action, subject, actor, details }) => [action, subject, actor.username.split('_')[0], Object.fromEntries((details ?? []).map(({ field, after }) => [field, after]))]) // prettier-ignore
    }
    await send('isCheck=true&name=ideas.csv', `${ideas},\n`)
    await server()
    expect(await told()).toEqual([])
    await confirm((await shown()).runId)
    await server()
    const counts = { found: 3, created: 2, matched: 0, existing: 0, failed: 1 }
    const said = { found: '3', created: '2', matched: '0', existing: '0', failed: '1' }
    const first = [
      ['site.import_started', 'ideas.csv', 'ada', { product: 'csv' }],
      ['site.import_ended', 'ideas.csv', 'ada', { ending: 'done', ...said }],
    ]
    expect(await told()).toEqual(first)

    // Cancelled twice, before it has begun
    const { runId } = (await send('name=more.csv')).body.run
    for (const _ of ['first', 'second']) expect((await cancel(runId)).status).toBe(202)
    await server()
    expect((await cancel(runId)).status).toBe(202)
    const second = [
      ['site.import_cancelled', 'more.csv', 'ada', {}],
      ['site.import_ended', 'more.csv', 'ada', { ending: 'cancelled' }],
    ]
    expect(await told()).toEqual([...first, ...second])

    // Left by a server that was killed
    const left = (await send('')).body.run
    const progress = JSON.stringify({ done: [], counts })
    await site.db.updateTable('import_runs').set({ startedAt: left.askedAt, seenAt: left.askedAt, progress }).where('runId', '=', left.runId).execute() // prettier-ignore
    const [one, other] = [serverOf(site, files), serverOf(site, files)]
    await Promise.all([one(), other()])
    later(site, 20)
    await Promise.all([one(), other()])
    expect((await shown()).state).toBe('stopped')
    expect(await told()).toEqual([
      ...first,
      ...second,
      ['site.import_ended', null, 'ada', { ending: 'stopped', ...said }],
    ])
  })

  it('of an export of a site are no events, because its log replaces the one here', async () => {
    const { files } = disk()
    const done = { same: false, passwords: false, owner: null, types: [] }
    const site = await makeSite(engine, { imports: { lines: noLines, files } })
    const token = await site.owner()
    const lines = async function* (bytes: AsyncIterable<Uint8Array>) {
      for await (const _ of bytes) continue
      yield { done }
    }
    const server = importRuns({ ...site.base, imports: { lines, files } })
    const body = Buffer.from('{"type":"header","format":"feedbackctl"}\n')
    await site.http('POST /import/runs?product=feedbackctl', { token, body, headers: { 'content-type': 'application/octet-stream' } }) // prettier-ignore
    const before = await site.events()
    await server.run({ db: site.db, now: () => site.clock.now, log, signal: new AbortController().signal })
    expect((await site.http('GET /import/runs', { token })).body.run).toMatchObject({ state: 'done', result: done })
    expect(await site.events()).toEqual(before)
  })

  it('give back what is no record as it was, and other refused records without a hash', async () => {
    const { files } = disk()
    const { site, send, shown, token } = await siteWith(engine, files)
    const none = ['[1,  2.50]', '"text"', 'null', '{"type":"tag", "name":', 'NUL \0 \ue000\ue0000 \ue0001', ' x\ty ']
    const record = '{"type":"post",  "sourceId":"1","title":"","importedVotes":1e0}'
    const person = { type: 'person', sourceId: '1', email: 'none', name: 'Ann' }
    const hashed = JSON.stringify({ ...person, passwordHash: '$2b$10$secret' })
    const broken = hashed.slice(0, -1)
    const mended = broken.replace('$2b$10$secret', '')
    const escaped = { ...person, sourceId: '2', name: 'J\u00f6rg' }
    const ascii = JSON.stringify(escaped).replace('\u00f6', String.raw`\u00f6`)
    const lines = [...none, broken, record, hashed, ascii, '{"type":"tag","sourceId":"1","name":"UI"}']
    await send('product=records&source=x', lines.map((line) => `${line}\r\n`).join('\n'))
    await serverOf(site, files)()
    const { runId, ...run } = await shown()
    expect(run).toMatchObject({ state: 'done', refused: 10, result: { isBalanced: true } })
    expect(run.result.balance).toContainEqual({
      type: 'other',
      found: 7,
      created: 0,
      matched: 0,
      existing: 0,
      failed: 7,
    })
    expect(run.result.balance).toContainEqual({ type: 'tag', found: 1, created: 1, matched: 0, existing: 0, failed: 0 })
    const { text } = await site.http(`GET /import/runs/refused?runId=${runId}`, { token })
    const [header = '', ...refused] = text.split('\n')
    expect(JSON.parse(header)).toEqual({ type: 'header', format: 'feedbackctl-refused', source: 'x' })
    expect(refused.toSorted()).toEqual(
      [...none, mended, record, JSON.stringify(person), JSON.stringify(escaped), ''].toSorted(),
    )

    // The file comes in as it went out
    await send('', text)
    await serverOf(site, files)()
    const again = await shown()
    expect(again).toMatchObject({ state: 'done', refused: 10 })
    expect((await site.http(`GET /import/runs/refused?runId=${again.runId}`, { token })).text).toBe(text)
  })

  it('say how many refused records their file has no room for', async () => {
    const { files } = disk()
    const long: Files = {
      ...files,
      open: async () => ({
        product: 'records',
        preview: undefined,
        bytes: noLines,
        async *records() {
          for (let n = 0; n < 11; n += 1) yield await Promise.resolve('ü'.repeat(2_500_000))
          yield '{"type":"nonsense"}'
        },
      }),
    }
    const { site, send, shown, token } = await siteWith(engine, long)
    await send('product=records')
    await serverOf(site, long)()
    const run = await shown()
    expect(run).toMatchObject({ state: 'done', refused: 10, refusedLeftOut: 2 })
    const { text } = await site.http(`GET /import/runs/refused?runId=${run.runId}`, { token })
    expect(Buffer.byteLength(text)).toBeLessThan(50_001_000)
    expect(text.trim().split('\n')).toHaveLength(11)
    const page = await site.http('GET //dashboard/settings/import', {
      headers: { accept: 'text/html', cookie: `feedbackctl=${token}` },
    })
    expect(page.text).toContain('2 more are not in it')
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
    later(site, 1)
    const longer = [
      'joann_100%@example.org',
      'jo.ann_100%@example.org',
      'ann_100%@example.orgs',
      'ann_100%@example.org.uk',
    ]
    const hers = ['ANN_100%@example.org', 'x\\nann_100%@example.org.', '連絡先はann_100%@example.orgです', 'mailto%3Aann_100%@example.org', 'die ann_100%@example.org-Adresse'] // prettier-ignore
    await send('source=b', [...longer, ...hers, 'annX100Y@example.org'].map(refused).join(''))
    await server()
    const before = await kept()
    expect(before.refused).toEqual([10])
    const post = (author: string) => `${JSON.stringify({ type: 'post', sourceId: author, title: `Of ${author}`, author })}\n` // prettier-ignore
    later(site, 1)
    await send(
      'source=c&name=Ann_100%25@example.org.jsonl',
      post('Ann_100%@Example.org') + post('annX100Y@example.org') + post('joann_100%@example.org'),
    )
    await server()
    later(site, 1)
    await send('source=d&product=csv&map=title%3DANN_100%25@example.org')
    await server()
    const failed = await shown()
    expect(failed).toMatchObject({ state: 'failed', error: { message: expect.stringContaining('ANN_100%@example.org') } }) // prettier-ignore
    const all = await kept()
    await site.call(users.remove, { user: bob.userId })
    expect(await kept()).toEqual(all)
    await site.call(users.remove, { user: ann.userId })
    expect(await kept()).toEqual({ previews: [false, false, false, undefined], refused: [5, 2] })
    const runs = await site.db.selectFrom('import_runs').select(['name', 'result', 'error']).orderBy('askedAt').execute() // prettier-ignore
    expect(JSON.stringify(runs)).not.toMatch(/ann_100%@example\.org/i)
    expect(runs[2]?.name).toBe('….jsonl')
    expect(JSON.parse(runs[2]?.result ?? '')).toMatchObject({
      balance: [{ type: 'post', found: 3, failed: 3 }],
      failures: [{ count: 3, first: expect.stringContaining('"…"'), rows: [{ title: 'Of …' }, { title: 'Of annX100Y@example.org' }, { title: 'Of jo…' }] }], // prettier-ignore
    })
    expect((await shown()).error).toMatchObject({ code: failed.error.code, message: expect.stringContaining('"…"') })
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

  it('keep the file of one check of a person, and so do dry runs', async () => {
    const { files, left } = disk()
    const { site, token, send, confirm, titles } = await siteWith(engine, files)
    const server = serverOf(site, files)
    const ada = (await site.db.selectFrom('users').select('userId').executeTakeFirstOrThrow()).userId
    const { userId: bob, token: bobs } = await site.member()
    const own = async (userId: string) => {
      await site.db.updateTable('users').set({ isOwner: 0 }).execute()
      await site.db.updateTable('users').set({ isOwner: 1 }).where('userId', '=', userId).execute()
    }
    const check = async (body: string, by = token) => {
      await send('isCheck=true', body, by)
      await server()
      return (await site.http('GET /import/runs', { token: by })).body.run.runId as string
    }
    const first = await check(ideas)
    await own(bob)
    const others = await check(ideas, bobs)
    await own(ada)
    const last = await check('title\nThree\n')
    expect(left()).toHaveLength(2)
    const isKept = async (runId: string) => (await site.http(`GET /import/runs?runId=${runId}`, { token })).body.run.isKept // prettier-ignore
    expect([await isKept(first), await isKept(others), await isKept(last)]).toEqual([false, true, true])
    expect(await confirm(first)).toMatchObject({ status: 404, body: { code: 'IMPORT_NOT_FOUND' } })
    await confirm(last)
    await server()
    expect([await titles(), left().length]).toEqual([['Three'], 1])
    await confirm(others)
    await server()
    expect([await titles(), left()]).toEqual([['One', 'Three', 'Two'], []])

    const dry = async (by: string) => {
      const { text } = await site.http('POST /import/file', { token: by, body: Buffer.from(ideas), headers: { 'content-type': 'application/octet-stream', [DRY_RUN_HEADER]: '1' } }) // prettier-ignore
      return /"kept":"([^"]+)"/.exec(text)?.[1] ?? ''
    }
    const one = await dry(token)
    await own(bob)
    const two = await dry(bobs)
    await own(ada)
    expect(left()).toHaveLength(2)
    const three = await dry(token)
    expect((await files.ids()).toSorted()).toEqual([two, three].toSorted())
    // A check in the background takes the place of no dry run, and neither does an import
    await check(ideas)
    await site.http('POST /import/file', { token, body: Buffer.from(ideas), headers: { 'content-type': 'application/octet-stream' } }) // prettier-ignore
    expect(await files.ids()).toEqual(expect.arrayContaining([two, three]))
    expect(await files.ids()).not.toContain(one)
  })

  it('a dry run removes no file of the same person that another import reads', async () => {
    const { files } = disk()
    const [opened, goesOn] = [new EventEmitter(), new EventEmitter()]
    const held: Files = {
      ...files,
      async open(id, options) {
        const file = await files.open(id, options)
        if (id !== first) return file
        return {
          ...file,
          async *records(note, signal) {
            const until = once(goesOn, 'now')
            opened.emit('now')
            await until
            yield* file.records(note, signal)
          },
        }
      },
    }
    const { site, token, titles } = await siteWith(engine, held)
    const headers = { 'content-type': 'application/octet-stream' }
    const dry = async (body: string): Promise<string> => {
      const { text } = await site.http('POST /import/file', { token, body: Buffer.from(body), headers: { ...headers, [DRY_RUN_HEADER]: '1' } }) // prettier-ignore
      return /"kept":"([^"]+)"/.exec(text)?.[1] ?? ''
    }
    let first = ''
    first = await dry(ideas)
    const isOpen = once(opened, 'now')
    const importing = site.http(`POST /import/file?kept=${first}`, { token, body: Buffer.from(''), headers })
    await isOpen
    const second = await dry('title\nThree\n')
    expect((await files.ids()).toSorted()).toEqual([first, second].toSorted())
    goesOn.emit('now')
    expect((await importing).text).toContain('"result":"complete"')
    expect([await titles(), await files.ids()]).toEqual([['One', 'Two'], [second]])
    await dry(ideas)
    expect(await files.ids()).not.toContain(second)
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
