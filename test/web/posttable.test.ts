import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/core/permissions.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as moderation from '../../src/service/moderation.js'
import * as posts from '../../src/service/posts.js'
import { move } from '../../src/service/postmoves.js'
import { tag as tagPosts } from '../../src/service/posttags.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as tags from '../../src/service/tags.js'
import * as users from '../../src/service/users.js'
import { serveSite, visit, WIDE } from '../support/browser.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const HOME = '/dashboard/posts'
const cookieOf = (token: string) => ({ accept: 'text/html', cookie: `feedbackctl=${token}` })
const get = (site: TestSite, path: string, token: string) => site.http(`GET /${path}`, { headers: cookieOf(token) })
const send = (site: TestSite, path: string, token: string, form: [string, string][]) =>
  site.http(`POST /${path}`, {
    headers: { ...cookieOf(token), origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })

/** The titles of the rows. */
const rowsOf = (text: string): string[] => [...text.matchAll(/aria-label="Choose ([^"]*)"/g)].map(([, title = '']) => title) // prettier-ignore

/** The numbers of the rows that are chosen. */
const chosenIn = (text: string): string[] =>
  [...text.matchAll(/<input type="checkbox" name="ids" value="(#\d+)" checked/g)].map(([, number = '']) => number)

const TEAM: Permission[] = ['dashboard:read', 'post:update', 'post:destroy', 'board:read', 'roadmap:read']

describe.each(engines)('the table of posts on %s', (engine) => {
  const open = async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const owner = await site.owner()
    for (const name of ['Ideas', 'Bugs', 'Plans']) await site.call(boards.create, { name, display: name !== 'Plans' })
    for (const name of ['Soon', 'Done']) await site.call(roadmaps.create, { name, display: true })
    for (let number = 1; number <= 9; number++) {
      site.clock.now = new Date(Date.UTC(2026, 2, 3, 10, number))
      const { post } = await site.call(posts.create, { title: `Post ${number}`, boardId: ['ideas', 'bugs', 'plans'][number % 3]! }) // prettier-ignore
      if (number % 2 === 0) await site.call(posts.update, { id: post.postId, roadmapId: 'soon', partial: true })
    }
    await site.db.updateTable('posts').set({ votesCount: 10_432 }).where('number', '=', 2).execute()
    return { site, owner, team: await site.member(TEAM) }
  }
  const roadmapOf = async (site: TestSite, id: string) => (await site.call(posts.show, { id })).post.roadmap?.url

  it('shows what the address asks for, with a link that takes each filter away, and no empty ones', async () => {
    const { site, team } = await open()
    const { status, text } = await get(site, HOME, team.token)
    expect([status, rowsOf(text).length]).toEqual([200, 9])
    expect(text).toContain('10,432')
    const tidy = await get(site, `${HOME}?q=&board=ideas&board=bugs&roadmap=none&author=&since=&sort=votes`, team.token)
    expect([tidy.status, tidy.headers.location]).toEqual([
      303,
      `${HOME}?board=ideas&board=bugs&roadmap=none&sort=votes`,
    ])
    const { text: found } = await get(site, String(tidy.headers.location), team.token)
    expect(rowsOf(found)).toEqual(['Post 9', 'Post 7', 'Post 3', 'Post 1'])
    expect(found).toContain(`href="${HOME}?board=bugs&amp;roadmap=none&amp;sort=votes"`)
    expect(found).toContain(`href="${HOME}?board=ideas&amp;board=bugs&amp;sort=votes"`)
    expect(found).toContain('aria-sort="descending"')
    expect(found).toMatch(/<bdi>Ideas<\/bdi><span class="soft number">2</)
    const { text: none } = await get(site, `${HOME}?q=nothing`, team.token)
    expect([rowsOf(none), none.includes('Nothing matches this filter')]).toEqual([[], true])
    const { text: nobody } = await get(site, `${HOME}?author=nobody`, team.token)
    expect(nobody, 'the field to mend is in sight').toContain('<details class="fold" open')
    const { status: wrong, text: unknown } = await get(site, `${HOME}?board=nowhere`, team.token)
    expect([wrong, unknown.includes('role="alert"')]).toEqual([200, true])
    const spam = await get(site, `${HOME}?spam=true`, team.token)
    expect([spam.status, rowsOf(spam.text), spam.text.includes(`name="spam" value="true" checked`)]).toEqual([200, [], true]) // prettier-ignore
    await site.call(moderation.decide, { id: '4', decision: 'spam' })
    const hidden = await get(site, `${HOME}?spam=true`, team.token)
    expect([rowsOf(hidden.text), hidden.text.includes(`aria-label="Remove the filter Hidden as spam"`)]).toEqual([['Post 4'], true]) // prettier-ignore
    expect(hidden.text).toContain('/export/posts?spam=true')
    const file = await get(site, '/export/posts?board=ideas&board=bugs&roadmap=none', team.token)
    expect(file.text.trim().split('\n')).toHaveLength(5)
  })

  it('leaves out what is hidden as spam, says so, and shows it by one click', async () => {
    const { site, team } = await open()
    for (const id of ['1', '4', '7']) await site.call(moderation.decide, { id, decision: 'spam' })
    await site.db.updateTable('posts').set({ is_spam: 2, display: 0 }).where('number', '=', 2).execute() // held, not spam
    const { text } = await get(site, HOME, team.token)
    expect(rowsOf(text)).toEqual([9, 8, 6, 5, 3, 2].map((number) => `Post ${number}`))
    expect(text).toContain('6 posts')
    expect(text).toContain(`Posts hidden as spam are not listed. <a href="${HOME}?spam=true">Show spam (3)</a>`)
    expect([text.includes('name="board" value="ideas"'), text.includes('name="board" value="bugs"')]).toEqual([true, false]) // prettier-ignore
    const { text: bugs } = await get(site, `${HOME}?board=bugs&sort=votes`, team.token)
    expect([rowsOf(bugs), bugs.includes(`?board=bugs&amp;spam=true&amp;sort=votes">Show spam (3)`)]).toEqual([[], true])
    const { text: ideas } = await get(site, `${HOME}?board=ideas`, team.token)
    expect([rowsOf(ideas).length, ideas.includes('Show spam')]).toEqual([3, false])
    const { text: spam } = await get(site, `${HOME}?spam=true`, team.token)
    expect([rowsOf(spam), spam.includes('Show spam')]).toEqual([['Post 7', 'Post 4', 'Post 1'], false])
    const [, file = ''] = /href="(\/export\/posts[^"]*)"/.exec(text) ?? []
    expect((await get(site, file, team.token)).text.trim().split('\n')).toHaveLength(7) // and the head
    // A view has the rows of the page that it was saved on
    await send(site, `${HOME}/views`, team.token, [['name', 'Clean'], ['spam', 'false']]) // prettier-ignore
    await send(site, `${HOME}/views`, team.token, [['name', 'Dirty'], ['spam', 'true']]) // prettier-ignore
    expect(text).toContain('<input type="hidden" name="spam" value="false"')
    for (const [name, count] of [
      ['Clean', 6],
      ['Dirty', 3],
    ] as const) {
      const { body } = await site.http('POST /posts/get', { token: team.token, body: { view: name } })
      expect([name, body.total_count, rowsOf((await get(site, `${HOME}?view=${name}`, team.token)).text).length]).toEqual([name, count, count]) // prettier-ignore
    }
    const all = await send(site, `${HOME}/move`, team.token, [['all', 'true'], ['roadmapId', 'done'], ['to', HOME]]) // prettier-ignore
    expect(all.text).toContain('6 posts')
    const visitor = await site.member(['dashboard:read'])
    expect((await get(site, HOME, visitor.token)).text).not.toContain('hidden as spam')
  })

  it('moves the chosen rows, leads back to the same list, and takes it back', async () => {
    const { site, team } = await open()
    const at = `${HOME}?board=ideas&page=1`
    const chosen: [string, string][] = [['ids', '#3'], ['ids', '#9'], ['to', at], ['roadmapId', 'done'], ['boardId', '']] // prettier-ignore
    const { status, headers } = await send(site, `${HOME}/move?board=ideas`, team.token, chosen)
    expect([status, headers.location]).toEqual([303, expect.stringContaining(`${at}&done=postsChanged.2%2Ctells.1&undo=`)]) // prettier-ignore
    expect([await roadmapOf(site, '3'), await roadmapOf(site, '9'), await roadmapOf(site, '6')]).toEqual(['done', 'done', 'soon']) // prettier-ignore
    const { text } = await get(site, String(headers.location), team.token)
    expect(text).toContain('2 posts are changed. 1 person is told of the new status.')
    const [, undo = ''] = /action="(\/undo\/[^"]+)"/.exec(text) ?? []
    await send(site, undo, team.token, [['to', at]])
    expect([await roadmapOf(site, '3'), await roadmapOf(site, '9')]).toEqual([undefined, undefined])
    const quiet = await send(site, `${HOME}/move?board=ideas`, team.token, [...chosen, ['quiet', 'true']])
    expect(quiet.headers.location).toContain('done=postsChanged.2&undo=')
    const spam = await send(site, `${HOME}/decide`, team.token, [['ids', '#5'], ['decision', 'spam']]) // prettier-ignore
    expect(spam.headers.location).toContain(`${HOME}?done=postsSpam.1`)
    expect((await site.call(posts.show, { id: '5' })).post.is_spam).toBe(true)
  })

  it('asks before it deletes the chosen rows, says what is lost, and leads back to the same list', async () => {
    const { site, team } = await open()
    await site.call(comments.create, { post_id: '3', body: 'A word' })
    const at = `${HOME}?board=ideas`
    expect((await get(site, at, team.token)).text).toMatch(/formaction="[^"]*\/decide[^"]*"[^>]*>Delete/)
    const asked = await send(site, `${HOME}/decide?board=ideas`, team.token, [['ids', '#3'], ['ids', '#9'], ['to', at], ['decision', 'delete']]) // prettier-ignore
    const said = asked.text.replaceAll(/[\u2066-\u2069]|<\/?bdi>/g, '')
    for (const words of ['Delete 2 for good?', '#3 Post 3', '#9 Post 9', '2 votes', '1 comment']) expect(said).toContain(words) // prettier-ignore
    expect((await site.call(posts.show, { id: '3' })).post.title).toBe('Post 3')
    const form = asked.text.slice(asked.text.lastIndexOf('<form'))
    const fields = Array.from(form.matchAll(/name="(\w+)" value="([^"]*)"/g), ([, name = '', value = '']): [string, string] => [name, value]) // prettier-ignore
    const [, to = ''] = /action="([^"]+)"/.exec(form) ?? []
    const done = await send(site, to, team.token, fields)
    expect([done.status, done.headers.location]).toEqual([303, `${at}&done=postsDeleted.2`])
    expect(rowsOf((await get(site, String(done.headers.location), team.token)).text)).toEqual(['Post 6'])
  })

  it('names each post that could not be changed, with the reason, and keeps it chosen', async () => {
    const { site, team } = await open()
    await site.call(posts.remove, { id: '3' })
    const form: [string, string][] = [['ids', '#3'], ['ids', '#6'], ['ids', '#9'], ['to', HOME], ['roadmapId', 'done']] // prettier-ignore
    const { status, text } = await send(site, `${HOME}/move?board=ideas`, team.token, form)
    expect(status).toBe(200)
    expect(text).toContain('1 post could not be changed')
    expect(text).toMatch(/#3<\/bdi>: This post no longer exists\./)
    expect(text).toContain('2 posts are changed.')
    expect(text).toMatch(/action="\/undo\//)
    expect([rowsOf(text), await roadmapOf(site, '9')]).toEqual([['Post 9', 'Post 6'], 'done'])
    const refused = await send(site, `${HOME}/move`, team.token, [['roadmapId', 'done']])
    expect([refused.status, refused.text.includes('Select at least one post first.')]).toEqual([422, true])
    const nowhere = await send(site, `${HOME}/move`, team.token, [['ids', '#6']])
    expect([nowhere.status, nowhere.text.includes('Choose a status or a board first.'), chosenIn(nowhere.text)]).toEqual([422, true, ['#6']]) // prettier-ignore
    expect((await get(site, `${HOME}/move?board=ideas`, team.token)).headers.location).toBe(`${HOME}?board=ideas`)
  })

  it('opens, saves and deletes views, and says what of one is gone', async () => {
    const { site, owner, team } = await open()
    const form: [string, string][] = [['name', 'Triage'], ['shared', 'true'], ['board', 'ideas'], ['board', 'bugs'], ['roadmap', 'none'], ['kind', 'open'], ['kind', 'done'], ['sort', 'oldest']] // prettier-ignore
    const { headers } = await send(site, `${HOME}/views?board=ideas`, team.token, form)
    expect(headers.location).toBe(`${HOME}?view=Triage&done=viewSaved`)
    const { filter } = await site.db.selectFrom('views').select('filter').executeTakeFirstOrThrow()
    expect(JSON.parse(filter)).toMatchObject({ boards: [expect.any(String), expect.any(String)], statusKind: ['open', 'done'] }) // prettier-ignore
    const { text } = await get(site, `${HOME}?view=triage`, team.token)
    expect(rowsOf(text)).toEqual(['Post 1', 'Post 3', 'Post 7', 'Post 9'])
    expect(text).toContain('View: Triage')
    expect(rowsOf((await get(site, `${HOME}?view=triage&sort=newest`, team.token)).text)[0]).toBe('Post 9')
    await send(site, `${HOME}/views?recent=14`, team.token, [
      ['name', 'Fresh'],
      ['recent', '14'],
    ])
    const { text: fresh } = await get(site, `${HOME}?view=fresh`, team.token)
    expect(fresh).toMatch(/name="recent" value="14"/)
    expect(fresh).toMatch(/Written within 14 days/)
    expect((await get(site, `${HOME}?since=12h`, team.token)).text).toMatch(/<input name="since" value="12h"/)
    const again = await send(site, `${HOME}/views`, team.token, form)
    expect([again.status, again.text.includes('There is a view with this name already.')]).toEqual([409, true])
    await site.http('DELETE /boards', { token: owner, body: { boardId: 'bugs' } })
    const { text: later } = await get(site, `${HOME}?view=triage`, team.token)
    expect([rowsOf(later), later.includes('1 choice of this view is gone')]).toEqual([['Post 3', 'Post 9'], true])
    const [, at = ''] = /href="(\/dashboard\/views\/[^"]+)\/settings"/.exec(later) ?? []
    const { text: settings } = await get(site, `${at}/settings`, team.token)
    expect(settings).toMatch(/name="shared" value="true" checked/)
    const renamed = await send(site, `${at}/settings`, team.token, [['name', 'New ones']])
    expect(renamed.headers.location).toBe(`${HOME}?view=New+ones&done=saved`)
    const { text: saved } = await get(site, `${at}/settings`, team.token)
    expect(saved, 'it is no longer shared').not.toMatch(/name="shared" value="true" checked/)
    const other = await send(site, `${HOME}/views`, team.token, [
      ['name', 'Others'],
      ['sort', 'newest'],
    ])
    expect(other.status).toBe(303)
    const taken = await send(site, `${at}/settings`, team.token, [
      ['name', 'Others'],
      ['shared', 'true'],
    ])
    expect([taken.status, taken.text.includes('value="Others"')]).toEqual([409, true])
    await send(site, `${at}/settings`, team.token, [
      ['name', 'Triage'],
      ['shared', 'true'],
    ])
    const mate = (await site.member(TEAM)).token
    expect((await get(site, `${HOME}?view=triage`, mate)).text, 'only who saved it').not.toContain(`${at}/settings`)
    expect((await get(site, `${at}/settings`, mate)).headers.location).toBe(`${HOME}?view=Triage`)
    expect((await send(site, `${at}/settings`, mate, [['name', 'Mine']])).status).toBe(403)
    const path = `${at}/delete`
    expect((await get(site, path, mate)).headers.location).toBe(`${HOME}?view=Triage`)
    expect(settings).toContain(`href="${path}"`)
    expect((await get(site, path, team.token)).text).toContain('The team loses it too.')
    expect((await send(site, path, team.token, [])).headers.location).toBe(`${HOME}?done=deleted`)
    expect((await get(site, `${HOME}?view=triage`, team.token)).status).toBe(404)
  })

  it('offers nothing that waits until an address is confirmed, on any page of the team', async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {}, unverified: 'read' })
    const owner = await site.owner()
    await site.call(boards.create, { name: 'Ideas' })
    await site.call(posts.create, { title: 'A wish', boardId: 'ideas' })
    const { token, userId } = await site.member([...TEAM, 'comment:create_internal', 'comment:update:any'])
    await site.http('POST /posts/1/report', { token: owner, body: {} })
    const marks = [/name="ids"/, /name="roadmapId"/, /value="(spam|keep|verb)/, /name="chosen"/, /data-key="[nmers#]"/]
    const offers = async (path: string) => {
      const { text } = await get(site, path, token)
      return marks.filter((mark) => mark.test(text)).length
    }
    const { slug } = (await site.call(posts.show, { id: '1' })).post
    for (const path of [HOME, '/dashboard', `${HOME}/${slug}`]) {
      await site.call(users.update, { user: userId, isVerified: false })
      expect([path, await offers(path)]).toEqual([path, path === `${HOME}/${slug}` ? 1 : 0]) // the field of a comment says why it is refused
      await site.call(users.update, { user: userId, isVerified: true })
      expect([path, (await offers(path)) > 1]).toEqual([path, true])
    }
  })

  it('shows to each what they may do and see, and no address', async () => {
    const { site } = await open()
    const reader = (await site.member(['dashboard:read'])).token
    const { status, text } = await get(site, HOME, reader)
    expect([status, text.includes('name="ids"'), text.includes('Plans')]).toEqual([200, false, false])
    const mover = (await get(site, HOME, (await site.member(['dashboard:read', 'post:update'])).token)).text
    expect([mover.includes('name="roadmapId"'), mover.includes('value="spam"')]).toEqual([true, false])
    const judge = (await get(site, HOME, (await site.member(['dashboard:read', 'post:destroy'])).token)).text
    expect([judge.includes('name="roadmapId"'), judge.includes('value="spam"')]).toEqual([false, true])
    for (const page of [text, mover, judge]) expect(page).not.toMatch(/@example\.org/)
    expect((await get(site, HOME, (await site.member(['post:update'])).token)).status).toBe(404)
    expect((await site.http(`GET /${HOME}`, { headers: { accept: 'text/html' } })).headers.location).toBe(`/login?redirect=${encodeURIComponent(HOME)}`) // prettier-ignore
    const forged = await send(site, `${HOME}/move`, reader, [['ids', '#3'], ['roadmapId', 'done']]) // prettier-ignore
    expect(forged.status).toBe(403)
  })
})

