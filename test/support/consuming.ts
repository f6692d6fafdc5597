// Consumes events of a database in a process of its own: prints the id of each when it begins and when it has handled it.
// It never ends the event whose subject is `stuck`.
import { connect } from '../../src/db/connect.js'
import { consumer } from '../../src/jobs/consumer.js'
import { startJobs } from '../../src/jobs/runner.js'

const say = (line: string) => void process.stdout.write(`${line}\n`)

const [, , url = '', stuck = ''] = process.argv
const db = await connect(url)
const job = consumer({
  name: 'test',
  actions: ['board.created'],
  async handle({ id, subject }) {
    say(`begun ${id}`)
    if (subject === stuck) await new Promise(() => {})
    say(`handled ${id}`)
  },
})
const log = { info() {}, warn() {}, error: (fields: object) => say(JSON.stringify(fields)) }
startJobs([job], { db, now: () => new Date(), log })
say('started')
