import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { makeMachine } from '../support/cli.js'
import { random } from '../support/random.js'
import { engines, OWNER } from '../support/site.js'
import { amount, figures } from './amount.js'

const ROUNDS = amount(2, 125)

describe.each(engines)('setup on %s', (engine) => {
  it('by four commands and four requests at once makes one owner', async (context) => {
    const by = { command: 0, request: 0 }
    const share = random()
    for (let round = 0; round < ROUNDS; round++) {
      const machine = await makeMachine(engine)
      const server = machine.start('serve --mail-url folder:mail')
      const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
      const command = async (number: number) => {
        const email = `c${number}@example.org`
        const args = `setup --email ${email} --password-stdin --mail-url folder:mail`
        const { code, stderr } = await machine.process(args, { stdin: OWNER.password })
        if (code === 0) return email
        return code === 5 ? `5 ${/^  code  ([A-Z_]+)/m.exec(stderr)?.[1]}` : `${code} ${stderr}`
      }
      const request = async (number: number) => {
        const email = `r${number}@example.org`
        await sleep(share() * 1500) // as long as commands need to start
        const response = await fetch(`${url}/api/v1/auth/setup`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...OWNER, email }),
        })
        const { code } = (await response.json()) as { code?: string }
        return response.status === 201 ? email : `${response.status} ${code}`
      }
      const numbers = [1, 2, 3, 4]
      const outcomes = await Promise.all([...numbers.map(command), ...numbers.map(request)])
      const [winner = '', ...others] = outcomes.filter((outcome) => outcome.includes('@'))
      expect(others).toEqual([])
      expect(new Set(outcomes)).toEqual(new Set([winner, '5 SETUP_COMPLETED', '403 SETUP_COMPLETED']))
      by[winner.startsWith('c') ? 'command' : 'request']++
      await server.stop()
      const db = await connect(machine.databaseUrl)
      try {
        expect(await db.selectFrom('users').select(['email', 'isOwner']).execute()).toEqual([
          { email: winner, isOwner: 1 },
        ])
        expect(await db.selectFrom('deliveries').select('recipient').execute()).toHaveLength(1)
      } finally {
        await db.destroy()
      }
    }
    figures(context, `${ROUNDS} rounds, one owner each, ${by.command} by command, ${by.request} by request`)
  })
})
