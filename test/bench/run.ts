/**
 * Measures the program against references in the same run, and prints a table: npm run bench [-- --quick] [--json] [--only WORD]
 * README.md beside this file says what each case is, and what to read into it.
 */
import { arch, cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { isMet, type Bench, type Row } from './cases.js'
import { boards } from './cases/boards.js'
import { filters, posts } from './cases/posts.js'
import { GENERATOR } from './load.js'
import { FULL, QUICK } from './plan.js'
import { tokens } from './requests.js'
import { siteOf } from './sites.js'
import { table } from './table.js'

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
})
const plan = flags.quick ? QUICK : FULL
const cases = [...boards(plan), ...posts(), ...filters()].filter(({ name, long }) =>
  flags.only === '' ? !(flags.quick && long) : name.toLowerCase().includes(flags.only.toLowerCase()),
)
if (cases.length === 0) throw new Error(`No case has "${flags.only}" in its name.`)

const bench: Bench = {
  plan,
  site: (name) => siteOf(plan, name),
  postgres: () => Promise.reject(new Error('not yet')),
  tokens: await tokens(),
  tell: (text) => console.error(text),
}
const rows: Row[] = []
for (const [number, { name, run }] of cases.entries()) {
  bench.tell(`${number + 1}/${cases.length} ${name}`)
  rows.push(...(await run(bench)))
}

const machine = `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB, ${arch()}, Node ${process.versions.node}, load by ${GENERATOR}`
const extent = `${plan.rounds} rounds of ${plan.seconds} s${flags.quick ? ' (quick: small sites, short loads; for a first impression only)' : ''}`
if (flags.json)
  console.log(
    JSON.stringify({
      machine,
      quick: flags.quick,
      rows: rows.map((row) => ({ ...row, ...(row.result?.goal && { met: isMet(row.result.value, row.result.goal) }) })),
    }),
  )
else console.log(`${machine}\n${extent}\n\n${table(rows)}`)
