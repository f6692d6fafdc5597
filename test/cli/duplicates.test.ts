import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines, type Engine } from '../support/site.js'

const TITLES = [
  'Night theme',
  'Export as CSV',
  'Dark mode',
  'CSV export, please!',
  'Offline maps',
  'Dark mode for the night',
]

/** Posts 1 to 6, in the order of the titles. The first has a second vote, and words of the others in its text. */
async function makeWorld(engine: Engine) {
  const machine = await makeMachine(engine)
  await machine.setup()
  const done = async (...commands: string[]) => {
    for (const command of commands) expect(await machine.run(command)).toMatchObject({ code: 0 })
  }
  await done('boards create Ideas', `posts create '${TITLES[0]}' --body 'A dark mode.'`)
  await machine.run('posts create -', { stdin: TITLES.slice(1).join('\n') })
  await done(
    "posts update 3 --body 'A theme for later.' --board ideas",
    'users create eve@example.org --no-invite',
    'labs update --vote-on-behalf',
    'votes add 1 --as eve@example.org',
  )
  const file = (name: string) => path.join(machine.folder, name)
  const write = (text: string) => writeFileSync(file('plan.txt'), text)
  const merged = async (number: number) =>
    (JSON.parse((await machine.run(`posts merged ${number} --json`)).stdout).merged as { number: number }[]).map((post) => post.number).toSorted((one, other) => one - other) // prettier-ignore
  return { machine, done, file, write, merged }
}

