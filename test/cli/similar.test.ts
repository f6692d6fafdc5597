import { describe, expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'

const titlesOf = async (machine: Machine) =>
  (JSON.parse((await machine.run('posts list --json')).stdout) as { posts: { title: string }[] }).posts.map(
    (post) => post.title,
  )

async function withPost() {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run("posts create 'Dark mode for the evening'")
  return machine
}

describe('posts like a new one', () => {
  it('are listed by a command', async () => {
    const machine = await withPost()
    expect(await machine.run("posts similar 'a dark theme' -q")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^dark-mode-.*\n$/) as string,
    })
    expect(await machine.run('posts similar light -q')).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  it('are shown on a terminal, which asks before it creates another and before an editor opens', async () => {
    const machine = await withPost()
    const env = { EDITOR: 'echo opened; echo Please. >' }
    for (const [answer, code, count] of [
      ['n', 5, 1],
      ['', 5, 1],
      ['y', 0, 2],
    ] as const) {
      const screen = machine.terminal("posts create 'Dark theme'", { env })
      await screen.sees(/There are similar ones:\s+#1 "Dark mode for the evening", 1 vote\s+[\s\S]*Create another\?/)
      expect(screen.text()).not.toContain('opened')
      screen.type(`${answer}\r`)
      const ended = await screen.ended
      expect([answer, ended.code, ended.text.includes('opened')]).toEqual([answer, code, code === 0])
      expect(await titlesOf(machine)).toHaveLength(count)
    }
  })

  it('keep nobody from creating one where there are none, in scripts, and with --yes', async () => {
    const machine = await withPost()
    for (const command of [
      "posts create 'Light at night' --body x",
      "posts create 'Dark one' --body x --yes",
      "posts create 'Dark two' --body x --no-input",
      "posts create 'Dark three' --body x -q",
      "posts create 'Dark four' --body x --if-not-exists",
      "posts create 'Dark five' --body x --dry-run",
    ]) {
      const { code, text } = await machine.terminal(command).ended
      expect([command, code, text.includes('similar')]).toEqual([command, 0, false])
    }
    expect(await machine.run("posts create 'Dark six'")).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Created post/) as string,
    })
    expect(await titlesOf(machine)).toHaveLength(7)
  })

  it('are asked for as who is signed in, where the server may refuse to look', async () => {
    const machine = await withPost()
    const server = machine.start('serve --limits-similar 1/1m')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const at = { env: { FEEDBACKCTL_SERVER: url } }
    const visitor = await machine.terminal("posts create 'Dark theme' --body x", at).ended
    expect([visitor.code, visitor.text.includes('similar')]).toEqual([4, false])
    await machine.run('login --email ada@example.org --password-stdin', { ...at, stdin: 'correct horse battery' })
    const screen = machine.terminal("posts create 'Dark theme' --body x", at)
    await screen.sees(/Create another\?/)
    screen.type('n\r')
    expect((await screen.ended).code).toBe(5)
    expect((await machine.terminal("posts create 'Dark theme' --body x", at).ended).code).toBe(0)
  })
})
