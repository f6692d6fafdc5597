import { Agent, request } from 'node:http'
import { expect, it } from 'vitest'
import { openSqlite } from '../../src/db/sqlite/binding.js'
import { makeMachine } from '../support/cli.js'
import { cleanup } from '../support/site.js'

const LISTENING = /listening on (http:\S+?)"/
const ROUNDS = 10_000

it('a server on SQLite gives no stale answer in ten thousand writes of another process and reads in turn', async () => {
  const machine = await makeMachine('sqlite')
  const token = await machine.setup()
  await machine.run('boards create Ideas')
  const server = machine.start('serve')
  const [, url = ''] = await server.says(LISTENING)
  const agent = new Agent({ keepAlive: true })
  cleanup(async () => agent.destroy())
  const shown = (path: string, headers: Record<string, string> = {}): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      request(`${url}/api/v1${path}`, { agent, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part: string) => (text += part))
        answer.on('end', () => resolve(/Round \d+/.exec(text)?.[0]))
      })
        .on('error', reject)
        .end()
    })

  const database = openSqlite(machine.databaseUrl.slice('sqlite:'.length))
  cleanup(async () => void database.close())
  database.pragma('synchronous = OFF') // visibility does not depend on it, and ten thousand disk syncs take long
  const writes = ['update settings set title = ?', 'update boards set name = ?'].map((sql) => database.prepare(sql))
  const reads = [['/settings/site'], ['/boards', '/boards/ideas']]
  const stale: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const name = `Round ${round}`
    writes[round % 2]?.run(name)
    const [path = '', other = path] = reads[round % 2] ?? []
    // In every other pair of rounds, several requests are concurrent, on separate connections.
    const concurrent =
      round % 4 < 2 ? [shown(other, { authorization: `Bearer ${token}` }), shown(path), shown(other)] : []
    for (const read of await Promise.all([shown(path), ...concurrent]))
      if (read !== name) stale.push(`${read} in round ${round}`)
  }
  expect(stale).toEqual([])
}, 120_000)
