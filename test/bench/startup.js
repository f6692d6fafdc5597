// How long commands take to start, over a bare `node -e 0` measured in the same run. Prints a table; asserts nothing.
//   npm run bench:startup [-- --runs 30] [--json]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

const { values: flags } = parseArgs({ options: { runs: { type: 'string', default: '20' }, json: { type: 'boolean', default: false } } })
const program = path.resolve(import.meta.dirname, '../../bin/feedbackctl.js')
const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-bench-'))
const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
const options = { env, cwd: folder, encoding: 'utf8' }

for (let number = 0; number < 20; number++) run([program, 'boards', 'create', `Board ${number}`])

// The goals of design/cli.md, in milliseconds over bare node.
const cases = [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: '--version', args: [program, '--version'], goal: 15 },
  { name: '--help', args: [program, '--help'], goal: 25 },
  { name: 'boards list, piped', args: [program, 'boards', 'list'], goal: 40 },
  { name: 'boards list -o table', args: [program, 'boards', 'list', '-o', 'table'], goal: 55 },
]

const times = new Map(cases.map(({ name }) => [name, []]))
for (let round = 0; round < Number(flags.runs); round++) for (const { name, args } of cases) times.get(name).push(run(args))
rmSync(folder, { recursive: true, force: true })

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]
const bare = median(times.get('node -e 0'))
const rows = cases.map(({ name, goal }) => {
  const milliseconds = median(times.get(name))
  return { name, milliseconds: Math.round(milliseconds), over: Math.round(milliseconds - bare), ...(goal && { goal, met: milliseconds - bare <= goal }) }
})
if (flags.json) console.log(JSON.stringify(rows))
else console.table(Object.fromEntries(rows.map(({ name, ...row }) => [name, row])))

function run(args) {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, options)
  if (status !== 0) throw new Error(stderr)
  return performance.now() - start
}
