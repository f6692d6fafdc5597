import { describe, expect, it } from 'vitest'
import { makeMachine, serve } from '../support/cli.js'
import { engines } from '../support/site.js'

interface Listed {
  number: number
  title: string
  slug: string
}

describe.each(engines)('the number of a post on %s', (engine) => {
  it('counts the posts of the site, and names a post everywhere, with or without #', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const { run } = machine
    await run("posts create 'Dark mode' --body x")
    const second = JSON.parse((await run("posts create 'Light mode' --body x --json")).stdout) as { post: Listed }
    expect(second.post.number).toBe(2)
    for (const name of ['2', "'#2'", second.post.slug])
      expect((await run(`posts show ${name} -o name`)).stdout).toBe(`${second.post.slug}\n`)
    const changes = [
      "posts update '#2' --title 'Bright mode'",
      "comments create '#2' --body Soon.",
      'comments list 2',
      'votes remove 2',
      "votes add '#2'",
      'votes list 2',
    ]
    for (const args of changes) expect([args, (await run(args)).code]).toEqual([args, 0])
    const table = await run('posts list -o table')
    expect(table.stdout.split('\n').map((line) => line.slice(0, 19).trimEnd())).toEqual([
      'NUMBER  TITLE',
      '#2      Bright mode',
      '#1      Dark mode',
      '',
    ])
    expect(await run('posts show 3')).toMatchObject({ code: 3, stderr: expect.stringContaining('POST_NOT_FOUND') })
    expect(await run('posts show 99999999999999999999')).toMatchObject({ code: 3 })
  })

  it('names a post over HTTP too', async () => {
    const machine = await makeMachine(engine)
    const token = await machine.setup()
    const http = await serve(machine)
    const { body } = await http('POST /posts', { token, body: { title: 'Dark mode' } })
    expect(body.post.number).toBe(1)
    for (const id of ['1', '#1']) {
      expect((await http('POST /posts/slug', { body: { id } })).body.post.title).toBe('Dark mode')
      expect((await http('POST /posts/slug', { body: { slug: id } })).body.post.title).toBe('Dark mode')
    }
    expect(await http('GET /posts/%231/votes')).toMatchObject({ status: 200 })
    expect(await http('GET /posts/1/activity')).toMatchObject({ status: 200 })
    const list = await http('POST /posts/get', { body: {} })
    expect(list.body.posts.map((post: Listed) => post.number)).toEqual([1])
  })

  it('is unique when two processes write at once, and is not used again after the newest post is deleted', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const writers = [machine.host(), machine.host()] as const
    await Promise.all(
      writers.map(async (run, writer) => {
        for (let index = 0; index < 15; index++) await run(`posts create 'post ${writer}-${index}' --body x`)
      }),
    )
    const [run] = writers
    const listed = async () =>
      (JSON.parse((await run('posts list --all --json')).stdout) as { posts: Listed[] }).posts.map(
        (post) => post.number,
      )
    expect((await listed()).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
    expect((await run('posts delete 30 --yes')).stderr).toMatch(/^Deleted post #30 "post \d-\d+"\.\n$/)
    const dry = await run("posts create 'The next' --body x --dry-run --json")
    expect(JSON.parse(dry.stdout)).toMatchObject({ post: { number: 31 } })
    const next = await run("posts create 'The next' --body x --json")
    expect(JSON.parse(next.stdout)).toMatchObject({ post: { number: 31 } })
    expect(await listed()).not.toContain(30)
  })
})
