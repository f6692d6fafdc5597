import { describe, expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

describe.each(engines)('feedbackctl moderate on %s', (engine) => {
  it('decides with one key each, takes decisions back, and deletes only when one goes on', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const ids: string[] = []
    for (const title of ['One', 'Two', 'Three', 'Four'])
      ids.push(
        JSON.parse((await machine.run(`posts create ${title} --body 'Text \u001b[31m' --json`)).stdout).post.postId,
      )
    const titles = async () => JSON.parse((await machine.run('posts list --json')).stdout).posts.map(({ title, is_spam: spam }: { title: string; is_spam?: boolean }) => title + (spam ? ' (spam)' : '')) // prettier-ignore

    const screen = machine.terminal('moderate', { env: { NO_COLOR: '1' } })
    await screen.sees(/1 of 4 +Post #4 "Four" +new[^]*Text {2}\[31m[^]*\[k\]eep {2}\[s\]pam {2}\[d\]elete/)
    screen.type('s')
    await screen.sees(/Hidden as spam\.[^]*2 of 4 +Post #3 "Three"[^]*\[q\]uit/)
    screen.type('d')
    await screen.sees(/Press u to take it back[^]*3 of 4 +Post #2 "Two"[^]*\[q\]uit/)
    screen.type('u')
    await screen.sees(/Taken back[^]*2 of 4 +Post #3 "Three"[^]*\[q\]uit/)
    expect(await titles()).toEqual(['Four (spam)', 'Three', 'Two', 'One'])
    screen.type('b')
    await screen.sees(/owner of the site cannot be blocked[^]*2 of 4[^]*\[q\]uit/)
    screen.type('n')
    await screen.sees(/Left for later[^]*3 of 4[^]*\[q\]uit/)
    screen.type('d')
    await screen.sees(/4 of 4 +Post #1 "One"[^]*\[q\]uit/)
    expect(await titles()).toContain('Two')
    screen.type('k')
    await screen.sees(/Kept\.[^]*\[u\]ndo {2}\[q\]uit/)
    screen.type('u')
    await screen.sees(/Taken back[^]*4 of 4[^]*\[q\]uit/)
    screen.type('k')
    await screen.sees(/Kept\.[^]*\[q\]uit/)
    screen.type('q')
    await screen.sees(/Decided about 3 items\./)
    expect((await screen.ended).code).toBe(0)
    expect(await titles()).toEqual(['Four (spam)', 'Three', 'One'])
    expect(JSON.parse((await machine.run('moderate --json')).stdout)).toMatchObject({ total: 1 })
    expect((await machine.run('moderate list -q')).stdout.trim()).toBe(ids[2])
  })

  it('carries out no deletion that waits when it is interrupted', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('posts create One')
    await machine.run('posts create Two')
    const screen = machine.terminal('moderate', { env: { NO_COLOR: '1' } })
    await screen.sees(/1 of 2[^]*\[q\]uit/)
    screen.type('d')
    await screen.sees(/2 of 2[^]*\[q\]uit/)
    screen.type('\u0003')
    await screen.sees(/Interrupted after 0 decisions\. The last deletion was not carried out\./)
    expect((await screen.ended).code).toBe(130)
    expect((await machine.run('posts list -q')).stdout.trim().split('\n')).toHaveLength(2)
  })

  it('keeps, hides and reopens by id, and members report', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    await machine.run('users create eve@example.org --generate-password')
    const slug = (await machine.run('posts create One -q')).stdout.trim()
    expect((await machine.run(`posts report ${slug} --reason rude --as eve@example.org`)).stderr).toContain('Noted.')
    expect((await machine.run('moderate list -o csv --reasons reported')).stdout).toMatch(/"?new|reported/)
    expect((await machine.run(`moderate spam ${slug} --dry-run`)).stderr).toMatch(/^Dry run/)
    expect((await machine.run(`moderate spam ${slug}`)).stderr).toBe('Hid as spam post "One".\n')
    expect((await machine.run(`moderate reopen ${slug}`)).stderr).toBe('Reopened post "One".\n')
    expect((await machine.run(`moderate keep ${slug}`)).stderr).toBe('Kept post "One".\n')
    expect((await machine.run('moderate list -q')).stdout).toBe('')
    expect(await machine.run('moderate keep nothing')).toMatchObject({ code: 3 })
  })
})
