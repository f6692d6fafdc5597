import { readFileSync, renameSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { checkIds } from '../../src/doctor/index.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { freePort } from '../support/ports.js'
import { engines } from '../support/site.js'

const SITE = /listening on (http:\S+?)"/
const METRICS = /shows its metrics at (http:\S+?)"/
const TOKEN = 'a token of 24 characters'.replaceAll(' ', '-')

/** A line of Prometheus' text format: a name, labels, and a number. */
const SAMPLE =
  /^([a-z_:][a-z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (-?\d+(?:\.\d+)?(?:e[+-]\d+)?|NaN|[+-]Inf)$/

/** Reads a scrape, and throws where it is not as Prometheus wants it. Values by name and labels. */
function parsed(text: string): Map<string, number> {
  const found = new Map<string, number>()
  const types = new Map<string, string>()
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, name = '', type = ''] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line) ?? []
    if (type !== '') types.set(name, type)
    if (line.startsWith('#')) {
      expect(line).toMatch(/^# (HELP|TYPE) \S+ \S/)
      continue
    }
    const sample = SAMPLE.exec(line)
    if (!sample) throw new Error(`Not a sample: ${line}`)
    const [, metric = '', labels = '', value = ''] = sample
    const family = metric.replace(/_(bucket|sum|count)$/, '')
    const of = types.get(metric) ?? types.get(family)
    if (of === undefined) throw new Error(`Without a type: ${line}`)
    if (of === 'counter') expect(metric).toMatch(/_total$/)
    const key = `${metric}{${labels}}`
    if (found.has(key)) throw new Error(`Twice: ${line}`)
    found.set(key, Number(value.replace('Inf', 'Infinity')))
  }
  return found
}

async function scrape(url: string, token?: string) {
  const response = await fetch(url, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } })
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return { status: response.status, text: await response.text() }
}

/** Starts a server, and returns its address and a function that reads its metrics. */
async function start(machine: Machine, args = '', env: Record<string, string> = {}) {
  const server = machine.start(`serve --metrics-listen 127.0.0.1:0 ${args}`, { env })
  const [, metrics = ''] = await server.says(METRICS)
  const [, url = ''] = await server.says(SITE)
  return { server, url, metrics, read: async () => parsed((await scrape(metrics)).text) }
}

/** The sum of the requests with these labels. */
const requests = (found: Map<string, number>, labels: string): number =>
  [...found]
    .filter(([key]) => key.startsWith('feedbackctl_http_requests_total{') && key.includes(labels))
    .reduce((sum, [, value]) => sum + value, 0)

