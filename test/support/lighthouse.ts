import { spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { withDemo } from './demo.js'

/**
 * Scores pages of the demo, as a phone gets them, and exits with 1 where a score is below 100. Lighthouse needs a newer
 * Node than the tests, and ends at once with the browser of the tests: all three are installed when this first runs.
 */
const PACKAGES = ['node@22.23.3', 'lighthouse@13.5.0', '@sparticuz/chromium@153.0.0']
const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const
const FLAGS = '--headless --no-sandbox --no-zygote --disable-gpu'

interface Report {
  categories: Record<string, { score: number | null; auditRefs: readonly { id: string; weight: number }[] }>
  audits: Record<string, { title: string; score: number | null; displayValue?: string }>
}

const home = path.resolve(import.meta.dirname, '../../node_modules/.cache/lighthouse')
const node = path.join(home, 'node_modules/node/bin/node')
const folder = mkdtempSync(path.join(tmpdir(), 'feedbackctl-lighthouse-'))
const env = { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' } // where it unpacks the browser with its libraries
try {
  await install()
  const browser = await browserOf()
  await withDemo(async (address) => {
    const list = await (await fetch(`${address}/?sort=votes`)).text()
    const post = /href="(\/posts\/[^"/#]+)"><bdi>/.exec(list)?.[1]
    if (post === undefined) throw new Error('The demo shows no post.')
    for (const page of ['/', post, '/roadmaps']) report(page, await scored(address + page, browser))
  })
} finally {
  rmSync(folder, { recursive: true })
}

async function install(): Promise<void> {
  const wanted = JSON.stringify({ private: true, description: PACKAGES.join(' ') })
  const file = path.join(home, 'package.json')
  if (existsSync(file) && readFileSync(file, 'utf8') === wanted) return
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home, { recursive: true })
  writeFileSync(path.join(home, 'package.json.new'), wanted)
  await run('npm', ['install', '--prefix', home, '--no-save', '--no-audit', '--no-fund', ...PACKAGES])
  writeFileSync(file, wanted) // last: an install that was stopped begins anew
}

/** The browser of FEEDBACKCTL_TEST_CHROMIUM, or the one that npm installs. */
async function browserOf(): Promise<NodeJS.ProcessEnv> {
  const { FEEDBACKCTL_TEST_CHROMIUM: own } = process.env
  if (own !== undefined) return { CHROME_PATH: own }
  const script = `const { default: chromium } = await import('@sparticuz/chromium')
    console.log(JSON.stringify({ CHROME_PATH: await chromium.executablePath(), LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH }))`
  const made = await run(node, ['--input-type=module', '--eval', script], ['ignore', 'pipe', 'inherit'])
  return JSON.parse(made) as NodeJS.ProcessEnv
}

async function scored(address: string, browser: NodeJS.ProcessEnv): Promise<Report> {
  const file = path.join(folder, 'report.json')
  const command = path.join(home, 'node_modules/lighthouse/cli/index.js')
  const options = [`--only-categories=${CATEGORIES.join(',')}`, `--chrome-flags=${FLAGS}`, '--output=json', `--output-path=${file}`] // prettier-ignore
  await run(node, [command, address, ...options, '--quiet'], 'inherit', browser)
  return JSON.parse(readFileSync(file, 'utf8')) as Report
}

function report(page: string, { categories, audits }: Report): void {
  const scores = CATEGORIES.map((name) => Math.round((categories[name]?.score ?? 0) * 100))
  process.stdout.write(`${scores.map((score) => String(score).padStart(3)).join(' ')}  ${decodeURIComponent(page)}\n`)
  if (scores.every((score) => score === 100)) return
  process.exitCode = 1
  for (const name of CATEGORIES)
    for (const { id, weight } of categories[name]?.auditRefs ?? []) {
      const { title = id, score = null, displayValue = '' } = audits[id] ?? {}
      if (weight > 0 && score !== null && score < 1) process.stdout.write(`    ${name}: ${title} ${displayValue}\n`)
    }
}

/** Runs a program in the folder of the packages, and returns what it writes where `stdio` pipes it. */
async function run(
  program: string,
  args: readonly string[],
  stdio: StdioOptions = 'inherit',
  more: NodeJS.ProcessEnv = {},
): Promise<string> {
  const child = spawn(program, args, { cwd: home, stdio, env: { ...env, ...more } })
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (part: string) => (text += part))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${path.basename(program)} ${args[0]} ended with ${code}.`)
  return text
}
