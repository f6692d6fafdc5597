import { spawnSync } from 'node:child_process'
import type { Case } from '../cases.js'
import { median } from '../measure.js'
import { environment, folder } from '../processes.js'
import { answerOf, PROGRAM, serve } from '../servers.js'
import { get } from '../requests.js'

/** The goals of commands, in milliseconds over a bare `node -e 0`. */
const COMMANDS = [
  { name: 'start: --version', args: ['--version'], over: 15 },
  { name: 'start: --help', args: ['--help'], over: 25 },
  { name: 'start: boards list, piped', args: ['boards', 'list'], over: 40 },
  { name: 'start: boards list -o table', args: ['boards', 'list', '-o', 'table'], over: 55 },
  { name: 'start: boards list of a server', args: ['boards', 'list', '--server', 'URL'], over: 80 },
]

/** Commands, the server and bare node are started in turn. */
export const starts = (): Case => ({
  name: 'start',
  async run(bench) {
    const { file } = await bench.site('small')
    const env = { ...environment(), FEEDBACKCTL_DATABASE_URL: `sqlite:${file}` }
    const server = await serve(`sqlite:${file}`)
    const argsOf = (args: string[]) => args.map((arg) => (arg === 'URL' ? server.url : arg))
    const times = { bare: [] as number[], serve: [] as number[], commands: COMMANDS.map(() => [] as number[]) }
    for (let round = 0; round <= bench.plan.starts; round++) {
      const bare = timeOf(['-e', '0'], env)
      const commands = COMMANDS.map(({ args }) => timeOf([PROGRAM, ...argsOf(args)], env))
      const first = await untilAnswer(`sqlite:${file}`)
      if (round === 0) continue // files are read, and whatever is kept from start to start is made
      times.bare.push(bare)
      times.serve.push(first)
      for (const [index, time] of commands.entries()) times.commands[index]?.push(time)
    }
    await server.stop()
    const bare = median(times.bare)
    const taking = (time: number) => `${time.toFixed(0)} ms, node -e 0 ${bare.toFixed(0)} ms`
    return [
      ...COMMANDS.map(({ name, over }, index) => {
        const time = median(times.commands[index] ?? [])
        return { name, result: { value: time - bare, unit: 'ms' as const, goal: { most: over } }, note: taking(time) }
      }),
      {
        name: 'start: serve to first answer',
        result: { value: median(times.serve) / bare, unit: 'x' as const, goal: { below: 5 } },
        note: taking(median(times.serve)),
      },
    ]
  },
})

function timeOf(args: string[], env: Record<string, string>): number {
  const started = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { env, cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  return performance.now() - started
}

async function untilAnswer(databaseUrl: string): Promise<number> {
  const started = performance.now()
  const server = await serve(databaseUrl)
  await answerOf(server.url, get('/boards'))
  const time = performance.now() - started
  await server.stop()
  return time
}
