import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/core/permissions.js'
import { miscounts } from '../../src/db/recount.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { serveSite, visit, WIDE } from '../support/browser.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const HOME = '/dashboard/posts'
const TEAM: Permission[] = ['dashboard:read', 'post:update', 'post:destroy', 'board:read', 'roadmap:read']
const AT = `${HOME}?board=ideas`

async function fill(site: TestSite, count: number) {
  await site.owner()
  await site.call(boards.create, { name: 'Ideas' })
  await site.call(roadmaps.create, { name: 'Done', display: true })
  await site.call(posts.create, { title: 'On no board' })
  for (let number = 0; number < count; number++) await site.call(posts.create, { title: `Post ${number}`, boardId: 'ideas' }) // prettier-ignore
  return (await site.member(TEAM)).token
}

/** The last form of a page: its address, and its hidden fields. */
function formOf(html: string): [path: string, fields: [string, string][]] {
  const form = html.slice(html.lastIndexOf('<form', html.lastIndexOf('name="to"')))
  const end = form.slice(0, form.indexOf('</form>'))
  const fields = Array.from(end.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g), ([, name = '', value = '']): [string, string] => [name, value.replaceAll('&#10;', '\n')]) // prettier-ignore
  return [/action="([^"]+)"/.exec(form)?.[1] ?? '', fields]
}

describe.each(engines)('all posts of a filter on %s', (engine) => {
  const open = async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const token = await fill(site, 120)
    const headers = { accept: 'text/html', cookie: `feedbackctl=${token}`, origin: SITE, 'content-type': 'application/x-www-form-urlencoded' } // prettier-ignore
    const send = (path: string, fields: [string, string][]) =>
      site.http(`POST /${path}`, { headers, body: new URLSearchParams(fields).toString() })
    const totalOf = async (filter: object) => (await site.call(posts.list, { ...filter, limit: 1 })).total_count
    return { site, send, totalOf, get: (path: string) => site.http(`GET /${path}`, { headers }) }
  }

  it('are moved in steps of a hundred, each said, and one undo takes back all', async () => {
    const { site, send, totalOf, get } = await open()
    expect((await get(AT)).text).toContain('All 120 of this filter')
    expect((await get(`${AT}&q=119`)).text).not.toContain('name="all"')
    const nowhere = await send(`${HOME}/move?board=ideas`, [['all', 'true'], ['to', AT]]) // prettier-ignore
    expect([nowhere.status, nowhere.text.includes('Choose a status or a board first.')]).toEqual([422, true])
    const asked = await send(`${HOME}/move?board=ideas`, [['all', 'true'], ['ids', '#5'], ['to', AT], ['roadmapId', 'done']]) // prettier-ignore
    expect(asked.text).toContain('Change 120 posts?')
    expect(asked.text).toContain('Status: Done')
    expect(asked.text).toContain('It takes 2 steps')
    expect(asked.text, 'the author of all of them').toContain('<p>1 person is told of the new status.</p>')
    const quiet = await send(`${HOME}/move?board=ideas`, [['all', 'true'], ['to', AT], ['roadmapId', 'done'], ['quiet', 'true']]) // prettier-ignore
    expect([quiet.text.includes('Change 120 posts?'), quiet.text.includes('told of the new status')]).toEqual([true, false]) // prettier-ignore
    const moved = await send(`${HOME}/move?board=ideas`, [['all', 'true'], ['to', AT], ['roadmapId', 'done'], ['boardId', 'none']]) // prettier-ignore
    expect([moved.text.includes('Change 120 posts?'), moved.text.includes('told of the new status')], 'others may read them there').toEqual([true, false]) // prettier-ignore
    expect(await totalOf({ roadmapIds: ['done'] })).toBe(0)
    const first = await send(...formOf(asked.text))
    expect(first.text).toMatch(/role="status"[^>]*>[^]*100 posts are changed\./)
    expect([first.text.includes('100 of 120 posts'), await totalOf({ roadmapIds: ['done'] })]).toEqual([true, 100])
    const last = await send(...formOf(first.text))
    expect(last.text).toContain('120 posts are changed.')
    expect(await totalOf({ roadmapIds: ['done'] })).toBe(120)
    expect((await site.events()).filter(([action]) => action === 'post.updated')).toHaveLength(120)
    const back = await send(...formOf(last.text))
    expect([back.text.includes('1 more step to take back'), await totalOf({ roadmapIds: ['done'] })]).toEqual([true, 100]) // prettier-ignore
    expect((await send(...formOf(back.text))).headers.location).toBe(`${AT}&done=undone.120`)
    expect(await totalOf({ roadmapIds: ['done'] })).toBe(0)
    expect(await miscounts(site.db)).toEqual([])
  })

  it('are deleted after a question that says what is lost, and can be stopped after a step', async () => {
    const { site, send, totalOf } = await open()
    const asked = await send(`${HOME}/decide?board=ideas`, [['all', 'true'], ['to', AT], ['decision', 'delete']]) // prettier-ignore
    for (const words of ['Delete 120 posts for good?', '120 votes', '0 comments', 'cannot be undone']) expect(asked.text.replaceAll(/[\u2066-\u2069]/g, '')).toContain(words) // prettier-ignore
    expect(await totalOf({})).toBe(121)
    const first = await send(...formOf(asked.text))
    expect([first.text.includes('100 of 120 posts'), await totalOf({})]).toEqual([true, 21])
    const [to, fields] = formOf(first.text)
    const [, gone = ''] = fields.find(([name]) => name === 'ids') ?? []
    await site.call(posts.remove, { id: gone.split('\n')[0] })
    const stopped = await send(to, [...fields, ['stop', 'yes']])
    expect(stopped.text).toMatch(/<h1>[^]*100 of 120 posts[^]*<\/h1>/)
    expect([stopped.text.includes('100 posts are deleted.'), await totalOf({})]).toEqual([true, 20])
    const rest = await send(to, fields)
    expect([rest.text.includes('119 posts are deleted.'), await totalOf({})]).toEqual([true, 1])
    expect(rest.text).toMatch(/This post no longer exists\./)
    expect(await miscounts(site.db)).toEqual([])
  })
})

it('a script goes from step to step, and the focus is on what it says', async () => {
  const site = await serveSite('sqlite')
  const token = await fill(site, 210)
  const { page } = await visit({ viewport: WIDE })
  await page.context().addCookies([{ name: 'feedbackctl', value: token, url: site.url }])
  await page.goto(`${site.url}${AT}`)
  await page.check('[name=all]')
  await page.selectOption('[name=roadmapId]', 'done')
  await page.click('.verbs .primary')
  await page.waitForLoadState() // its script takes the page out of the history
  await page.click('.narrow .primary')
  await expect.poll(() => page.innerText('main')).toContain('210 posts are changed.')
  await page.waitForLoadState()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('status')
  await page.click('.narrow form button')
  await expect.poll(() => page.innerText('main')).toContain('210 changes are taken back.')
  await page.waitForLoadState()
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('role'))).toBe('status')
  const doneNow = async () => (await site.call(posts.list, { roadmapIds: ['done'] })).total_count
  expect(await doneNow()).toBe(0)
  // Back leads to the list, and sends no step again
  let sent = 0
  page.on('request', (request) => (sent += Number(request.method() === 'POST')))
  for (const address of [AT, AT, AT]) {
    await page.goBack()
    expect(page.url()).toBe(site.url + address)
    expect(await page.innerText('h1')).toContain('Posts')
  }
  expect([sent, await doneNow()]).toEqual([0, 0])
})
