import { Command, type Option } from 'commander'
import { describe, expect, it, onTestFailed } from 'vitest'
import { EXIT_CODES } from '../../src/cli/help.js'
import { branches } from '../../src/cli/tree.js'
import { seededRandom } from '../../src/core/random.js'
import { connect } from '../../src/db/connect.js'
import { makeMachine } from '../support/cli.js'
import { cleanup, engines } from '../support/site.js'
import { amount, figures } from './amount.js'
import { newSeed } from '../support/random.js'

const LINES = amount(150, 1000)
const SEED = newSeed()
/** They serve, ask for a terminal, change the machine, or end the sessions and the site that the others work on. */
const LEFT_OUT = new Set(['serve', 'service', 'demo', 'login', 'logout', 'secret', 'setup', 'migrate'])
const LIKELY = ['ideas', 'planned', 'eve@example.org', 'Dark mode', '@everyone', '1', '5', 'newest', 'votes', 'true', 'json', 'table', '1d4ed8', 'board:create', 'long enough text', '2026-01-01', '1h'] // prettier-ignore
/** The row of each noun that is there. */
const ROWS: Record<string, string> = { boards: 'ideas', roadmaps: 'planned', users: 'eve@example.org', roles: '@everyone', posts: 'POST', votes: 'POST', comments: 'POST', labs: 'voteOnBehalf' } // prettier-ignore
const TRICKS = ['', '-', '--', '-1', '--help', '-x', '--json=1', '__proto__', 'constructor', '../../etc/passwd', '/dev/null', '@/etc/passwd', '\u001b[2J', '\u009b31m', '\u202ea', '\ud800', '%s%n', '$(id)', '`id`', '; ls', '| cat', '* ', '%00', '"', '\\', '=1+1', 'NaN', '1e309', '9'.repeat(400), 'x'.repeat(20_000), '💥'.repeat(200), '00000000-0000-0000-0000-000000000000'] // prettier-ignore

interface Verb {
  words: string[]
  args: number
  options: readonly Option[]
}

const GLOBAL = ['--json', '--no-input', '--quiet', '--no-color', '--dry-run', '--all', '--yes', '-o yaml', '-o jsonl', '-o csv', '-o tsv', '-o nonsense', '--as eve@example.org', '--limit 3'] // prettier-ignore

async function verbs(): Promise<Verb[]> {
  const found: Verb[] = []
  for (const { name, load } of branches.filter((branch) => !LEFT_OUT.has(branch.name))) {
    const branch = new Command(name)
    const { register } = await load()
    register(branch, {} as never) // nothing runs
    for (const each of branch.commands.length > 0 ? branch.commands : [branch])
      found.push({
        words: each === branch ? [name] : [name, each.name()],
        args: each.registeredArguments.length,
        options: each.options,
      })
  }
  return found
}

/** Makes command lines, about half of which are valid. */
function generator(all: readonly Verb[], post: string, random: () => number): () => string {
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T // never empty
  return () => {
    const isValid = random() < 0.5
    const word = () => (isValid || random() < 0.4 ? pick(LIKELY) : pick(TRICKS))
    const { words, args, options } = pick(all)
    const row = ROWS[words[0] ?? '']?.replace('POST', post)
    const count = isValid ? args : Math.floor(random() * (args + 2))
    const given = Array.from({ length: count }, (_, at) => (isValid && at === 0 && row !== undefined ? row : word()))
    const flags = options
      .filter(() => random() < (isValid ? 0.05 : 0.15))
      .flatMap((option) => {
        const flag = option.long ?? option.short ?? ''
        if (/file|editor|follow/.test(flag)) return [] // they wait, or read what is not of the site
        const value = option.argChoices && isValid ? pick(option.argChoices) : word()
        return option.required || option.optional ? [flag, value] : [flag]
      })
    const global = random() < 0.6 ? pick(isValid ? GLOBAL.slice(0, 4) : GLOBAL).split(' ') : []
    const line = [...words, ...given, ...flags, ...global]
    if (!isValid && random() < 0.3) line.splice(Math.floor(random() * line.length), 1, pick(TRICKS))
    return line.map((each) => `'${each.replaceAll("'", '')}'`).join(' ')
  }
}

describe.each(engines)('random command lines on %s', (engine) => {
  it('end with a documented code, never as a bug, and change nothing if they fail', async (context) => {
    onTestFailed(() => void process.stderr.write(`FEEDBACKCTL_TEST_SEED=${SEED} repeats the failure\n`)) // also where the program ends
    const machine = await makeMachine(engine)
    await machine.setup()
    for (const line of ['boards create Ideas', 'roadmaps create Planned'])
      expect((await machine.run(line)).code).toBe(0)
    const created = await machine.run("posts create 'Dark mode' --board ideas")
    const post = /dark-mode-\w+/.exec(created.stdout)?.[0] ?? ''
    expect(post).not.toBe('')
    await machine.run('users create eve@example.org --name Eve --password-stdin', { stdin: 'a good password' })
    const db = await connect(machine.databaseUrl)
    cleanup(() => db.destroy())
    const newest = async () =>
      (await db.selectFrom('events').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst())?.id
    const { run } = machine
    const next = generator(await verbs(), post, seededRandom(SEED))
    const documented = EXIT_CODES.map(([code]) => Number(code)).filter((code) => code !== 1)
    const codes = new Map<number | null, number>()
    const wrong: string[] = []
    for (let number = 0; number < LINES && wrong.length === 0; number++) {
      const line = next()
      const before = await newest()
      const { code, stdout, stderr } = await run(line)
      codes.set(code, (codes.get(code) ?? 0) + 1)
      const faults = [
        !documented.includes(code ?? 1) && 'the code',
        /\n {4}at |SQLITE_|correct horse/.test(stdout + stderr) && 'the output',
        /\$argon2/.test(stdout + stderr) && !line.includes("'--with-passwords'") && 'a hash',
        code !== 0 && code !== 7 && (await newest()) !== before && 'a change',
      ].filter((fault) => fault !== false)
      if (faults.length > 0)
        wrong.push(
          `${faults.join()}: line ${number}: feedbackctl ${line.slice(0, 500)}: ${code} ${stderr.slice(0, 500)}`,
        )
    }
    expect({ seed: SEED, wrong }).toEqual({ seed: SEED, wrong: [] })
    expect(codes.get(0), `seed ${SEED}: some lines are valid`).toBeGreaterThan(LINES / 8)
    figures(context, `${LINES} lines, seed ${SEED}, ${JSON.stringify(Object.fromEntries(codes))}`)
  }, 3_600_000)
})
