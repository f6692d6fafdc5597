import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as labs from '../../src/service/labs.js'
import * as posts from '../../src/service/posts.js'
import { engines, makeSite, type Engine } from '../support/site.js'

const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }

/** A post of a member with a comment of theirs, each alone: nobody else took part. */
async function world(engine: Engine) {
  const site = await makeSite(engine, { siteUrl: 'http://localhost', rates: {} })
  const owner = await site.owner()
  await site.call(boards.create, { name: 'Ideas' })
  const [member, other] = [await site.member(), await site.member()]
  const staff = await site.member(['dashboard:read', 'post:update'])
  const { post } = (await site.http('POST /posts', { token: member.token, body: { title: 'Dark mode', boardId: 'ideas' } })).body // prettier-ignore
  const { activity } = (await site.http('POST /posts/1/comments', { token: member.token, body: { body: 'For the eyes' } })).body // prettier-ignore
  const codeOf = async (request: string, token: string, body: object = {}) => {
    const { status, body: answer } = await site.http(request, { token, body })
    return answer?.code ?? status
  }
  const headersOf = (token?: string) => ({ accept: 'text/html', ...(token !== undefined && { cookie: `feedbackctl=${token}` }) }) // prettier-ignore
  const pageOf = async (path: string, token?: string) => (await site.http(`GET /${path}`, { headers: headersOf(token) })).text // prettier-ignore
  const sent = async (path: string, token: string, body: string) =>
    (await site.http(`POST /${path}`, { headers: { ...FORM, ...headersOf(token) }, body })).text
  const mayOf = async (token: string) => {
    const comments = (await site.http('GET /posts/1/activity', { token })).body.activity
    const shown = (await site.http('POST /posts/slug', { token, body: { slug: '1' } })).body.post
    const listed = (await site.http('POST /posts/get', { token, body: {} })).body.posts
    expect(listed[0].may).toEqual(shown.may)
    return { post: shown.may, comment: comments[0].comment.may }
  }
  const set = (input: object) => site.call(boards.update, { boardId: 'ideas', partial: true, ...input })
  const lock = (locked: string) => site.call(posts.update, { id: '1', partial: true, locked })
  const path = `/posts/${post.slug}`
  return { site, owner, member, other, staff, path, comment: activity.id, codeOf, pageOf, sent, mayOf, set, lock }
}