describe.each(engines)('metrics.listen on %s', (engine) => {
  it('shows requests by operation, status class, surface and cache state', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const { url, read, metrics, server } = await start(machine)
    const get = async (path: string) => (await fetch(`${url}${path}`)).arrayBuffer()
    for (let count = 0; count < 3; count++) await get('/api/v1/boards')
    await get('/api/v1/boards/none')
    await get('/')
    await get('/robots.txt')
    await get('/healthz')
    const found = await read()
    const of = (labels: string) => found.get(`feedbackctl_http_requests_total{${labels}}`)
    expect(of('operation="boards.list",surface="api",status="2xx",cache="miss"')).toBe(1)
    expect(of('operation="boards.list",surface="api",status="2xx",cache="hit"')).toBe(2)
    expect(of('operation="healthz",surface="probe",status="2xx",cache="none"')).toBe(1)
    expect(requests(found, 'surface="api",status="4xx"')).toBe(1)
    expect(requests(found, 'surface="page"')).toBe(1)
    expect(requests(found, 'surface="feed"')).toBe(1)
    expect(found.get('feedbackctl_http_request_duration_seconds_count{surface="api"}')).toBe(4)
    expect(found.get('feedbackctl_http_request_duration_seconds_bucket{surface="api",le="+Inf"}')).toBe(4)
    const buckets = [...found].filter(([key]) => key.includes('_bucket{surface="api"')).map(([, value]) => value)
    expect(buckets).toEqual(buckets.toSorted((one, other) => one - other))
    expect((await fetch(metrics.replace('/metrics', '/'))).status).toBe(404)
    expect((await fetch(metrics, { method: 'POST' })).status).toBe(405)
    expect((await server.stop()).code).toBe(0)
  })

  it('shows the site, its database and its jobs, in 60 series at most', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const { url, read, server } = await start(machine, '--backup-every 1d')
    const post = (path: string, body: object, token = '') =>
      fetch(`${url}/api/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(token !== '' && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify(body),
      })
    await fetch(`${url}/healthz`)
    await expect.poll(async () => (await read()).get('feedbackctl_backup_newest_timestamp_seconds{}')).toBeDefined()
    const idle = await read()
    expect(idle.size).toBeLessThanOrEqual(60)
    const email = 'ada@example.org'
    for (let count = 0; count < 3; count++)
      expect((await post('/auth/login', { email, password: 'wrong password' })).status).toBe(403)
    const signedIn = await post('/auth/login', { email, password: 'correct horse battery' })
    const token = ((await signedIn.json()) as { user: { authToken: string } }).user.authToken
    const created = await post('/boards', { name: 'Ideas' }, token)
    const { boardId } = ((await created.json()) as { board: { boardId: string } }).board
    for (let count = 0; count < 3; count++) await post('/posts', { boardId, title: `Post ${count}` }, token)
    const found = await read()
    expect(found.get('feedbackctl_database_up{}')).toBe(1)
    expect(found.get('feedbackctl_people{}')).toBe(1)
    expect(found.get('feedbackctl_posts{}')).toBe(3)
    expect(found.get('feedbackctl_sign_in_failures_total{}')).toBe(3)
    for (const name of ['database_commits', 'database_queries', 'database_query_seconds']) {
      const key = `feedbackctl_${name}_total{}`
      expect(found.get(key)).toBeGreaterThan(idle.get(key) ?? Infinity)
    }
    const jobs = [...found].filter(([key]) => key.startsWith('feedbackctl_job_last_success_timestamp_seconds'))
    expect(jobs.length).toBeGreaterThan(5)
    for (const [, at] of jobs) expect(Math.abs(at - Date.now() / 1000)).toBeLessThan(300)
    expect((await server.stop()).code).toBe(0)
  })

  it('counts what limits refuse', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const env = { FEEDBACKCTL_TRUST_PROXY: 'loopback', FEEDBACKCTL_LIMITS_REQUESTS: '5/1h' }
    const { url, read } = await start(machine, '', env)
    for (let count = 0; count < 7; count++)
      await (await fetch(`${url}/healthz`, { headers: { 'x-forwarded-for': '203.0.113.7' } })).text()
    const found = await read()
    expect(found.get('feedbackctl_limits_hit_total{limit="requests"}')).toBe(2)
    expect(found.get('feedbackctl_http_requests_total{operation="refused",surface="other",status="4xx",cache="none"}')).toBe(2) // prettier-ignore
  })

  it('adds up what the workers count, and keeps what one counted that was killed', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const port = await freePort()
    const { server, url, read } = await start(machine, `--workers 2 --listen 127.0.0.1:${port}`)
    const pids = () => [...server.output().stderr.matchAll(/"pid":(\d+),[^\n]*"listening on/g)].map(([, pid]) => Number(pid)) // prettier-ignore
    await expect.poll(() => new Set(pids()).size).toBe(2)
    const get = () => fetch(`${url}/api/v1/boards`, { headers: { connection: 'close' } })
    for (let count = 0; count < 20; count++) expect((await get()).status).toBe(200)
    const before = await read()
    expect(requests(before, 'operation="boards.list"')).toBe(20)
    expect(before.get('feedbackctl_serving_processes{}')).toBe(2)
    process.kill(pids()[1] ?? 0, 'SIGKILL')
    await expect.poll(() => new Set(pids()).size).toBe(3)
    const after = await read()
    expect(requests(after, 'operation="boards.list"')).toBe(20)
    expect(after.get('process_cpu_seconds_total{}')).toBeGreaterThanOrEqual(before.get('process_cpu_seconds_total{}') ?? Infinity) // prettier-ignore
    expect((await server.stop()).code).toBe(0)
  })
})

describe('the port of the metrics', () => {
  it('is closed unless the setting names it, and needs the token where there is one', async () => {
    const machine = await makeMachine('sqlite')
    const without = machine.start('serve')
    await without.says(SITE)
    expect((await without.stop()).stderr).not.toContain('metrics')
    const { metrics } = await start(machine, '', { FEEDBACKCTL_METRICS_TOKEN: TOKEN })
    expect((await scrape(metrics, TOKEN)).status).toBe(200)
    for (const wrong of [undefined, '', TOKEN.slice(1), `${TOKEN}x`, 'x'.repeat(10_000), TOKEN.toUpperCase()])
      expect((await scrape(metrics, wrong)).status).toBe(401)
    const basic = await fetch(metrics, { headers: { authorization: `Basic ${TOKEN}` } })
    expect([basic.status, basic.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="metrics"'])
  })

  it('is refused where other machines reach it without a token, and at the address of the site', async () => {
    const machine = await makeMachine('sqlite')
    for (const address of ['0.0.0.0:0', '[::]:0', 'example.org:9464']) {
      const { code, stderr } = await machine.process(`serve --metrics-listen ${address}`)
      expect([code, stderr]).toEqual([78, expect.stringContaining(`metrics.listen is ${address}, which other machines may reach: set metrics.token`)]) // prettier-ignore
    }
    const same = await machine.process('serve --listen 127.0.0.1:9464 --metrics-listen 9464')
    expect([same.code, same.stderr]).toEqual([78, expect.stringContaining('metrics.listen and listen are the same address')]) // prettier-ignore
    for (const token of ['short', 'x'.repeat(1001), 'a token with spaces', 'schlüssel-mit-umlaut'])
      expect((await machine.process('serve', { env: { FEEDBACKCTL_METRICS_TOKEN: token } })).code).toBe(78)
    const open = machine.start('serve --metrics-listen [::1]:0', { env: { FEEDBACKCTL_METRICS_TOKEN: TOKEN } })
    const [, metrics = ''] = await open.says(METRICS)
    expect(metrics).toMatch(/^http:\/\/\[::1\]:\d+\/metrics$/)
    expect((await scrape(metrics, TOKEN)).status).toBe(200)
  })

  it.each(['', '--workers 2'])('exits with 6 where another program has it (%s)', async (workers) => {
    const machine = await makeMachine('sqlite')
    const { metrics } = await start(machine)
    const { host } = new URL(metrics)
    const { code, stderr } = await machine.process(`serve ${workers} --metrics-listen ${host}`)
    expect([code, stderr]).toEqual([6, expect.stringContaining(`Cannot listen on ${host}: another program listens there. Choose another with --metrics-listen.`)]) // prettier-ignore
    expect(stderr).toContain('serve --metrics-listen 127.0.0.1:9465') // prettier-ignore
  })

  it('has as many series after two thousand paths as after one', async () => {
    const machine = await makeMachine('sqlite')
    const { url, read } = await start(machine)
    const get = async (path: string) => (await fetch(`${url}${path}`)).arrayBuffer()
    await get('/api/v1/none')
    const { size } = await read()
    for (let from = 0; from < 2000; from += 100)
      await Promise.all(Array.from({ length: 100 }, (_, index) => get(`/api/v1/none-${from + index}`)))
    const found = await read()
    expect(found.size).toBe(size)
    expect(found.get('feedbackctl_http_requests_total{operation="unmatched",surface="other",status="4xx",cache="none"}')).toBe(2001) // prettier-ignore
  })
})

it('answers while the database is away', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const { read } = await start(machine)
  const up = async () => (await read()).get('feedbackctl_database_up{}')
  expect(await up()).toBe(1)
  const file = machine.databaseUrl.slice('sqlite:'.length)
  renameSync(file, `${file}.away`)
  await expect.poll(up).toBe(0)
  const away = await read()
  expect([away.has('feedbackctl_people{}'), away.has('process_cpu_seconds_total{}')]).toEqual([false, true])
  renameSync(`${file}.away`, file)
  await expect.poll(up).toBe(1)
})

it('docs/alerts.yaml, docs/grafana.json and docs/operating.md name metrics that there are', async () => {
  const names = new Set<string>()
  for (const engine of engines) {
    const machine = await makeMachine(engine)
    await machine.setup()
    const { metrics, server } = await start(machine)
    await fetch(metrics)
    const { text } = await scrape(metrics)
    for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\w+)$/gm))
      for (const suffix of type === 'histogram' ? ['', '_bucket', '_sum', '_count'] : ['']) names.add(name + suffix)
    await server.stop()
  }
  const read = (file: string) => readFileSync(`docs/${file}`, 'utf8')
  for (const file of ['alerts.yaml', 'grafana.json', 'operating.md']) {
    const used = new Set([...read(file).matchAll(/\b(?:feedbackctl|process|nodejs)_[a-z_]+/g)].map(([name]) => name))
    expect(used.size).toBeGreaterThan(5)
    expect([...used].filter((name) => !names.has(name))).toEqual([])
  }
  expect([...names].filter((name) => !read('operating.md').includes(`\`${name}\``) && !/_(bucket|sum|count)$/.test(name))).toEqual([]) // prettier-ignore
  const { groups } = parse(read('alerts.yaml')) as {
    groups: { rules: { alert: string; labels: { check: string } }[] }[]
  }
  const rules = groups.flatMap((group) => group.rules)
  expect(rules).toHaveLength(8)
  expect(rules.filter(({ labels }) => !(checkIds as string[]).includes(labels.check))).toEqual([])
})
