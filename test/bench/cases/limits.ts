import type { Case } from '../cases.js'
import { alternately, median, medians } from '../measure.js'
import { answerOf, serve } from '../servers.js'
import { get, post, type Request } from '../requests.js'

/** A client behind a proxy, since programs on the same machine are not limited. */
const FORWARDED = ['--trust-proxy', 'loopback']
const from = (address: string, request: Request): Request => ({
  ...request,
  headers: { ...request.headers, 'x-forwarded-for': address },
})

/** What limits cost, and how long a sign-in takes beside others. */
export const limits = (): Case[] => [counting(), signIns()]

const counting = (): Case => {
  const name = 'GET /boards, counted for a limit, against no limit'
  return {
    name,
    async run({ plan, site }) {
      const { file } = await site('small')
      const requests = [from('198.51.100.1', get('/boards'))]
      const server = (rate: string) => serve(`sqlite:${file}`, [...FORWARDED, '--limits-requests', rate])
      const { ours, reference } = await alternately(
        { ...plan, rounds: plan.rounds * 3 },
        {
          ours: { servers: [await server('900000000/10s')], requests },
          reference: { servers: [await server('off')], requests },
        },
      )
      const [counted, free] = [medians(ours), medians(reference)]
      return [
        {
          name,
          ours: counted,
          reference: free,
          result: { value: counted.cpu - free.cpu, unit: 'µs', goal: { most: 3 } },
        },
      ]
    },
  }
}

const OTHERS = 30

const signIns = (): Case => {
  const name = `one sign-in beside ${OTHERS} of another address, against one alone`
  return {
    name,
    async run({ plan, site }) {
      const { file } = await site('small')
      const server = await serve(`sqlite:${file}`, [...FORWARDED, '--limits-sign-in', 'off'])
      try {
        const [alone, beside] = [[] as number[], [] as number[]]
        for (let round = 0; round <= plan.starts; round++) {
          const one = await timeOf(server.url, '198.51.100.1', 0)
          const others = Array.from({ length: OTHERS }, (_, n) => timeOf(server.url, '198.51.100.2', n + 1))
          await Promise.race(others)
          const among = await timeOf(server.url, '198.51.100.1', 0)
          await Promise.all(others)
          if (round === 0) continue // the code is compiled
          alone.push(one)
          beside.push(among)
        }
        const note = `${median(beside).toFixed(0)} ms, alone ${median(alone).toFixed(0)} ms`
        return [{ name, result: { value: median(beside) / median(alone), unit: 'x', goal: { most: 2 } }, note }]
      } finally {
        await server.stop()
      }
    },
  }
}

/** Milliseconds until a wrong password is refused, which takes as long as a right one. */
async function timeOf(url: string, address: string, person: number): Promise<number> {
  const started = performance.now()
  const request = post('/auth/login', { email: `person${person}@example.org`, password: 'wrong password' })
  await answerOf(url, from(address, request)).catch((error: unknown) => {
    if (!String(error).includes('INCORRECT_PASSWORD')) throw error
  })
  return performance.now() - started
}
