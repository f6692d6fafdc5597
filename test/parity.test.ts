import { describe, expect, it } from 'vitest'
import { remote } from '../src/client/remote.js'
import type { AppError } from '../src/core/errors.js'
import { actorOf } from '../src/service/lib/sessions.js'
import * as auth from '../src/service/auth.js'
import * as boards from '../src/service/boards.js'
import type { Call } from '../src/service/lib/operation.js'
import * as settings from '../src/service/settings.js'
import * as setup from '../src/service/site.js'
import { engines, makeSite, OWNER, type Engine } from './support/site.js'

type Surface = 'call' | 'remote'

/** The results of a scenario. Ids and tokens are replaced, as they differ between sites. */
type Transcript = unknown[]

async function transcript(engine: Engine, surface: Surface): Promise<Transcript> {
  const site = await makeSite(engine)
  const server = await (await site.server()).listen({ host: '127.0.0.1', port: 0 })
  let token: string | undefined
  const callSurface: Call = async (op, input) => {
    if (surface === 'remote') return remote({ server, token })(op, input)
    const actor = await actorOf(token && `Bearer ${token}`, {
      db: site.db,
      now: () => site.clock.now,
      secret: () => 'a secret of the tests, long enough',
    })
    return site.callAs(actor)(op, input)
  }
  const results: Transcript = []
  const step: Call = async (op, input) => {
    site.clock.now = new Date(site.clock.now.getTime() + 1000)
    try {
      const result = await callSurface(op, input)
      results.push([op.id, normalized(JSON.stringify(result))])
      return result
    } catch (error) {
      const { code, message, errors, status, exit } = error as AppError
      results.push([op.id, normalized(JSON.stringify({ code, message, errors, status, exit }))])
      return undefined as never
    }
  }

  await step(setup.status, {})
  await step(setup.setup, { email: 'nobody' })
  await step(setup.setup, { ...OWNER, password: 'short' })
  await step(setup.setup, OWNER)
  await step(setup.setup, OWNER)
  await step(setup.status, {})
  await step(auth.login, { email: OWNER.email, password: 'wrong password' })
  await step(boards.create, { name: 'Ideas' }) // not signed in
  const { user } = await step(auth.login, { email: OWNER.email, password: OWNER.password })
  token = user.authToken
  const { board } = await step(boards.create, { name: '💡 Ideas', color: '1d4ed8' })
  await step(boards.create, { name: 'Bugs', color: '15803d', display: false })
  await step(boards.create, { name: 'Other', url: 'ideas' })
  await step(boards.create, { name: '', color: 'zzz', colour: 1 })
  await step(boards.list, {})
  await step(boards.list, { visibility: ['public', 'private'], limit: 1, page: 2, created: 'asc' })
  await step(boards.list, { after: board.boardId, created: 'asc', visibility: ['public', 'private'] })
  await step(boards.list, { page: 0 })
  await step(boards.show, { url: 'bugs' })
  await step(boards.show, { url: 'a/b?c#d%' })
  await step(boards.search, { name: '💡 id' })
  await step(boards.update, { boardId: 'ideas', name: 'Bright', url: 'bugs' })
  await step(boards.update, { boardId: 'ideas', name: 'Bright', url: 'bright' })
  await step(boards.checkSlug, { url: 'bright' })
  await step(boards.remove, { boardId: 'bright' })
  await step(boards.remove, { boardId: 'bright' })
  await step(settings.site, {})
  token = 'nonsense'
  await step(boards.remove, { boardId: 'bugs' })
  return results
}

function normalized(text: string | undefined): string | undefined {
  return text
    ?.replace(/This needs an account\. .*<authToken>\\"\.|Not signed in to [^"]*/, '<not signed in>')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/ey[\w-]+\.[\w-]+\.[\w-]+/g, '<token>')
    .replaceAll(/ada_[0-9a-z]{8}/g, '<username>')
}

describe('one scenario', () => {
  it('has the same results and errors in this process and through the remote client, on both engines', async () => {
    const [first, ...others] = await Promise.all(
      engines.flatMap((engine) => (['call', 'remote'] as const).map((surface) => transcript(engine, surface))),
    )
    expect(first).toHaveLength(27)
    expect(first?.filter(([, text]: any) => String(text).includes('"code"'))).toHaveLength(12) // oxlint-disable-line typescript/no-explicit-any -- either type of text
    for (const other of others) expect(other).toEqual(first)
  })
})
