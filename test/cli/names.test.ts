import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

const PASSWORD = 'correct horse battery'

/** A site with a few rows of each noun, and a signed-in server for the same data. */
async function filled(engine: (typeof engines)[number]) {
  const machine = await makeMachine(engine)
  const token = await machine.setup()
  const { run } = machine
  const json = async (args: string) => JSON.parse((await run(`${args} --json`)).stdout)
  await run("boards create '💡 Ideas' --url thoughts")
  await run("boards create 'Secret plans' --display false")
  await run("roadmaps create 'Coming soon' --url soon")
  await run('roles create helpers')
  await run('users create eve@example.org --password-stdin', { stdin: PASSWORD })
  const post = (await json("posts create 'Dark mode' --body x --board thoughts")).post.postId as string
  const comment = (await json('comments create 1 --body Soon.')).activity.id as string
  return { machine, token, run, json, post, comment }
}

/** The shortest start of an id that no other id of now shares is near its end: the ids begin with the time. */
const startOf = (id: string) => id.slice(0, -2)

describe.each(engines)('what is named at the command line on %s', (engine) => {
  it('is found by the start of its id, here and on a server', async () => {
    const { machine, token, run, json, post, comment } = await filled(engine)
    const board = (await json('boards show thoughts')).board.boardId as string
    const roadmap = (await json('roadmaps show soon')).roadmap.id as string
    const user = (await json('users show eve@example.org')).user.userId as string
    expect((await json('whoami --as eve@example.org')).user.userId).toBe(user)
    expect((await run('whoami --as eve@example.org')).stderr).toBe(
      'Commands with --as eve@example.org act as this account.\n',
    )
    const role = (await json('roles show helpers')).role.id as string
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const there = { env: { FEEDBACKCTL_SERVER: url, FEEDBACKCTL_TOKEN: token } }
    for (const where of [{}, there]) {
      const commands = [
        `posts show ${startOf(post)}`,
        `posts update ${startOf(post)} --board ${startOf(board)} --roadmap ${startOf(roadmap).toUpperCase()}`,
        `posts list --board ${startOf(board)} --author ${startOf(user)}`,
        `comments list ${startOf(post)}`,
        `comments update ${startOf(comment)} --post ${startOf(post)} --body Later.`,
        `comments create 1 --body Yes. --answer-to ${startOf(comment)}`,
        `votes list ${startOf(post)}`,
        `boards show ${startOf(board)}`,
        `roadmaps update ${startOf(roadmap)} --color 1d4ed8`,
        `users show ${startOf(user)}`,
        `roles assign ${startOf(role)} --user ${startOf(user)}`,
        `roles unassign ${startOf(role)} --user ${startOf(user)}`,
        `moderate keep ${startOf(comment)}`,
        `moderate keep ${startOf(post)}`,
      ]
      for (const args of commands) {
        const { code, stderr } = await run(args, where)
        expect([args, code, stderr.includes('✗')]).toEqual([args, 0, false])
      }
      const answers = (await run(`comments list 1 --json`, where)).stdout
      expect(answers).toContain(`"parent_id":"${comment}"`)
      const { stdout } = await run(`events list --subject ${startOf(post)} --json`, where)
      expect(JSON.parse(stdout).events.map((event: { subject_id: string }) => event.subject_id)).toContain(post)
    }
    expect((await run(`posts create Export --body x --as ${startOf(user)} --json`)).code).toBe(0)
    expect((await json('posts list --author eve@example.org')).total_count).toBe(1)
    const key = (await json('keys create ci')).key.keyId as string
    expect(await run(`keys revoke ${startOf(key)} --yes`)).toMatchObject({ code: 0 })
  })

  it('is refused with the candidates where several ids begin so, and nothing is changed', async () => {
    const { run, post } = await filled(engine)
    await run("posts create 'Light mode' --body x")
    const refused = await run(`posts delete ${post.slice(0, 6)} --yes`)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(
      `✗ "${post.slice(0, 6)}" is the start of several ids. Give more characters of one.\n`,
    )
    expect(refused.stderr).toMatch(new RegExp(`  fix   ${post}   #1 Dark mode\n        \\S{36}   #2 Light mode\n`))
    expect(refused.stderr).toContain('code  AMBIGUOUS_NAME (exit 2)')
    expect((await run('posts list -q')).stdout.split('\n')).toHaveLength(3)
    expect(await run(`posts show ${post.slice(0, 3)}`)).toMatchObject({ code: 3 })
    expect(await run('posts show ffffffff')).toMatchObject({ code: 3 })
  })

  it('is found by its name in any letter case, where that is unique', async () => {
    const { run, json } = await filled(engine)
    expect((await json('boards show IDEAS')).board.url).toBe('thoughts')
    expect((await json("roadmaps show 'coming SOON'")).roadmap.url).toBe('soon')
    expect((await run("posts update 1 --board 'secret Plans' --roadmap 'Coming soon'")).code).toBe(0)
    expect((await json("posts list --board 'Secret plans,ideas'")).total_count).toBe(1)
    await run('boards create Ideas --url others')
    const several = await run('boards delete ideas --yes')
    expect(several).toMatchObject({ code: 2, stderr: expect.stringContaining('Several boards have the name "ideas".') })
    expect(several.stderr).toContain('Ideas (others)')
    expect((await run('boards list -q')).stdout).toContain('others')
    await run("keys create 'Nightly import'")
    expect(await run("keys revoke 'nightly IMPORT' --yes")).toMatchObject({ code: 0 })
    expect((await json('keys list')).keys).toEqual([])
  })

  it('is looked up before a change, which is sent once', async () => {
    const { machine, token, run, post } = await filled(engine)
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const there = { env: { FEEDBACKCTL_SERVER: url, FEEDBACKCTL_TOKEN: token } }
    for (const args of [
      "boards update 'secret PLANS' --color 1d4ed8",
      `posts update ${startOf(post)} --board 'Secret plans' --roadmap 'coming soon'`,
      'posts update 1 --board thoughts --roadmap soon',
      'posts update 99 --title Lost',
      `votes add ${startOf(post)}`,
    ]) {
      const { stderr } = await run(`${args} --verbose`, there)
      const changes = stderr
        .match(/ms {2}(PATCH|PUT|DELETE|POST) \S+/g)
        ?.filter((each) => !each.endsWith('/posts/slug'))
      expect([args, changes]).toMatchObject([args, { length: 1 }])
    }
  })

  it('is looked up before a read that could not find it, which then runs once', async () => {
    const { machine, token, run, comment } = await filled(engine)
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const there = { env: { FEEDBACKCTL_SERVER: url, FEEDBACKCTL_TOKEN: token } }
    const requests = async (args: string) =>
      Array.from(
        (await run(`${args} --verbose`, there)).stderr.matchAll(/ms {2}[A-Z]+ http:\/\/[^/]+(\/\S+)/g),
        ([, path = '']) =>
          path
            .replace(/^\/api\/v1/, '')
            .replace(/[?].*/, '')
            .replace(/[0-9a-f-]{36}/, 'ID'),
      )
    expect(await requests('boards show thoughts')).toEqual(['/boards/thoughts'])
    expect(await requests('posts list --board thoughts')).toEqual(['/posts/get'])
    expect(await requests("boards show 'secret PLANS'")).toEqual(['/names/board/secret%20PLANS', '/boards/ID'])
    expect(await requests("posts list --board 'secret PLANS'")).toEqual(['/names/board/secret%20PLANS', '/posts/get'])
    expect(await requests(`comments show ${startOf(comment)}`)).toEqual([
      `/names/comment/${startOf(comment)}`,
      '/comments/ID',
    ])
    // It could be a url, so only the answer tells
    expect(await requests('roadmaps show soo')).toEqual(['/roadmaps/soo', '/names/roadmap/soo'])
    await run("roadmaps create 'Later' --url then")
    expect(await requests('roadmaps show later')).toEqual(['/roadmaps/later', '/names/roadmap/later', '/roadmaps/ID'])
  })

  it('is what the operation itself finds, before what has such a name', async () => {
    const { run, json } = await filled(engine)
    await run('boards create Thoughts --url other')
    await run('boards create THOUGHTS --url another')
    const user = (await json('users show eve@example.org')).user.userId as string
    await run("posts create 'By Eve' --body x --board thoughts --as eve@example.org")
    expect((await run(`posts list --board thoughts --author ${startOf(user)} -q`)).stdout.split('\n')).toHaveLength(2)
    expect((await json('boards update thoughts --color 1d4ed8')).board.name).toBe('💡 Ideas')
    expect(await run('boards delete OTHERS --yes')).toMatchObject({ code: 3 })
    expect((await run('boards delete thoughts --yes')).code).toBe(0)
    expect((await json('boards list')).boards.map((board: { url: string }) => board.url)).not.toContain('thoughts')
  })

  it('shows nobody what they may not see', async () => {
    const { machine, run, json, comment } = await filled(engine)
    const hidden = (await json("posts create Hidden --body x --board 'secret plans'")).post.postId as string
    const board = (await json("boards show 'secret plans'")).board.boardId as string
    await run('comments update COMMENT --post 1 --internal true'.replace('COMMENT', comment))
    const server = machine.start('serve')
    const [, url = ''] = await server.says(/listening on (http:\S+?)"/)
    const asVisitor = { env: { FEEDBACKCTL_SERVER: url } }
    for (const args of [`posts show ${startOf(hidden)}`, `boards show ${startOf(board)}`, "boards show 'Secret plans'"])
      expect([args, (await run(args, asVisitor)).code]).toEqual([args, 3])
  })
})
