import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

/** A site with a post and three comments on it, and a server for the same data. */
async function commented(engine: (typeof engines)[number]) {
  const machine = await makeMachine(engine)
  const token = await machine.setup()
  const { run } = machine
  await run("posts create 'Dark mode' --body x")
  const ids: string[] = []
  for (const text of ['One', 'Two', 'Three'])
    ids.push(JSON.parse((await run(`comments create 1 --body ${text} --json`)).stdout).activity.id as string)
  const server = machine.start('serve')
  const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
  return { run, ids, there: { env: { FEEDBACKCTL_SERVER: url, FEEDBACKCTL_TOKEN: token } } }
}

describe.each(engines)('comments on %s', (engine) => {
  it('are shown, changed, reported and deleted by their id alone, here and on a server', async () => {
    const { run, ids, there } = await commented(engine)
    for (const [index, where] of [{}, there].entries()) {
      const id = ids[index] ?? ''
      const start = id.slice(0, -2)
      const shown = JSON.parse((await run(`comments show ${start} --json`, where)).stdout)
      expect(shown).toMatchObject({ activity: { id }, post: { number: 1, title: 'Dark mode' } })
      const named = `comment ${id} on post #1 "Dark mode"`
      expect(await run(`comments update ${start} --body Later.`, where)).toMatchObject({
        code: 0,
        stderr: `Updated ${named}.\n`,
      })
      expect((await run(`comments show ${id}`, where)).stdout).toContain('Later.')
      expect(await run(`comments update ${start}`, where)).toMatchObject({ code: 2 })
      expect((await run(`comments delete ${start} --yes --dry-run`, where)).stderr).toBe(
        `Would delete ${named}. Replies to it stay.\n`,
      )
      const removed = await run(`comments delete ${start} --yes --json`, where)
      expect(JSON.parse(removed.stdout)).toMatchObject({ deleted: { id, body: 'Later.' } })
      const gone = await run(`comments show ${id}`, where)
      expect([gone.code, gone.stderr.includes('COMMENT_NOT_FOUND')]).toEqual([3, true])
    }
    const [, , left = ''] = ids
    expect(await run(`comments report ${left} --reason Advertising`, there)).toMatchObject({ code: 0 })
    const deleted = await run(`comments delete ${left} --post 1 --yes`, there)
    expect(deleted).toMatchObject({ code: 0, stderr: `Deleted comment ${left} on post #1 "Dark mode".\n` })
  })
})
