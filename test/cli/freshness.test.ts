import { Agent, request } from 'node:http'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { cleanup } from '../support/site.js'

const LISTENING = /listening on (http:\S+?)"/
const ROUNDS = 10_000

it('a server on SQLite gives no stale answer in ten thousand writes of another process and reads in turn', async () => {
  const machine = await makeMachine('sqlite')
  const token = await machine.setup()
  const server = machine.start('serve')
  const [, url = ''] = await server.says(LISTENING)
  const agent = new Agent({ keepAlive: true })
  cleanup(async () => agent.destroy())
  const title = (path: string, headers: Record<string, string> = {}): Promise<string> =>
    new Promise((resolve, reject) => {
      request(`${url}/api/v1${path}`, { agent, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part: string) => (text += part))
        answer.on('end', () => resolve((JSON.parse(text) as { settings: { title: string } }).settings.title))
      })
        .on('error', reject)
        .end()
    })

  const database = new Database(machine.databaseUrl.slice('sqlite:'.length))
  cleanup(async () => void database.close())
  database.pragma('synchronous = OFF') // what is seen does not depend on it, and ten thousand waits for the disk do
  const write = database.prepare('update settings set title = ?')
  const stale: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    write.run(`Title ${round}`)
    // Every other round several ask at once, each on a connection of its own, and some again on the same one.
    const reads = [
      title('/settings/site'),
      ...(round % 2 === 0 ? [title('/settings/site', { authorization: `Bearer ${token}` }), title('/settings/site')] : []),
    ]
    for (const read of await Promise.all(reads)) if (read !== `Title ${round}`) stale.push(`${read} in round ${round}`)
  }
  expect(stale).toEqual([])
}, 120_000)