it('keys are for the current row where none is chosen, and words stay whole', async () => {
  const site = await serveSite('sqlite')
  const token = await site.owner()
  await site.call(boards.create, { name: 'Ideas' })
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const { tag } = await site.call(tags.create, { name: 'Schlagwörter' })
  for (const title of ['A first wish', 'Another']) {
    const { post } = await site.call(posts.create, { title, boardId: 'ideas' })
    await site.call(move, { ids: [post.postId], roadmapId: 'planned' })
    await site.call(tagPosts, { ids: [post.postId], add: [tag.url] })
  }
  const { page } = await visit({ viewport: WIDE })
  await page.context().addCookies([{ name: 'feedbackctl', value: token, url: site.url }])
  await page.goto(site.url + HOME)
  const chips = await page
    .locator('.rows .chip')
    .evaluateAll((all) => all.map((chip) => chip.getBoundingClientRect().height < 40))
  expect(chips).toEqual(chips.map(() => true))
  expect(chips.length).toBeGreaterThan(3)
  const state = () => page.evaluate(() => [document.activeElement?.getAttribute('name') ?? document.activeElement?.tagName, document.querySelectorAll('.pick [name=ids]:checked').length]) // prettier-ignore
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('v')
  expect(await state()).toEqual(['boardId', 1])
  await page.keyboard.press('Escape')
  expect(await state(), 'back at the row, as it was').toEqual(['TR', 0])
  await page.keyboard.press('v')
  await page.selectOption('[name=boardId]', 'none')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.innerText('.flash')).toContain('1 post is changed.')
  expect((await site.call(posts.show, { id: '1' })).post.board, 'the second row').toBeUndefined()
  await page.keyboard.press('m')
  await page.selectOption('[name=roadmapId]', 'none')
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
  expect((await site.call(posts.list, { roadmapIds: ['none'] })).total_count).toBe(1)
  await page.keyboard.press('t')
  await page.selectOption('[name=remove]', tag.url)
  await page.focus('[name=remove]')
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
  expect((await site.call(posts.list, { tags: [tag.url] })).total_count).toBe(1)
  await page.click('.views summary')
  await page.keyboard.press('Escape')
  expect(await page.locator('.picks[open]').count()).toBe(0)
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('SUMMARY')
})
