import { describe, expect, it } from 'vitest'
import { connect } from '../../src/db/connect.js'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

describe.each(engines)('feedbackctl moderate on %s', (engine) => {
  it('decides with one key each, takes decisions back, and deletes only when one goes on', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('users create eve@example.org --generate-password --name Eve')
    const ids: string[] = []
    for (const title of ['One', 'Two', 'Three', 'Four'])
      ids.push(
        JSON.parse((await machine.run(`posts create ${title} --body Text --as eve@example.org --json`)).stdout).post
          .postId,
      )
    const db = await connect(machine.databaseUrl)
    await db.updateTable('posts').set({ contentMarkdown: 'Text \u001b[31m' }).execute() // of a version that stored it
    await db.destroy()
    await machine.run('posts create Own --body x') // of the owner, which needs no look
    const titles = async () => JSON.parse((await machine.run('posts list --json')).stdout).posts.map(({ title, is_spam: spam }: { title: string; is_spam?: boolean }) => title + (spam ? ' (spam)' : '')) // prettier-ignore

    const screen = machine.terminal('moderate', { env: { NO_COLOR: '1' } })
    await screen.sees(/1 of 4 +Post #4 "Four" +new[^]*Text {2}\[31m[^]*\[k\]eep {2}\[s\]pam {2}\[d\]elete/)
    screen.type('s')
    await screen.sees(/Marked #4 as spam\.[^]*2 of 4 +Post #3 "Three"[^]*\[q\]uit/)
    screen.type('d')
    await screen.sees(/Deleted #3\. Press u to undo, before the next decision\.[^]*3 of 4 +Post #2 "Two"[^]*\[q\]uit/)
    screen.type('u')
    await screen.sees(/Undone\.[^]*2 of 4 +Post #3 "Three"[^]*\[q\]uit/)
    expect(await titles()).toEqual(['Own', 'Four (spam)', 'Three', 'Two', 'One'])
    screen.type('x')
    await screen.sees(/Press k, s, d, b, n, u or q\./)
    screen.type('b')
    await screen.sees(/Blocked Eve\. Now decide about the post\.[^]*2 of 4[^]*\[q\]uit/)
    screen.type('u')
    await screen.sees(/Undone\.[^]*2 of 4[^]*\[q\]uit/)
    screen.type('n')
    await screen.sees(/Left #3 for later[^]*3 of 4[^]*\[q\]uit/)
    screen.type('d')
    await screen.sees(/4 of 4 +Post #1 "One"[^]*\[q\]uit/)
    expect(await titles()).toContain('Two')
    screen.type('k')
    await screen.sees(/Kept #1\.[^]*\[u\]ndo {2}\[q\]uit/)
    screen.type('u')
    await screen.sees(/Undone\.[^]*4 of 4[^]*\[q\]uit/)
    screen.type('k')
    await screen.sees(/Kept #1\.[^]*\[q\]uit/)
    screen.type('q')
    await screen.sees(/Stopped\. 3 decisions saved\./)
    expect((await screen.ended).code).toBe(0)
    expect(await titles()).toEqual(['Own', 'Four (spam)', 'Three', 'One'])
    expect(JSON.parse((await machine.run('moderate --json')).stdout)).toMatchObject({ total: 1 })
    expect((await machine.run('moderate list -q')).stdout.trim()).toBe(ids[2])
  })

  it('decides about the text that it has shown, and shows one that was changed meanwhile', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('users create eve@example.org --generate-password --name Eve')
    await machine.run("posts create One --body 'The first text' --as eve@example.org")
    const screen = machine.terminal('moderate', { env: { NO_COLOR: '1' } })
    await screen.sees(/The first text[^]*\[q\]uit/)
    const [read] = JSON.parse((await machine.run('moderate list --json')).stdout).items
    await machine.run("posts update 1 --body 'The second text' --as eve@example.org")
    screen.type('k')
    await screen.sees(/It was changed meanwhile, so nothing was decided\. This is its text now\.[^]*1 of 1[^]*The second text[^]*\[q\]uit/) // prettier-ignore
    expect(await machine.run(`moderate keep 1 --if-updated-at ${read.updated_at}`)).toMatchObject({
      code: 5,
      stderr: expect.stringMatching(/fix +feedbackctl moderate list\n +code +CONTENT_CHANGED/),
    })
    screen.type('k')
    await screen.sees(/Kept #1\.[^]*\[q\]uit/)
    screen.type('q')
    await screen.sees(/Stopped\. 1 decision saved\./)
    expect((await screen.ended).code).toBe(0)
  })

  it('merges into the earlier post with a key where it is as public, and says where that is otherwise', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('users create eve@example.org --generate-password')
    await machine.run('boards create Secret --private')
    await machine.run("posts create 'Dark mode of the team' --board secret")
    await machine.run("posts create 'Export as spreadsheet'")
    await machine.run("posts create 'Dark modes of the team' --as eve@example.org")
    await machine.run("posts create 'Export as a spreadsheet' --as eve@example.org")
    const screen = machine.terminal('moderate', { env: { NO_COLOR: '1' } })
    await screen.sees(
      /1 of 2 +Post #4[^]*May repeat #2 "Export as spreadsheet": [^]*\[i\]nto the earlier post[^]*\[q\]uit/,
    )
    screen.type('n')
    await screen.sees(/2 of 2 +Post #3[^]*May repeat #1 "Dark mode of the team" \(board Secret, private\): [^]*\[b\]lock author {2}\[n\]ext[^]*\[q\]uit/) // prettier-ignore
    screen.type('i')
    await screen.sees(/Press k, s, d, b, n, u or q\./)
    screen.type('u')
    await screen.sees(/Undone\.[^]*1 of 2[^]*\[q\]uit/)
    screen.type('i')
    await screen.sees(/Merged #4 into #2\.[^]*2 of 2[^]*\[q\]uit/)
    screen.type('u')
    await screen.sees(/Undone\.[^]*1 of 2[^]*\[q\]uit/)
    await machine.run("posts update 4 --title 'Export as a large spreadsheet'")
    screen.type('i')
    await screen.sees(/It was changed meanwhile, so nothing was decided\.[^]*1 of 2 +Post #4 "Export as a large spreadsheet"[^]*\[q\]uit/) // prettier-ignore
    screen.type('i')
    await screen.sees(/Merged #4 into #2\.[^]*2 of 2[^]*\[q\]uit/)
    screen.type('q')
    expect((await screen.ended).code).toBe(0)
  })

  it('decides as another user', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('users create eve@example.org --generate-password')
    await machine.run('users create mia@example.org --generate-password --name Mia')
    await machine.run('posts create One --as eve@example.org')
    const screen = machine.terminal('moderate --as mia@example.org', { env: { NO_COLOR: '1' } })
    await screen.sees(/1 of 1[^]*\[q\]uit/)
    screen.type('k')
    await screen.sees(/Kept #1\.[^]*\[q\]uit/)
    screen.type('q')
    expect((await screen.ended).code).toBe(0)
    const [newest] = JSON.parse((await machine.run('events list --json')).stdout).events
    expect(newest).toMatchObject({ action: 'post.kept', actor: { username: expect.stringMatching(/^mia_/) } })
    expect(JSON.parse((await machine.run('moderate --as mia@example.org --json')).stdout)).toMatchObject({ total: 0 })
    expect(await machine.run('moderate --as nobody')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('User "nobody" not found.'),
    })
  })

  it('carries out no deletion that waits when it is interrupted', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('users create eve@example.org --generate-password')
    for (const title of ['One', 'Two']) await machine.run(`posts create ${title} --as eve@example.org`)
    const screen = machine.terminal('moderate', { env: { NO_COLOR: '1' } })
    await screen.sees(/1 of 2[^]*\[q\]uit/)
    screen.type('d')
    await screen.sees(/2 of 2[^]*\[q\]uit/)
    screen.type('\u0003')
    await screen.sees(/Interrupted\. 0 decisions saved\. The last deletion was not carried out\./)
    expect((await screen.ended).code).toBe(130)
    expect((await machine.run('posts list -q')).stdout.trim().split('\n')).toHaveLength(2)
  })

  it('keeps, hides and reopens by id, and members report', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('users create eve@example.org --generate-password')
    const slug = (await machine.run('posts create One -q')).stdout.trim()
    expect((await machine.run(`posts report ${slug} --reason rude --as eve@example.org`)).stderr).toBe(
      'Reported post #1 "One". The moderators will review it.\n',
    )
    expect((await machine.run('moderate list -o csv --reasons reported')).stdout).toMatch(/"?new|reported/)
    expect((await machine.run(`moderate spam ${slug} --dry-run`)).stderr).toBe('Would mark post #1 "One" as spam.\n')
    expect((await machine.run(`moderate spam ${slug}`)).stderr).toBe('Marked post #1 "One" as spam.\n')
    expect((await machine.run(`moderate reopen ${slug}`)).stderr).toBe('Reopened post #1 "One".\n')
    expect((await machine.run(`moderate keep ${slug}`)).stderr).toBe('Kept post #1 "One".\n')
    expect((await machine.run('moderate list -q')).stdout).toBe('')
    expect(await machine.run('moderate keep nothing')).toMatchObject({ code: 3 })
  })

  it('shows a long text in parts, and names the keys in lines that fit', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('users create eve@example.org --generate-password')
    const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`).join('\n')
    const { stdout } = await machine.run('posts create Long --body-file - --as eve@example.org -o name', {
      stdin: lines,
    })
    await machine.run(`comments create ${stdout.trim()} --body Short --as eve@example.org`)
    const table = (await machine.terminal('moderate list', { columns: 60, env: { NO_COLOR: '1' } }).ended).text
    expect(table).toMatch(/^NUMBER +WHY +KIND/)
    expect(table).toMatch(/^#1 +new +comment /m)
    const screen = machine.terminal('moderate', { columns: 60, env: { NO_COLOR: '1' } })
    await screen.sees(/1 of 2 +Comment on #1 "Long"[^]*\[k\]eep {2}\[s\]pam {2}\[d\]elete {2}\[b\]lock author {2}\[n\]ext {2}\[u\]ndo\r?\n\[q\]uit/) // prettier-ignore
    screen.type('k')
    await screen.sees(
      /Kept the comment on #1\.[^]*2 of 2 +Post #1 "Long"[^]*more lines: press m[^]*\[m\]ore\s+\[u\]ndo/,
    )
    expect(screen.text()).not.toContain('line 59')
    screen.type('m')
    await screen.sees(/line 0\r?\n[^]*line 59\r?\n\r?\n2 of 2 +Post #1 "Long"[^]*[^]*\[q\]uit/)
    screen.type('b')
    await screen.sees(/Blocked [^]*\[q\]uit/)
    screen.type('q')
    await screen.sees(/Stopped\. 2 decisions saved\./)
  })
})
