import { writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { miscounts } from '../../src/db/recount.js'
import { makeMachine, type Machine } from '../support/cli.js'
import { random } from '../support/random.js'
import type { Engine } from '../support/site.js'

/** What both engines store: any character but NUL and halves of one. */
const text = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.string({ maxLength: 20 }),
    fc.constantFrom('=1+1', ' \r\n\t', '\u2028\u202e', '💩', '<b>x</b>', '\\"\u001b[31m'),
  ) // prettier-ignore
  .map((each) => each.replaceAll('\0', '').toWellFormed())
const name = text.map((each) => `x${each}`)
const time = fc.date({ min: new Date('2015-01-01'), max: new Date('2026-01-01'), noInvalidDate: true }).map((date) => date.toISOString()) // prettier-ignore
const id = (most: number) => fc.integer({ min: 1, max: most }).map(String)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })

/** So many records of a type, with the ids 1, 2 and so on. */
const some = <T extends object>(type: string, from: number, to: number, fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.array(fc.record(fields), { minLength: from, maxLength: to }).map((all) => all.map((each, at) => ({ type, sourceId: String(at + 1), ...each }))) // prettier-ignore

/** Records of an import. Some refer to what is not there, and are refused. */
const records = fc
  .tuple(
    some('board', 4, 4, { name, isPrivate: fc.boolean(), hidesVoters: fc.boolean() }),
    some('status', 4, 4, { name, isPrivate: fc.boolean(), kind: fc.constantFrom('open', 'planned', 'active', 'done', 'declined') }), // prettier-ignore
    some('tag', 4, 4, { name, isPrivate: fc.boolean() }),
    some('person', 8, 12, { name: maybe(name), isBlocked: fc.boolean(), createdAt: time }),
    some('post', 20, 40, { title: name, text, board: maybe(id(4)), status: maybe(id(4)), author: maybe(id(9)), tags: fc.array(id(4), { maxLength: 3 }), createdAt: time, updatedAt: time, importedVotes: fc.nat(9), paths: fc.array(id(99).map((each) => `/old/${each}`), { maxLength: 2 }) }) // prettier-ignore
      .map(([first, ...rest]) => [{ ...first, author: null }, ...rest]),
    fc.array(fc.record({ type: fc.constant('vote'), post: id(21), person: id(9), createdAt: time }), {
      minLength: 20,
      maxLength: 60,
    }),
    some('comment', 10, 40, { post: id(10), author: maybe(id(9)), parent: maybe(id(12)), text: name, createdAt: time, isInternal: fc.boolean(), isUpdate: fc.boolean() }) // prettier-ignore
      .map(([first, ...rest]) => [{ ...first, post: '1', author: null, parent: null }, ...rest]), // one at least refers to what is there, and stays
    fc.array(fc.record({ type: fc.constant('merge'), post: id(20), into: id(20) }), { maxLength: 4 }),
  )
  .map((all) => all.flat())

/** Changes that an import does not make. Some are refused, as where there is no such post. */
const commands = fc.shuffledSubarray(
  [
    "settings update --title '=1+1' --announcement 'We move on **Sunday**.' --signup",
    'settings update --hold-first-posts --accent-color 2f6fed',
    'roles create Helpers --permissions comment:view_internal,post:read',
    'roles assign Helpers --user ada@example.org',
    'roles create Nobody',
    "views create Mine --sort votes --query 'x'",
    "posts create 'By hand' --body 'See #1'",
    'posts update 1 --title Renamed',
    'posts delete 2 --yes',
    "comments create 3 --body 'Thanks'",
    'posts follow 3 --as ada@example.org',
    'boards create Ideas --private',
    'boards create Shown',
    'boards follow shown --as ada@example.org',
    'legal set imprint --text Here',
    "posts report 4 --reason 'Spam' --as ada@example.org",
    'tags create UI',
    'users create eve@example.org --name Eve',
    'labs update --vote-on-behalf',
  ],
  { minLength: 5 },
)

/** Texts of columns that take anything, also what no form lets through. */
const texts = fc.record({ posts: text, comments: text, notes: text, description: text })

async function randomSite(engine: Engine, next: () => number): Promise<Machine> {
  const sample = <T>(of: fc.Arbitrary<T>): T => fc.sample(of, { seed: Math.floor(next() * 2 ** 31), numRuns: 1 })[0] as T // prettier-ignore
  const machine = await makeMachine(engine)
  await machine.setup()
  writeFileSync(path.join(machine.folder, 'records.jsonl'), sample(records).map((each) => `${JSON.stringify(each)}\n`).join('')) // prettier-ignore
  const { code, stderr } = await machine.run('import records records.jsonl --source other --yes')
  expect([code, stderr]).toEqual([expect.toBeOneOf([0, 7]), stderr])
  for (const command of sample(commands)) {
    const done = await machine.run(command)
    expect([command, done.code, done.stderr]).toEqual([command, expect.toBeOneOf([0, 3, 4, 5]), done.stderr])
  }
  const odd = sample(texts)
  const db = await connect(machine.databaseUrl)
  await db.updateTable('posts').set({ contentMarkdown: odd.posts }).where('number', '=', 3).execute()
  await db.updateTable('comments').set({ body: odd.comments }).where('is_internal', '=', 1).execute()
  await db.updateTable('users').set({ notes: odd.notes }).execute()
  await db.updateTable('settings').set({ description: odd.description }).execute()
  await db.destroy()
  return machine
}

async function exported(machine: Machine, flags: string): Promise<string> {
  const { code, stdout, stderr } = await machine.run(`export ${flags}`)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

/** Each site is imported from the one before. Together they go from each engine to each. */
const JOURNEYS: [Engine, ...Engine[]][] = [
  ['sqlite', 'sqlite', 'postgres', 'sqlite'],
  ['postgres', 'postgres'],
]

it.each(JOURNEYS)('a random site of %s has the same export wherever it is imported', async (...journey) => {
  const next = random()
  const [first, ...others] = journey
  const flags = next() < 0.5 ? '' : '--with-passwords'
  let site = await randomSite(first, next)
  const whole = await exported(site, flags)
  for (const type of ['post', 'vote', 'comment', 'imported_row', 'event']) expect(whole).toContain(`{"type":"${type}"`)
  for (const engine of others) {
    const stdin = await exported(site, flags)
    site = await makeMachine(engine)
    const done = await site.run('import - --yes', { stdin })
    expect([engine, done.code, done.stderr]).toEqual([engine, 0, expect.stringContaining('Imported the export.')])
    expect(await exported(site, flags)).toBe(whole)
    const db = await connect(site.databaseUrl)
    expect(await miscounts(db)).toEqual([])
    await db.destroy()
  }
})
