import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { launch } from './chromium.js'
import { waitUntilLoaded } from './loaded.js'
import { cleanup, makeSite, type Engine, type TestSite } from './site.js'

/** One for all files of this process, with which it ends. */
let browser: Promise<Browser> | undefined

export const WIDE = { width: 1280, height: 900 }
export const NARROW = { width: 320, height: 640 }

/** Milliseconds to wait for what must be on a page: so long that only the time of the test bounds it. */
const PATIENCE = 50_000

/**
 * Milliseconds by which `test:steady` delays what a page loads, by Sec-Fetch-Dest. Documents are not delayed. Scripts are late
 * on every page: no cache holds them.
 */
const LATE: Readonly<Record<string, number>> = { script: 250, image: 1500, empty: 800, style: 200 }

/** A site that listens, at an address of its own. */
export interface ServedSite extends TestSite {
  url: string
}

/**
 * Serves a site on a port of loopback. `path` is that of `site.url`. With `isCached`, a test counts what a browser loads, and
 * keeps its scripts also where they are late.
 */
export async function serveSite(
  engine: Engine,
  options: Parameters<typeof makeSite>[1] & { path?: string; isCached?: boolean } = {},
): Promise<ServedSite> {
  const { path: below = '', isCached = false, ...rest } = options
  const { port, handle } = await takePort()
  const url = `http://localhost:${port}${below}`
  const site = await makeSite(engine, { siteUrl: url, ...rest })
  const taken = { host: '127.0.0.1', port, handle }
  const server = await site.server()
  if (process.env.FEEDBACKCTL_TEST_LATE) {
    server.addHook('onRequest', async ({ headers }) => sleep(LATE[String(headers['sec-fetch-dest'])] ?? 0))
    server.addHook('onSend', async ({ headers }, reply) => {
      if (headers['sec-fetch-dest'] === 'script' && !isCached) reply.header('cache-control', 'no-store')
    })
  }
  await server.listen(taken)
  return { ...site, url }
}

/**
 * Listens on a port that the system chooses, and returns what the server of a site takes over: it has to know its port
 * before it is built, and another process could take a port that is free in between.
 */
async function takePort(): Promise<{ port: number; handle: unknown }> {
  const taker = createServer().listen(0, '127.0.0.1')
  cleanup(() => void taker.close())
  await once(taker, 'listening')
  const { port } = taker.address() as AddressInfo
  return { port, handle: Reflect.get(taker, '_handle') } // as `listen` of Node takes it
}

export interface Visit {
  page: Page
  context: BrowserContext
  /** What went wrong in the browser. The test fails on any of it; a test that provokes one takes it out. */
  problems: string[]
}

interface VisitOptions extends BrowserContextOptions {
  /** Whether scripts run. */
  script?: boolean
  /** Messages that the test expects. */
  expected?: RegExp
  /** The time that ages on pages are counted to. */
  now?: Date
}

/** Nine months after the time of the sites. Ages counted to the real time would become wider as it passes. */
const NOW = new Date('2026-12-01T10:00:00.000Z')

/** A browser window of its own. Console errors, violations of the policy, and failed requests fail the test. */
export async function visit({ script = true, expected, now = NOW, ...options }: VisitOptions = {}): Promise<Visit> {
  const context = await (await (browser ??= launch())).newContext({ viewport: WIDE, locale: 'en', javaScriptEnabled: script, ...options }) // prettier-ignore
  const begun = performance.timeOrigin + performance.now()
  await context.addInitScript(
    (passed) => Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + passed }),
    now.getTime() - begun,
  )
  waitUntilLoaded(context)
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE)
  const problems: string[] = []
  const note = (text: string) => {
    if (!expected?.test(text)) problems.push(text)
  }
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) note(message.text())
  })
  page.on('pageerror', (error) => note(`error: ${error.message}`))
  page.on('requestfailed', (request) => {
    const { errorText = '' } = request.failure() ?? {}
    if (errorText !== 'net::ERR_ABORTED') note(`failed: ${request.url()} ${errorText}`) // leaving a page aborts its requests
  })
  page.on('response', (response) => {
    if (response.status() >= 500) note(`${response.status()} ${response.url()}`)
  })
  cleanup(async () => {
    await context.close()
    expect(problems, 'the browser reported nothing').toEqual([])
  })
  return { page, context, problems }
}
