import { describe, expect, it } from 'vitest'
import { wordsOf } from '../../src/core/catalogue.js'
import { HELD, SPAM } from '../../src/core/hidden.js'
import { LANGUAGES } from '../../src/core/language.js'
import type { Permission } from '../../src/core/permissions.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import { operator } from '../../src/service/lib/access.js'
import { merge as mergePosts } from '../../src/service/merges.js'
import * as posts from '../../src/service/posts.js'
import * as votes from '../../src/service/votes.js'
import { serveSite, visit, WIDE } from '../support/browser.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const HOME = '/dashboard/posts'
const LIST = `${HOME}?board=ideas&page=1`
const TEAM: Permission[] = ['dashboard:read', 'post:update', 'post:destroy', 'board:read', 'roadmap:read']

/** The address of a form that merges, its hidden fields, and the radio that is checked. */
function formOf(html: string): [path: string, fields: [string, string][], checked: string | undefined] {
  const at = html.lastIndexOf('<form', html.indexOf('name="into"'))
  const form = html.slice(at, html.indexOf('</form>', at))
  const plain = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#10;', '\n')
  const fields = Array.from(form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g), ([, name = '', value = '']): [string, string] => [name, plain(value)]) // prettier-ignore
  return [
    plain(/action="([^"]+)"/.exec(form)?.[1] ?? ''),
    fields,
    /name="chosen" value="(\d+)" checked/.exec(form)?.[1],
  ]
}

