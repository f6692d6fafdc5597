/**
 * Measures the program against references in the same run, and prints a table:
 *   npm run bench [-- --quick] [--json] [--only WORD]
 * README.md beside this file says what each case is, and what to read into it.
 */
import { arch, cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { isMet, type Bench, type Case, type Row } from './cases.js'
import { backups } from './cases/backups.js'
import { boards } from './cases/boards.js'
import { cold } from './cases/cold.js'
import { dashboard } from './cases/dashboard.js'
import { memory } from './cases/memory.js'
import { mix } from './cases/mix.js'
import { notifications } from './cases/notifications.js'
import { filters, posts } from './cases/posts.js'
import { pages } from './cases/pages.js'
import { several } from './cases/several.js'
import { imports } from './cases/imports.js'
import { limits } from './cases/limits.js'
import { search } from './cases/search.js'
import { similar } from './cases/similar.js'
import { starts } from './cases/starts.js'
import { writes } from './cases/writes.js'
import { GENERATOR } from './load.js'
import { FULL, QUICK } from './plan.js'
import { openPostgres, type Postgres } from './postgres.js'
import { endAll } from './processes.js'
import { tokens } from './requests.js'
import { siteOf } from './sites.js'
import { shown, table } from './table.js'

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
})
const plan = flags.quick ? QUICK : FULL
const all: Case[] = [
  ...boards(plan),
  ...posts(),
  ...filters(),
  ...writes(),
  ...mix(),
  ...cold(),
  ...pages(),
  ...several(plan),
  ...memory(plan),
  ...limits(),
  ...backups(),
  ...imports(),
  ...notifications(),
  ...dashboard(),
  ...search(),
  ...similar(),
  starts(),
]
const wanted = flags.only?.toLowerCase()
const cases = all.filter(({ name, long }) =>
  wanted === undefined ? !(flags.quick && long) : name.toLowerCase().includes(wanted),
)
if (cases.length === 0)
  throw new Error(`No case has "${flags.only}" in its name. There are:\n${all.map(({ name }) => name).join('\n')}`)

let postgres: Promise<Postgres> | undefined
const bench: Bench = {
  plan,
  site: (name) => siteOf(plan, name),
  postgres: () => (postgres ??= openPostgres(plan)),
  tokens: await tokens(),
}
const rows: Row[] = []
for (const [index, one] of cases.entries()) {
  console.error(`${index + 1}/${cases.length} ${one.name}`)
  const found = await rowsOf(one)
  for (const { name, result } of found) if (result) console.error(`      ${name}: ${shown(result.value, result.unit)}`)
  rows.push(...found)
}

const machine = `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB, ${arch()}, Node ${process.versions.node}, load by ${GENERATOR}`
const extent = flags.quick
  ? 'QUICK: small sites and one short load of each; for a first impression only'
  : `medians of ${plan.rounds} loads of ${plan.seconds} s`
console.log(
  flags.json
    ? JSON.stringify({ machine, quick: flags.quick, rows: rows.map(judged) })
    : `${machine}; ${extent}\n\n${table(rows)}`,
)
process.exit(rows.some(({ failure }) => failure !== undefined) ? 1 : 0) // PostgreSQL would keep it running

/** One that fails does not cost the others their numbers. */
async function rowsOf({ name, run }: Case): Promise<Row[]> {
  try {
    return await run(bench)
  } catch (error) {
    const failure = String((error as Error).stack)
    console.error(failure)
    return [{ name, failure }]
  } finally {
    endAll()
  }
}

function judged(row: Row): Row & { met?: boolean } {
  return { ...row, ...(row.result?.goal && { met: isMet(row.result.value, row.result.goal) }) }
}
