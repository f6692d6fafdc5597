import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { makeMachine } from '../support/cli.js'
import { cleanup, engines } from '../support/site.js'

const DAY_MS = 24 * 60 * 60 * 1000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

/** Posts 1 to 4, people and comments that came 10, 5, 2 and 0 days ago. */
async function filled(engine: (typeof engines)[number]) {
  const machine = await makeMachine(engine)
  const token = await machine.setup()
  const { run } = machine
  await run('boards create Ideas')
  for (const [index, title] of ['Ten', 'Five', 'Two', 'Now'].entries()) {
    await run(`users create ${title}@example.org --password-stdin`, { stdin: 'correct horse battery' })
    await run(`posts create ${title} --body x --as ${title}@example.org${index === 1 ? ' --board ideas' : ''}`)
  }
  for (const title of ['Ten', 'Five', 'Two', 'Now'])
    for (const as of ['ada', title]) await run(`comments create 4 --body ${title} --as ${as}@example.org`)
  await run('votes add 2')
  const db = await connect(machine.databaseUrl)
  cleanup(() => db.destroy())
  for (const [title, days] of Object.entries({ Ten: 10, Five: 5, Two: 2 })) {
    await db
      .updateTable('posts')
      .set({ createdAt: daysAgo(days) })
      .where('title', '=', title)
      .execute()
    await db
      .updateTable('comments')
      .set({ created_at: daysAgo(days) })
      .where('body', '=', title)
      .execute()
    const email = `${title.toLowerCase()}@example.org`
    await db
      .updateTable('users')
      .set({ createdAt: daysAgo(days) })
      .where('email', '=', email)
      .execute()
  }
  return { machine, token, run }
}

describe.each(engines)('--since and --until on %s', (engine) => {
  it('limit posts, in every order and with other filters, here and on a server', async () => {
    const { machine, token, run } = await filled(engine)
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const there = { env: { FEEDBACKCTL_SERVER: url, FEEDBACKCTL_TOKEN: token } }
    for (const where of [{}, there]) {
      const titles = async (args: string) => {
        const { code, stdout } = await run(`posts list ${args} --json`, where)
        const body = JSON.parse(stdout) as { posts: { title: string }[]; total_count: number }
        return [code, body.posts.map(({ title }) => title).join(' '), body.total_count]
      }
      expect(await titles('--since 7d')).toEqual([0, 'Now Two Five', 3])
      expect(await titles('--since 1w --until 36h')).toEqual([0, 'Two Five', 2])
      expect(await titles('--since Yesterday')).toEqual([0, 'Now', 1])
      expect(await titles('--until yesterday')).toEqual([0, 'Two Five Ten', 3])
      expect(await titles(`--until ${daysAgo(3)} --sort oldest`)).toEqual([0, 'Ten Five', 2])
      expect(await titles('--since 7d --sort votes')).toEqual([0, 'Five Now Two', 3])
      expect(await titles('--since 7d --sort votes -L 1 --page 2')).toEqual([0, 'Now', 3])
      expect(await titles('--since 7d --sort oldest -L 1 --page 2')).toEqual([0, 'Two', 3])
      expect(await titles('--since 7d --board ideas')).toEqual([0, 'Five', 1])
      expect(await titles('--since 7d --author two@example.org')).toEqual([0, 'Two', 1])
      expect(await titles('--since 7d --query x')).toEqual([0, 'Now Two Five', 3])
      expect(await titles('--until 2020-01-01')).toEqual([0, '', 0])
      expect((await run('posts list --since 7d --all --fields number', where)).stdout.match(/number/g)).toHaveLength(3)
      expect((await run('posts search x --since 4d --fields title', where)).stdout).toBe(
        '[{"title":"Now"},{"title":"Two"}]\n',
      )
    }
  })

  it('begin and end at a moment: what was written at that moment belongs to --since', async () => {
    const { run } = await filled(engine)
    const { posts } = JSON.parse((await run('posts list --until 4d --json')).stdout) as {
      posts: { title: string; createdAt: string }[]
    }
    const at = posts.find(({ title }) => title === 'Five')?.createdAt
    const titles = async (args: string) => (await run(`posts list ${args} --sort oldest --fields title`)).stdout
    expect(await titles(`--since ${at} --until 1d`)).toBe('[{"title":"Five"},{"title":"Two"}]\n')
    expect(await titles(`--until ${at}`)).toBe('[{"title":"Ten"}]\n')
  })

  it('stay how long ago in a saved view', async () => {
    const { run } = await filled(engine)
    expect(await run('views create fresh --since 7d --sort oldest')).toMatchObject({ code: 0 })
    expect((await run('views list --json')).stdout).toContain('"filter":{"sort":"oldest","since":"7d"}')
    expect((await run('posts list --view fresh --fields title')).stdout).toMatch(/^\[\{"title":"Five"/)
    const refused = await run('views create today --since today')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--since must be a date or a time') })
  })

  it('limit comments, by author too, and people, and events', async () => {
    const { run } = await filled(engine)
    const rows = async (args: string) => {
      const body = JSON.parse((await run(`${args} --json`)).stdout) as { total_count: number; activity?: unknown[] }
      return body.total_count
    }
    expect(await rows('comments list 4 --since 7d')).toBe(6)
    expect(await rows('comments list 4 --since 7d --until 1d --author two@example.org')).toBe(1)
    expect(await rows('comments list 4 --author five@example.org')).toBe(1)
    expect(await rows('users list --since 7d --until 1d')).toBe(2)
    const people = await run('users list --since 7d --created desc -L 1 --page 3 --fields email')
    expect(people.stdout).toBe('[{"email":"two@example.org"}]\n')
    expect((await run('users list --since 7d --all -q')).stdout.trim().split('\n')).toHaveLength(4)
    expect((await run('events list --since 1h --action user.created --fields action')).stdout).not.toBe('[]\n')
    expect((await run('events list --until 1h --fields action')).stdout).toBe('[]\n')
  })

  it('refuse what is no time, and an author that does not exist', async () => {
    const { run } = await filled(engine)
    for (const [args, rule] of [
      ['posts list --since soon', '--since must be how long ago (30m, 12h, 7d, 2w, 1y), today, yesterday, or a date'],
      ['users list --until 7', '--until must be how long ago'],
      ['comments list 4 --since 2026-02-30', '--since must be a date'],
    ] as const)
      expect(await run(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(rule) })
    expect(await run('comments list 4 --author nobody')).toMatchObject({ code: 3 })
  })
})
