import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

/** A command that names what does not exist, and the list that has what does. */
const COMMANDS = [
  ['boards show nope', 'boards list'],
  ['boards update nope --color 1d4ed8', 'boards list'],
  ['boards delete nope --yes', 'boards list'],
  ['posts list --board nope', 'boards list'],
  ['posts search x --board nope', 'boards list'],
  ['posts create x --body x --board nope', 'boards list'],
  ['posts update 1 --board nope', 'boards list'],
  ['posts list --roadmap nope', 'roadmaps list'],
  ['posts update 1 --roadmap nope', 'roadmaps list'],
  ['roadmaps show nope', 'roadmaps list'],
  ['roadmaps move nope --position 1', 'roadmaps list'],
  ['posts list --author nope', 'users list'],
  ['users show nope', 'users list'],
  ['posts show 99', 'posts list'],
  ['votes add 99', 'posts list'],
  ['comments list 99', 'posts list'],
  ['comments delete 0190e5f0 --yes', 'comments list'],
  ['roles show nope', 'roles list'],
  ['roles assign nope --user ada@example.org', 'roles list'],
  ['roles assign helpers --user nope', 'users list'],
  ['roles unassign nope --user ada@example.org', 'roles list'],
  ['keys revoke nope --yes', 'keys list'],
] as const

it.each(engines)('what does not exist has one exit code in every command, and a fix, on %s', async (engine) => {
  const machine = await makeMachine(engine)
  await machine.setup()
  const { run } = machine
  await run('posts create One --body x')
  await run('roles create helpers')
  for (const [line, fix] of COMMANDS) {
    const { code, stdout, stderr } = await run(`${line} --json`)
    expect([line, code, stdout, JSON.parse(stderr).fix]).toEqual([line, 3, '', `feedbackctl ${fix}`])
  }
})