describe.each(engines)('posts that look like the same wish, on %s,', (engine) => {
  it('are listed where one is on a private board, and in no plan', async () => {
    const { machine, done, file } = await makeWorld(engine)
    await done('boards create Team --private', "posts create 'Maps that are offline' --board team")
    const { stdout } = await machine.run('posts duplicates -o table')
    expect(stdout).toMatch(/\n#7 .*#5 .*maps, offline; one is on a private board\n/)
    expect((await machine.run('posts duplicates --plan plan.txt')).stderr).toContain('Wrote 3 merges to plan.txt.')
    expect(readFileSync(file('plan.txt'), 'utf8')).not.toMatch(/Maps|maps/)
    expect((await machine.run('posts duplicates --board team,none --plan none.txt')).stderr).not.toContain('Maps')
  })

  it('are listed with the words that they share, and written as a plan that merges them', async () => {
    const { machine, file, merged } = await makeWorld(engine)
    const { run } = machine
    const csv = (await run('posts duplicates -o csv --fields number,into.number,words')).stdout
    expect(csv.replaceAll('\r', '')).toBe('number,into.number,words\n4,2,"[""csv"",""export""]"\n6,1,"[""dark"",""mode"",""night""]"\n3,1,"[""dark"",""mode"",""theme""]"\n') // prettier-ignore
    expect((await run('posts duplicates -o table')).stdout).toMatch(/^NUMBER +TITLE .*WHY\n#4 +CSV export, please! .*#2 .*csv, export\n/) // prettier-ignore
    const { clusters, compared } = JSON.parse((await run('posts duplicates --limit 1 --json')).stdout)
    expect([compared, clusters.length, clusters[0].into.number, clusters[0].posts[0]]).toEqual([6, 1, 2, expect.objectContaining({ number: 4, title: 'CSV export, please!', score: 1, words: ['csv', 'export'] })]) // prettier-ignore
    expect(await run('posts duplicates --board ideas -o table')).toMatchObject({ code: 0, stdout: '', stderr: '' })
    expect(await run('posts duplicates --board nowhere')).toMatchObject({ code: 3 })

    const said = await run('posts duplicates --plan plan.txt')
    expect(said).toMatchObject({ code: 0, stderr: 'Wrote 3 merges to plan.txt. Look at it, then: feedbackctl posts merge --plan plan.txt --dry-run\n' }) // prettier-ignore
    const plan = readFileSync(file('plan.txt'), 'utf8')
    expect(plan.split('\n').slice(-7)).toEqual([
      '# "Export as CSV", 1 vote',
      '4 -> 2  # "CSV export, please!" into "Export as CSV": csv, export',
      '',
      '# "Night theme", 2 votes',
      '6 -> 1  # "Dark mode for the night" into "Night theme": dark, mode, night',
      '3 -> 1  # "Dark mode" into "Night theme": dark, mode, theme',
      '',
    ])
    expect((await run('posts duplicates --plan -')).stdout).toBe(plan.replaceAll('plan.txt', 'FILE'))
    expect(await run('posts duplicates --plan plan.txt')).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('it exists already') }) // prettier-ignore

    const dry = await run('posts merge --plan plan.txt --dry-run -o table')
    expect(dry.stdout).toMatch(/^LINE +NUMBER +TITLE +INTO +OUTCOME.*\n +7 +#4 +CSV export, please! +2 +changed/)
    expect(dry).toMatchObject({ code: 0, stderr: 'Would merge 3 posts.\nWould tell nobody.\n' })
    expect(await merged(1)).toEqual([])
    expect(await run('posts merge --plan - -o table', { stdin: plan })).toMatchObject({ code: 0, stderr: 'Merged 3 posts.\nTo take one back: feedbackctl posts unmerge 4\n' }) // prettier-ignore
    expect([await merged(1), await merged(2)]).toEqual([[3, 6], [4]])
    expect((await run('events list --action post.merged --json')).stdout.match(/"quiet"/g)).toHaveLength(3)
    expect(await run('posts duplicates -q')).toMatchObject({ code: 0, stdout: '' })
    const events = (await run('events list --json')).stdout
    expect(await run('posts merge --plan plan.txt -o table')).toMatchObject({ code: 0, stderr: 'Merged 0 posts. 3 had nothing to change.\n' }) // prettier-ignore
    expect((await run('events list --json')).stdout).toBe(events)
    expect(await run('posts unmerge 6')).toMatchObject({ code: 0 })
    expect(await merged(1)).toEqual([3])

    await run("posts create 'Autoscroll'")
    await run("posts create 'Scroll by itself'")
    await run('posts merge 8 --into 1')
    await run("posts create 'Scroll by itself, please'")
    const [found] = JSON.parse((await run('posts duplicates --json')).stdout).clusters
    expect(found).toMatchObject({ into: { number: 1 }, posts: expect.arrayContaining([expect.objectContaining({ number: 9, words: [], merged: { posts: 1, words: ['scroll', 'itself'] } })]) }) // prettier-ignore
    expect((await run('posts duplicates')).stdout).toContain('1 merged post said: scroll, itself')
  })

  it('are merged line by line: what fails is reported, and the others are merged', async () => {
    const { machine, done, write, merged } = await makeWorld(engine)
    const { run } = machine
    write('\ufeff# A plan\r\n\r\n  5->99 # nothing\r\n4 -> 2 # yes\r\n77 -> 2\r\n4 -> 2\r\n#6 -> 2\r\n3 -> 1\r\n2 -> 1')
    const { code, stdout, stderr } = await run('posts merge --plan plan.txt -o table')
    expect([code, stderr]).toEqual([
      7,
      'Merged 3 posts. 1 had nothing to change. 2 failed.\nTo take one back: feedbackctl posts unmerge 4\n',
    ])
    expect(stdout).toMatch(/\n +3 +5 .*99 +failed +Post "99" not found\.\n[^]*\n +5 +77 .*2 +failed +Post "77" not found\.\n/) // prettier-ignore
    expect([await merged(1), await merged(5)]).toEqual([[2, 3, 4], []])
    const again = JSON.parse((await run('posts merge --plan plan.txt --json')).stdout)
    expect([again.changed, again.failed, again.undos]).toEqual([0, 2, []])
    expect(again.merges.map(({ line, outcome }: { line: number; outcome: string }) => `${line} ${outcome}`)).toEqual(['3 failed', '4 unchanged', '5 failed', '6 unchanged', '8 unchanged', '9 unchanged']) // prettier-ignore
    expect(await run('posts merge --plan plan.txt -q')).toMatchObject({ code: 5, stderr: expect.stringContaining('✗ Line 3: Post "99" not found. (POST_NOT_FOUND)\n') }) // prettier-ignore

    await done('posts unmerge 2', 'posts follow 5 --as eve@example.org')
    write('5 -> 6\n2 -> 6')
    const would = await run('posts merge --plan plan.txt --tell --dry-run -o table')
    expect(would.stderr).toBe('Would merge 2 posts.\nWould tell 1 person.\n')
    const { undos } = JSON.parse((await run('posts merge --plan plan.txt --tell --json')).stdout)
    expect((await run('events list --action post.merged --limit 1 --json')).stdout).not.toContain('"quiet"')
    expect(undos).toMatchObject([{ into: '6' }])
    await done(`posts undo ${undos[0].undo_id}`)
    expect(await merged(6)).toEqual([])
  })

  it('are refused with the numbers of odd lines, before anything is merged', async () => {
    const { machine, write, merged } = await makeWorld(engine)
    for (const [text, said] of [
      ['4 -> 2\n3 into 1\n', 'Line 2 of plan.txt must be like "12 -> 7"; "3 into 1" is not. Nothing was changed.'],
      ['4 -> #2', 'Line 1 of plan.txt must be like "12 -> 7"; "4 -> #2" is not.'],
      ['4 -> 2 -> 1', 'Line 1 of plan.txt must be'],
      ['4 3 -> 2', 'Line 1 of plan.txt must be'],
      ['4 -> 4', 'Line 1 of plan.txt merges 4 into itself.'],
      ['\n4 -> 2\n4 -> 1', 'Line 3 of plan.txt merges 4 into 1, and line 2 into 2.'],
      [
        '4 -> 3\n3 -> 2\n2 -> 4\n1 -> 1\n5 -> 2\n6 -> 1',
        'Line 4 of plan.txt merges 1 into itself. Line 3 of plan.txt merges 2 into 4, which other lines merge into 2. Nothing was changed.',
      ],
      ['x\n'.repeat(7), 'Line 5 of plan.txt must be like "12 -> 7"; "x" is not. 2 more lines cannot be read either.'],
      ['x'.repeat(10_001), 'Line 1 of plan.txt has more than 10000 characters.'],
      ['1 -> 2\n'.repeat(10_001), 'plan.txt has 10001 merges. A plan may have 10000: divide it.'],
    ] as const) {
      write(text)
      const { code, stdout, stderr } = await machine.run('posts merge --plan plan.txt')
      expect([said, code, stdout, stderr.replaceAll(/\s+/g, ' ')]).toEqual([said, 2, '', expect.stringContaining(said)])
    }
    expect(await merged(2)).toEqual([])
    for (const [args, said] of [
      ['--plan none.txt', 'Cannot read none.txt: it does not exist.'],
      ['1 --plan plan.txt', '--plan and 1 contradict each other.'],
      ['--plan plan.txt --into 2', '--plan and --into contradict each other.'],
      ['', 'Missing required arguments and options: <post>, --into.'],
    ] as const) {
      const { code, stderr } = await machine.run(`posts merge ${args}`)
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(said)])
    }
    write('# nothing\n\n')
    expect(await machine.run('posts merge --plan plan.txt -o table')).toMatchObject({ code: 0, stderr: 'plan.txt has no merges. Nothing was changed.\n' }) // prettier-ignore
  })
})

it('a terminal shows what a plan would merge, and asks first', async () => {
  const { machine, write, merged, file } = await makeWorld('sqlite')
  write('4 -> 2\n')
  for (const [answer, code, found] of [
    ['n', 5, []],
    ['y', 0, [4]],
  ] as const) {
    const screen = machine.terminal('posts merge --plan plan.txt')
    await screen.sees(/CSV export[\s\S]*Merge 1 post\?/)
    screen.type(`${answer}\r`)
    expect((await screen.ended).code).toBe(code)
    expect(await merged(2)).toEqual(found)
  }
  expect(existsSync(file('plan.txt'))).toBe(true)
})