describe.each(engines)('merging the chosen rows of the table of posts on %s', (engine) => {
  const open = async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    await site.owner()
    for (const name of ['Ideas', 'Plans']) await site.call(boards.create, { name, display: name === 'Ideas' })
    for (const title of ['Night', 'Dark', 'Black', 'Secret', 'Exports'])
      await site.call(posts.create, { title, boardId: title === 'Secret' ? 'plans' : 'ideas' })
    const [voter, token] = [await site.member([]), (await site.member(TEAM)).token]
    await site.callAs({ ...operator, userId: voter.userId })(votes.add, {
      postId: (await site.call(posts.show, { id: '2' })).post.postId,
    })
    const headers = { accept: 'text/html', cookie: `feedbackctl=${token}` }
    const form = { origin: SITE, 'content-type': 'application/x-www-form-urlencoded' }
    const get = (path: string, by = headers) => site.http(`GET /${path}`, { headers: by })
    const send = (path: string, fields: [string, string][], more: Record<string, string> = {}) =>
      site.http(`POST /${path}`, { headers: { ...headers, ...form, ...more }, body: new URLSearchParams(fields).toString() }) // prettier-ignore
    const at = (...numbers: number[]) => `${HOME}/merge?${new URLSearchParams([['to', LIST], ...numbers.map((number) => ['ids', String(number)])]).toString()}` // prettier-ignore
    return { site, get, send, at, voter }
  }
  const standsFor = async (site: TestSite, id: number) => (await site.call(posts.show, { id: String(id) })).post.number

  it('leads to a page that lists them, and merges them into the one with the most votes', async () => {
    const { site, get, send, at } = await open()
    const table = (await get(LIST)).text
    expect(table).toMatch(
      /data-many="i"[^>]*formaction="\/dashboard\/posts\/merge" formmethod="get"[^>]*>\s*Merge into…/,
    )
    const tidy = await get(`${at(3, 1, 2).replaceAll('ids=', 'ids=%23')}&roadmapId=&boardId=&quiet=true`)
    expect([tidy.status, tidy.headers.location]).toEqual([303, at(3, 1, 2)])
    const { status, text } = await get(at(3, 1, 2))
    const [path, fields, checked] = formOf(text)
    expect([status, checked, path]).toEqual([200, '2', at(2, 1, 3)])
    expect(text.replaceAll(/[\u2066-\u2069]/g, '')).toContain('Merge 3 posts into one')
    for (const said of ['#2, 2 votes', '#1, 1 vote', 'Night', 'Black', 'Nothing is lost']) expect(text.replaceAll(/[\u2066-\u2069]/g, '')).toContain(said) // prettier-ignore
    expect(text).toMatch(/name="tell" value="true"(?! checked)/)
    const done = await send(path, [...fields, ['chosen', '2'], ['into', '']])
    const location = String(done.headers.location)
    expect([done.status, location]).toEqual([303, expect.stringMatching(/^\/dashboard\/posts\?board=ideas&page=1&done=postsMerged\.2%2CmergedStays\.2&undo=/)]) // prettier-ignore
    const said = (await get(location)).text.replaceAll(/[\u2066-\u2069]/g, '')
    expect(said).toContain('2 posts are merged. #2 Dark now has the votes and comments.')
    expect([await standsFor(site, 1), await standsFor(site, 3), await standsFor(site, 5)]).toEqual([2, 2, 5])
    const merged = (await site.events()).filter(([action]) => action === 'post.merged')
    expect(merged).toHaveLength(2)
    const [, undo = ''] = /&undo=([\w-]+)/.exec(location) ?? []
    await send(`/undo/${undo}`, [['to', LIST]])
    expect([await standsFor(site, 1), await standsFor(site, 3)]).toEqual([1, 3])
  })

  it('takes the number, the address or words for another post, and tells followers where it is asked to', async () => {
    const { site, get, send, at } = await open()
    const [path, fields] = formOf((await get(at(1, 2))).text)
    const empty = await send(path, [...fields, ['into', ' ']])
    expect([empty.status, empty.text.includes('Choose a post, or enter its number')]).toEqual([422, true])
    // The choice that the page came with is not meant by somebody who looks for words
    const found = await send(path, [...fields, ['chosen', '2'], ['into', 'exports']])
    expect([found.status, found.text.includes('Choose one of the posts that were found')]).toEqual([422, true])
    const [again, more, checked] = formOf(found.text)
    expect([found.text.includes('name="chosen" value="5"'), checked]).toEqual([true, undefined])
    expect((await send(again, [...more, ['into', 'zebra'], ['chosen', '5']])).text).toContain(
      'No post has these words.',
    )
    expect((await send(path, [...fields, ['into', '999']])).status).toBe(404)
    expect(await standsFor(site, 1)).toBe(1)
    const done = await send(again, [...more, ['into', 'exports'], ['chosen', '5'], ['tell', 'true']])
    expect(done.headers.location).toContain('done=postsMerged.2%2CmergedStays.5')
    expect([await standsFor(site, 1), await standsFor(site, 2)]).toEqual([5, 5])
    const rows = await site.db.selectFrom('events').select('details').where('action', '=', 'post.merged').execute()
    expect(rows.map(({ details }) => (details ?? '').includes('quiet'))).toEqual([false, false])
  })

  it('of one row asks for another post, and refuses itself', async () => {
    const { site, get, send, at } = await open()
    const { text } = await get(at(3))
    const [path, fields] = formOf(text)
    expect([text.includes('type="radio"'), text.includes('#3 Black')]).toEqual([false, true])
    expect(text, 'as of every single merge').toMatch(/name="tell" value="true" checked/)
    const same = await send(path, [...fields, ['into', '3']])
    expect([same.status, same.text.includes('Only one post is selected.')]).toEqual([422, true])
    expect(same.text).toMatch(/name="tell" value="true"(?! checked)/)
    const done = await send(path, [...fields, ['into', '#5 · Exports']])
    expect(done.headers.location).toContain('done=postsMerged.1%2CmergedStays.5')
    expect(await standsFor(site, 3)).toBe(5)
    const none = await get(`${HOME}/merge?all=true`)
    expect([none.status, none.text.includes('Select at least one post first.')]).toEqual([200, true])
    expect((await get(`${at(1, 2)}&all=true`)).text).toContain('Only the selected posts are merged')
    const gone = (await get(at(1, 2, 3))).text
    expect(gone).toContain('1 of the selected posts was merged or deleted meanwhile.')
    expect(formOf(gone)[1].find(([name]) => name === 'ids')?.[1].split('\n').map((row) => row.split(' ')[0])).toEqual(['#2', '#1']) // prettier-ignore
  })

  it('names what could not be merged in the list, and keeps it chosen', async () => {
    const { site, get, send, at } = await open()
    const [path, fields] = formOf((await get(at(1, 2, 3, 4))).text)
    site.clock.now = new Date(site.clock.now.getTime() + 60_000)
    await site.call(posts.update, { id: '3', title: 'Blackest', partial: true })
    const { status, text } = await send(path, [...fields, ['chosen', '2']])
    expect([status, text.includes('2 posts could not be changed'), text.includes('1 post is merged.')]).toEqual([200, true, true]) // prettier-ignore
    expect(text).toMatch(/<bdi>#3 Blackest<\/bdi>: Somebody changed this post meanwhile, or not the same people/)
    expect(text, 'it is on another board than the list').toMatch(/<bdi>#4<\/bdi>: This post is on a private board/) // prettier-ignore
    expect(text).toMatch(/name="ids" value="#3" checked/)
    expect(text, 'the filter stays').toContain('name="board" value="ideas" checked')
    expect(text).toMatch(/action="\/undo\/[^"]+"[^]*?name="to" value="\/dashboard\/posts\?board=ideas/)
    expect([await standsFor(site, 1), await standsFor(site, 3), await standsFor(site, 4)]).toEqual([2, 3, 4])
  })

  it('says of each row why it could not be merged, in the language of the reader', async () => {
    const { site, get, send, at, voter } = await open()
    for (const [name, more] of [
      ['Quiet', { hides_votes: true }],
      ['Shy', { view_voters: false }],
    ] as const) {
      const { board } = await site.call(boards.create, { name, display: true })
      await site.call(boards.update, { boardId: board.boardId, ...more, partial: true })
      await site.call(posts.create, { title: name, boardId: board.boardId })
    }
    const { post: held } = await site.call(posts.create, { title: 'Held' })
    await site.call(comments.create, { post_id: held.postId, body: 'Hm', is_internal: true })
    await site.http('POST /posts/1/report', { token: voter.token, body: {} })
    for (const [number, is_spam] of [
      [3, SPAM],
      [8, HELD],
    ] as const)
      await site.db.updateTable('posts').set({ is_spam }).where('number', '=', number).execute()
    const reasons = ['merge-reported', 'merge-hidden', 'merge-private', 'merge-votes', 'merge-voters', 'merge-commented'] as const // prettier-ignore
    const [path, fields] = formOf((await get(at(1, 2, 3, 4, 6, 7, 8))).text)
    for (const language of LANGUAGES) {
      const { text } = await send(path, [...fields, ['chosen', '2']], { 'accept-language': language })
      const said = reasons.map((reason) => wordsOf(language).t(`error.MERGE_REFUSED.${reason}`))
      expect([language, said.filter((each) => text.includes(`</bdi>: ${each}`))]).toEqual([language, said])
    }
    expect((await send(path, [...fields, ['chosen', '2']])).text).toContain(
      '#1 Night</bdi>: This post has open reports.',
    )
  })

  it('says what another moderator did meanwhile, and what came of it where its page is gone', async () => {
    const { site, get, send, at } = await open()
    const [path, fields] = formOf((await get(at(1, 2, 3))).text)
    await site.call(mergePosts, { ids: ['2'], into: '5' })
    const late = await send(path, [...fields, ['chosen', '2'], ['into', '']])
    expect([late.status, late.text.replaceAll(/[\u2066-\u2069]/g, '')]).toEqual([422, expect.stringContaining('#2 was merged into #5 meanwhile.')]) // prettier-ignore
    expect(formOf(late.text)[1].find(([name]) => name === 'ids')?.[1].split('\n').map((row) => row.split(' ')[0])).toEqual(['#1', '#3']) // prettier-ignore
    expect((await send(path, [...fields, ['into', '/posts/%ff']])).status).toBe(404)
    site.clock.now = new Date(site.clock.now.getTime() + 60_000)
    await site.call(posts.update, { id: '3', title: 'Blackest', partial: true })
    const second = fields.map(([name, value]): [string, string] => [name, name === 'to' ? `${HOME}?board=ideas&page=2` : value]) // prettier-ignore
    const done = await send(path, [...second, ['into', '5']])
    expect([done.status, done.text.includes('2 posts are merged.'), done.text.includes('<bdi>#3 Blackest</bdi>: '), done.text.includes('Page 2 of')]).toEqual([200, true, true, false]) // prettier-ignore
    expect(done.text).toContain('action="/undo/')
    const gone = await get(at(1, 2))
    expect([gone.status, gone.text.includes('2 of the selected posts were merged or deleted meanwhile.')]).toEqual([200, true]) // prettier-ignore
  })

  it('keeps the chosen posts where the form is sent without its query, and merges once where it is sent twice', async () => {
    const { get, send, at } = await open()
    const [path, fields] = formOf((await get(at(1, 2))).text)
    const refused = await send(`${HOME}/merge`, [...fields, ['into', 'wish']])
    expect([refused.status, formOf(refused.text)[1].find(([name]) => name === 'ids')?.[1].split('\n').length]).toEqual([422, 2]) // prettier-ignore
    for (const undo of [true, false]) {
      const { headers } = await send(path, [...fields, ['chosen', '1']])
      expect(headers.location).toContain('done=postsMerged.1%2CmergedStays.1')
      expect(String(headers.location).includes('undo=')).toBe(undo)
    }
  })

  it('offers no hidden post as the one that stays, and no chosen post twice', async () => {
    const { site, get, send, at } = await open()
    await site.db.updateTable('posts').set({ is_spam: 1 }).where('number', '=', 2).execute()
    const { text } = await get(at(1, 2, 3))
    const radios = (html: string) => Array.from(html.matchAll(/name="chosen" value="(\d+)"/g), ([, number]) => number)
    expect([radios(text), formOf(text)[2]]).toEqual([['1', '3'], '1'])
    const [path, fields] = formOf(text)
    expect(radios((await send(path, [...fields, ['into', 'night']])).text)).toEqual(['1', '3'])
    const done = await send(path, [...fields, ['chosen', '1']])
    expect([done.status, done.text.includes('1 post is merged.')]).toEqual([200, true])
    expect(done.text).toMatch(/<bdi>#2<\/bdi>: This post is hidden, or waits for a look\./)
  })

  it('is for those who may merge alone', async () => {
    const { site, at } = await open()
    const judge = { cookie: `feedbackctl=${(await site.member(['dashboard:read', 'post:destroy'])).token}` }
    expect((await site.http(`GET /${HOME}`, { headers: judge })).text).not.toContain('Merge into…')
    expect((await site.http(`GET /${at(1, 2)}`, { headers: judge })).status).toBe(404)
  })
})

it('a key leads from the chosen rows to the post that stays, and words are looked for while they are typed', async () => {
  const site = await serveSite('sqlite')
  const token = await site.owner()
  for (const title of ['A first wish', 'Another', 'Spreadsheets']) await site.call(posts.create, { title })
  const { page } = await visit({ viewport: WIDE })
  await page.context().addCookies([{ name: 'feedbackctl', value: token, url: site.url }])
  await page.goto(site.url + HOME)
  await page.keyboard.press('i')
  expect(new URL(page.url()).pathname, 'nothing is chosen').toBe(HOME)
  for (const key of ['j', 'j', 'x', 'j', 'x', 'i']) await page.keyboard.press(key)
  await page.locator('h1:has-text("Merge 2 posts")').waitFor()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('value')), { message: 'the oldest of those with as many votes' }).toBe('1') // prettier-ignore
  const field = page.getByRole('combobox', { name: 'Another post' })
  const options = page.locator('[role=listbox] [role=option]')
  await field.fill('spread')
  await expect.poll(() => options.count()).toBe(1)
  await field.press('ArrowDown')
  await field.press('Enter')
  expect(await field.inputValue()).toBe('#3 · Spreadsheets')
  await page.getByRole('button', { name: 'Merge', exact: true }).click()
  await expect.poll(() => page.innerText('.flash')).toContain('2 posts are merged.')
  expect((await site.call(posts.show, { id: '1' })).post.number).toBe(3)
})
