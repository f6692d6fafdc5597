// Runs the tests again and again, and names each test that ever failed. Half of the runs have a load on all cores,
// and delay what pages load:
//   npm run test:steady -- [--runs 10] [arguments for vitest]
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'

interface Report {
  numPassedTests: number
  numFailedTests: number
  success: boolean
  testResults: { name: string; message: string; assertionResults: Assertion[] }[]
}

interface Assertion {
  fullName: string
  status: string
  failureMessages: string[]
}

const ROOT = path.resolve(import.meta.dirname, '../..')
const { values, positionals } = parseArgs({ options: { runs: { type: 'string', default: '10' } }, allowPositionals: true, strict: false }) // prettier-ignore
const runs = Number(values.runs)
const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-steady-'))
let load: ChildProcess[] = []
const stopLoad = () => {
  for (const each of load.splice(0)) each.kill('SIGKILL')
}
process.on('exit', stopLoad)

const failures = new Map<string, { runs: number[]; seeds: Set<string> }>()
const say = (line: string) => process.stdout.write(`${line}\n`)
for (let number = 1; number <= runs; number++) {
  const isLoaded = number > runs / 2
  if (isLoaded && load.length === 0) load = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;) {}'])) // prettier-ignore
  const began = performance.now()
  const report = await runOnce(path.join(folder, `${number}.json`), isLoaded)
  const seconds = Math.round((performance.now() - began) / 1000)
  say(`Run ${number} of ${runs}${isLoaded ? ', beside a load' : ''}: ${report.numPassedTests} passed, ${report.numFailedTests} failed, ${seconds} s`) // prettier-ignore
  for (const [name, messages] of failed(report)) {
    say(`  ✗ ${name}`)
    const known = failures.get(name) ?? { runs: [], seeds: new Set() }
    known.runs.push(number)
    for (const [, seed = ''] of messages.matchAll(/seed\b\W{0,3}(-?\w+)/gi)) known.seeds.add(seed)
    failures.set(name, known)
  }
}
stopLoad()
rmSync(folder, { recursive: true })
for (const [name, { runs: inRuns, seeds }] of failures)
  say(`${name}: failed in run ${inRuns.join(', ')}${seeds.size > 0 ? `, seed ${[...seeds].join(', ')}` : ''}`)
say(`${failures.size} of all tests failed in any of ${runs} runs.`)
process.exitCode = failures.size > 0 ? 1 : 0

async function runOnce(file: string, isLoaded: boolean): Promise<Report> {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile.json=${file}`, ...positionals]
  const env = { ...process.env, ...(isLoaded && { FEEDBACKCTL_TEST_LATE: 'yes' }) }
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  await once(child, 'close')
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report
  } catch {
    throw new Error(`A run wrote no report:\n${errors}`)
  }
}

/** The tests that failed, and the files that could not be run, with what was said. */
function failed({ testResults, success }: Report): [name: string, messages: string][] {
  const found = testResults.flatMap(({ name, message, assertionResults }): [string, string][] => {
    const file = path.relative(ROOT, name)
    const tests = assertionResults.filter(({ status }) => status === 'failed')
    if (tests.length === 0 && message !== '') return [[file, message]]
    return tests.map((each): [string, string] => [`${file} > ${each.fullName}`, each.failureMessages.join('\n')])
  })
  return found.length > 0 || success ? found : [['an error outside of the tests', '']]
}