describe.each(engines)('posts that take no more on %s', (engine) => {
  it('keep on an archived board what their authors wrote', async () => {
    const { site, owner, member, other, comment, codeOf, mayOf, set } = await world(engine)
    const open = { post: ['update', 'delete'], comment: ['update', 'delete'] }
    expect(await mayOf(member.token)).toEqual(open)
    await set({ archived: true })
    expect(await mayOf(member.token)).toEqual({ post: [], comment: [] })
    const at = `/posts/1/comments/${comment}`
    expect(await codeOf(`PUT ${at}`, member.token, { body: 'For all eyes' })).toBe('BOARD_ARCHIVED')
    expect(await codeOf(`DELETE ${at}`, member.token)).toBe('BOARD_ARCHIVED')
    expect(await codeOf('PATCH /posts', member.token, { id: '1', title: 'Dark' })).toBe('BOARD_ARCHIVED')
    expect(await codeOf('DELETE /posts', member.token, { id: '1' })).toBe('BOARD_ARCHIVED')
    expect((await site.http('GET /posts/1/activity')).body.activity).toMatchObject([{ comment: { body: 'For the eyes' } }]) // prettier-ignore
    // These change nothing of it
    expect(await codeOf('PUT /posts/1/follow', other.token)).toBe(200)
    expect(await codeOf(`POST ${at}/report`, other.token, { reason: 'rude' })).toBe(200)
    // The team tidies up
    expect(await mayOf(owner)).toMatchObject({ post: ['update', 'delete', 'spam', 'merge'] })
    expect(await codeOf(`PUT ${at}`, owner, { body: 'For all eyes' })).toBe(200)
    await set({ archived: false })
    expect(await mayOf(member.token)).toEqual(open)
    await set({ archived: true })
    expect(await codeOf(`DELETE ${at}`, owner)).toBe(204)
    expect(await codeOf('DELETE /posts', owner, { id: '1' })).toBe(204)
  })

  it('take no new text of comments where they are locked for those', async () => {
    const { member, staff, comment, codeOf, mayOf, lock } = await world(engine)
    const at = `/posts/1/comments/${comment}`
    for (const locked of ['comments', 'all']) {
      await lock(locked)
      expect(await codeOf(`PUT ${at}`, member.token, { body: 'Something else' })).toBe('POST_LOCKED')
      expect(await mayOf(member.token)).toEqual({ post: ['update', 'delete'], comment: ['delete'] })
    }
    expect(await codeOf('POST /posts/1/comments', staff.token, { body: 'From the team' })).toBe(201)
    await lock('votes')
    expect(await codeOf(`PUT ${at}`, member.token, { body: 'Something else' })).toBe(200)
    await lock('comments')
    expect(await codeOf(`DELETE ${at}`, member.token)).toBe(204)
  })

  it('have no form on their pages that would be refused', async () => {
    const { site, owner, member, other, staff, path, comment, pageOf, sent, set, lock } = await world(engine)
    await site.call(labs.update, { voteOnBehalf: true })
    const tools = (text: string) => ({
      replies: text.includes('data-reply'),
      comments: text.includes('class="comment-form"'),
      votes: text.includes(`${path}/vote"`) || text.includes(`${path}/unvote"`),
      edit: text.includes(`${path}/edit`),
      editComment: text.includes(`${comment}/edit`),
    })
    const all = { replies: true, comments: true, votes: true }
    const none = { replies: false, comments: false, votes: false, edit: false, editComment: false }
    expect(tools(await pageOf(path, member.token))).toEqual({ ...all, edit: true, editComment: true })
    await lock('all')
    expect(tools(await pageOf(path, member.token))).toEqual({ ...none, edit: true })
    expect(tools(await pageOf(path, other.token))).toEqual(none)
    expect(tools(await pageOf(path))).toEqual(none)
    expect(tools(await pageOf(path, staff.token))).toMatchObject({ ...all, edit: true })
    const dashboard = `/dashboard${path}`
    expect((await pageOf(dashboard, owner)).includes('name="user_id"')).toBe(true)
    await set({ archived: true })
    for (const token of [member.token, other.token]) expect(tools(await pageOf(path, token))).toEqual(none)
    for (const token of [staff.token, owner]) {
      expect(tools(await pageOf(path, token))).toMatchObject({ ...none, edit: true, editComment: token === owner })
      const shown = await pageOf(dashboard, token)
      expect(tools(shown)).toMatchObject({ replies: false, comments: false })
      expect(['name="user_id"', 'data-key="r"', '<kbd>r</kbd>'].filter((each) => shown.includes(each))).toEqual([])
    }
    // A form that was open before comes back with what was typed
    const forms = {
      [`${path}/edit`]: 'title=Dark&contentMarkdown=My+words&boardId=ideas',
      [`${path}/comments/${comment}/edit`]: 'body=My+words',
      [`${path}/comments`]: 'body=My+words',
    }
    for (const [to, body] of Object.entries(forms)) {
      const text = await sent(to, member.token, body)
      expect([to, text.includes('My words'), text.includes('It can only be read')]).toEqual([to, true, true])
    }
    const note = 'body=My+words&is_internal=true'
    const reply = `body=My+words&parent_id=${comment}`
    const gone = 'body=My+words&parent_id=018f0000-0000-7000-8000-000000000000'
    const typed = (text: string) => [text.match(/>\s*My words<\/textarea>/g)?.length, text.match(/<details data-reply(?:="")? open/g)?.length ?? 0] // prettier-ignore
    expect(typed(await sent(`${path}/comments`, member.token, reply))).toEqual([1, 1])
    expect(typed(await sent(`${path}/comments`, member.token, gone)), 'of another page').toEqual([1, 0])
    for (const [body, open] of [
      [note, 0],
      [reply, 1],
      [gone, 0],
      ['body=My+words', 0],
    ] as const)
      // prettier-ignore
      expect([body, ...typed(await sent(`${dashboard}/comments`, owner, body))]).toEqual([body, 1, open])
    expect(await pageOf(`${path}/comments/${comment}/edit`, other.token)).not.toContain('For the eyes</textarea>')
  })

  it('publish no reply to a note that is deleted meanwhile', async () => {
    const { site, owner, path, pageOf, sent } = await world(engine)
    const dashboard = `/dashboard${path}`
    const note = (await site.http('POST /posts/1/comments', { token: owner, body: { body: 'A note', is_internal: true } })).body.activity.id // prettier-ignore
    const form = new RegExp(`<form[^>]*>(?:(?!</form>).)*name="parent_id" value="${note}".*?</form>`, 's')
    const fields = (text: string) => [...(form.exec(text)?.[0] ?? '').matchAll(/name="(parent_id|is_internal)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]) // prettier-ignore
    for (const [page, to] of [[path, `${path}/comments`], [dashboard, `${dashboard}/comments`]] as const) // prettier-ignore
      expect([to, fields(await pageOf(page, owner))]).toEqual([to, [['parent_id', note], ['is_internal', 'true']]]) // prettier-ignore
    await site.http(`DELETE /posts/1/comments/${note}`, { token: owner })
    // Refused for its length, it comes back as the note that it is
    const body = new URLSearchParams({
      parent_id: note,
      is_internal: 'true',
      body: `For the team ${'x'.repeat(20_000)}`,
    })
    for (const to of [`${path}/comments`, `${dashboard}/comments`]) {
      const text = await sent(to, owner, String(body))
      expect([to, fields(text)]).toEqual([
        to,
        [
          ['parent_id', note],
          ['is_internal', 'true'],
        ],
      ])
      expect([to, form.exec(text)?.[0].includes('For the team')]).toEqual([to, true])
    }
    body.set('body', 'For the team')
    await sent(`${dashboard}/comments`, owner, String(body))
    expect(await pageOf(path, owner)).toContain('For the team')
    expect(await pageOf(path)).not.toContain('For the team')
  })

  it('show the vote of the reader, and let the team vote on a locked one', async () => {
    const { member, other, staff, path, pageOf, lock, set } = await world(engine)
    await lock('votes')
    const voteIn = (text: string) => /<(?:form|span)[^>]*class="vote".*?<\/(?:form|span)>/s.exec(text)?.[0] ?? ''
    for (const at of [path, '/']) {
      expect(voteIn(await pageOf(at, staff.token))).toContain(`${path}/vote"`)
      expect(voteIn(await pageOf(at, member.token))).toMatch(/<button type="button" disabled[^>]* aria-pressed="true"/)
      expect(await pageOf(at, other.token)).toContain('class="voted" title="No votes any more"')
    }
    await set({ archived: true })
    expect(voteIn(await pageOf(path, member.token))).toContain('aria-pressed="true"')
    expect(await pageOf(path, staff.token)).toContain('class="voted" title="No votes any more"')
  })

  it('are not offered as places of other posts', async () => {
    const { site, member, other, staff, path, pageOf, sent, set } = await world(engine)
    await site.call(boards.create, { name: 'News', posting: 'team' })
    await site.call(boards.create, { name: 'Old', archived: true })
    const offered = (text: string) => Array.from(text.matchAll(/<option value(?:="([^"]*)")?( selected)?/g), ([, url = '', isChosen = '']) => url + isChosen) // prettier-ignore
    for (const board of ['', '?board=old', '?board=news'])
      expect(offered(await pageOf(`/posts/new${board}`, other.token)).map((each) => each.split(' ')[0])).toEqual(['', 'ideas']) // prettier-ignore
    expect(offered(await pageOf('/posts/new?board=old', staff.token))).not.toContain('old selected')
    for (const board of ['', '?board=old', '?board=news'])
      expect(offered(await pageOf(`${path}/edit${board}`, member.token))).toEqual(['', 'ideas selected'])
    const refused = await sent(`${path}/edit`, member.token, 'title=Dark&boardId=old')
    expect([offered(refused), refused.includes('It can only be read')]).toEqual([['', 'ideas selected'], true])
    expect(offered(await pageOf(`${path}/edit`, staff.token))).toEqual(expect.arrayContaining(['', 'ideas selected', 'news'])) // prettier-ignore
    await set({ posting: 'team' })
    expect(offered(await pageOf(`${path}/edit`, member.token))).toEqual(['', 'ideas selected'])
    await set({ archived: true })
    expect(offered(await pageOf(`${path}/edit`, staff.token))).toEqual(expect.arrayContaining(['ideas selected', 'news'])) // prettier-ignore
  })
})
