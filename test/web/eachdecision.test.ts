import { describe, expect, it } from 'vitest'
import type { Permission } from '../../src/core/permissions.js'
import * as comments from '../../src/service/comments.js'
import { operator } from '../../src/service/lib/access.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import { NARROW, serveSite, visit } from '../support/browser.js'
import { engines, makeSite, type Engine, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const TEAM = ['dashboard:read', 'post:destroy', 'post:update', 'comment:update:any', 'comment:delete:any', 'board:read'] as const satisfies Permission[] // prettier-ignore

async function open(engine: Engine) {
  const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
  await site.owner()
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const [team, author] = [await site.member([...TEAM]), await site.member([])]
  const as = site.callAs({ ...operator, userId: author.userId })
  const made: { postId: string; updatedAt: string }[] = []
  for (const title of ['One', 'Two', 'Three']) made.push((await as(posts.create, { title })).post)
  const { activity } = await as(comments.create, { post_id: made[0]?.postId, body: 'A word' })
  const headers = (token: string) => ({ accept: 'text/html', cookie: `feedbackctl=${token}`, origin: SITE, 'content-type': 'application/x-www-form-urlencoded' }) // prettier-ignore
  const get = (path: string, token = team.token) => site.http(`GET /${path}`, { headers: headers(token) })
  const send = (path: string, fields: [string, string][], token = team.token) =>
    site.http(`POST /${path}`, { headers: headers(token), body: new URLSearchParams(fields).toString() })
  const rows = made.map(({ postId, updatedAt }) => `${postId} ${updatedAt}`)
  const comment = `${activity.id} ${activity.comment.updated_at}`
  return { site, team, made, rows, comment, get, send }
}

const decisions = async (site: TestSite) =>
  (await site.events()).map(([action]) => action).filter((action) => /kept|marked_spam|deleted|updated/.test(action))

/** The fields of the last form of a page. */
const fieldsOf = (html: string): [string, string][] =>
  Array.from(html.slice(html.lastIndexOf('<form')).matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g), ([, name = '', value = '']) => [name, value]) // prettier-ignore

describe.each(engines)('a choice for each row of the inbox on %s', (engine) => {
  it('is done with one button, together, and the rest stays or is kept', async () => {
    const { site, made, rows, get, send } = await open(engine)
    const all: [string, string] = ['rows', rows.join()]
    expect((await send('/dashboard', [all, ['verb', 'each']])).headers.location).toBe('/dashboard?done=chooseFirst')
    const some = await send('/dashboard?days=30', [all, ['as-1', 'spam'], ['status-2', 'planned'], ['status-0', ''], ['verb', 'each']]) // prettier-ignore
    expect(some.headers.location).toMatch(/^\/dashboard\?days=30&done=decidedEach\.2&undo=/)
    expect(await decisions(site)).toEqual(['post.marked_spam', 'post.kept', 'post.updated'])
    expect((await site.call(posts.show, { id: made[2]?.postId })).post.roadmap?.url).toBe('planned')
    const rest = await send('/dashboard', [['rows', rows[0] ?? ''], ['verb', 'rest']]) // prettier-ignore
    expect(rest.headers.location).toMatch(/decidedEach\.1/)
    expect(await decisions(site)).toHaveLength(4)
    expect((await get(String(rest.headers.location))).text).toContain('1 decided.')
  })

  it('stays where another row is decided, and is said once it is done', async () => {
    const { site, made, rows, get, send } = await open(engine)
    const all: [string, string] = ['rows', rows.join()]
    const [one, two, three] = made.map(({ postId }) => postId)
    const given: [string, string][] = [
      all,
      ['status-0', 'planned'],
      ['as-1', 'spam'],
      ['chosen', rows[1] ?? ''],
      ['status-2', ''],
    ]
    const statusOf = (html: string, id = '') =>
      /<option value="planned" selected/.test(
        html.slice(html.indexOf(`id="row-${id}"`)).split('</article>', 1)[0] ?? '',
      )
    const isSpam = (html: string) => /name="as-\d" value="spam" checked/.test(html)
    const kept = await send('/dashboard?days=30', [...given, ['one', `keep ${rows[2]} ${one}`]])
    expect(kept.headers.location).toContain('done=decidedKeep.1')
    const shown = (await get(String(kept.headers.location))).text
    expect([statusOf(shown, one), statusOf(shown, two), isSpam(shown)]).toEqual([true, false, true])
    expect(shown).toMatch(new RegExp(`name="chosen" value="${two} [^"]*" checked`))
    expect(shown, 'what the next form does not say is not kept').toContain('action="/dashboard?days=30"')
    expect((await get('/dashboard?days=30')).text).not.toMatch(/ checked| selected>\s*Planned/)
    for (const verb of ['keep', 'delete', 'snooze', 'none']) {
      const asked = await send('/dashboard', [all, ['status-0', 'planned'], ...(verb === 'none' ? [] : [['chosen', rows[1] ?? '']] as [string, string][]), ['verb', verb]]) // prettier-ignore
      const back = asked.status === 200 ? /href="([^"]*choices=[^"]*)"/.exec(asked.text)?.[1] : asked.headers.location
      const text = (await get(String(back).replaceAll('&amp;', '&'))).text
      expect([verb, statusOf(text, one)]).toEqual([verb, true])
    }
    const hidden = await send('/dashboard', [all, ['status-1', 'planned'], ['one', `spam ${rows[1]}`]])
    expect(hidden.headers.location, 'its status is not given').toContain('done=decidedSpam.1')
    const planned = await send('/dashboard', [all, ['status-0', 'planned'], ['one', `keep ${rows[0]}`]])
    const said = (await get(String(planned.headers.location))).text
    expect(said.replaceAll(/[\u2066-\u2069]/g, '')).toContain('1 kept. Status: Planned.')
    expect((await get('/dashboard?done=decidedStatus.2&now=x')).text).toContain('2 kept.')
    expect((await site.call(posts.show, { id: one })).post.roadmap?.url).toBe('planned')
    expect((await site.call(posts.show, { id: three })).post.roadmap).toBeUndefined()
  })

  it('of the chosen ones is given with the button for all of them', async () => {
    const { site, made, rows, send } = await open(engine)
    const chosen = rows.slice(0, 2).map((row): [string, string] => ['chosen', row])
    const sent = await send('/dashboard', [['rows', rows.join()], ['status-1', 'planned'], ...chosen, ['verb', 'keep']])
    expect(sent.headers.location).toContain('done=decidedKeep.2')
    const urls = await Promise.all(made.map(async ({ postId }) => (await site.call(posts.show, { id: postId })).post.roadmap?.url)) // prettier-ignore
    expect(urls).toEqual([undefined, 'planned', undefined])
  })

  it('asks before it deletes, says what is lost, and deletes nothing until then', async () => {
    const { site, rows, comment, get, send } = await open(engine)
    const all: [string, string] = ['rows', [...rows, comment].join()]
    const asked = await send('/dashboard', [all, ['as-0', 'delete'], ['as-2', 'delete'], ['as-3', 'delete'], ['as-1', 'keep'], ['verb', 'each']]) // prettier-ignore
    expect([asked.status, await decisions(site)]).toEqual([200, []])
    for (const words of [
      'Delete 2 for good?',
      '#1 One',
      '#3 Three',
      '2 votes',
      '1 comment',
      'cannot be undone',
      '1 other decision',
    ])
      expect(asked.text.replaceAll(/[\u2066-\u2069]|<\/?bdi>/g, '')).toContain(words)
    const done = await send('/dashboard', fieldsOf(asked.text))
    expect(done.headers.location).toMatch(/^\/dashboard\?unmet=[\w-]+\.POST_NOT_FOUND&done=decidedEach\.3&undo=/)
    expect(await decisions(site)).toEqual(['post.deleted', 'post.kept', 'post.deleted'])
    expect((await get('/dashboard')).text).toContain('Nothing waits.')
  })

  it('deletes the chosen ones, in the list of comments too', async () => {
    const { site, rows, comment, get, send } = await open(engine)
    for (const [path, chosen] of [
      ['/dashboard', rows[1]],
      ['/dashboard/comments', comment],
    ] as const) {
      expect((await get(path)).text).toMatch(/<button[^>]*name="verb" value="delete"/)
      const asked = await send(path, [['chosen', chosen ?? ''], ['verb', 'delete']]) // prettier-ignore
      expect(asked.text).toContain('Delete 1 for good?')
      expect([path, asked.text.includes('A word')]).toEqual([path, chosen === comment])
      expect((await send(path, fieldsOf(asked.text))).headers.location).toBe(`${path}?done=decidedDelete.1`)
    }
    expect(await decisions(site)).toEqual(['post.deleted', 'comment.deleted'])
    const weak = await site.member(['dashboard:read', 'comment:update:any'])
    expect((await get('/dashboard/comments', weak.token)).text).not.toContain('value="delete"')
  })

  it('names what cannot be deleted, without a question about nothing', async () => {
    const { made, send } = await open(engine)
    const stale = `${made[0]?.postId} 2020-01-01T00:00:00.000Z`
    const sent = await send('/dashboard', [['chosen', stale], ['verb', 'delete']]) // prettier-ignore
    expect(sent.headers.location).toBe(`/dashboard?unmet=${made[0]?.postId}.CONTENT_CHANGED&done=decidedNone`)
  })
})

it('twenty things are decided without a script in ten clicks and one Apply', async () => {
  const site = await serveSite('sqlite')
  const owner = await site.owner()
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const team = await site.member([...TEAM])
  const as = site.callAs({ ...operator, userId: (await site.member([])).userId })
  const plan = [...Array<string>(5).fill('Spam'), ...Array<string>(4).fill('Repeat'), ...Array<string>(6).fill('New'), ...Array<string>(5).fill('Answered')] // prettier-ignore
  for (const [index, what] of plan.entries()) {
    const { post } = await as(posts.create, { title: `${what} ${index}` })
    if (what === 'Answered') await site.http(`POST /posts/${post.postId}/comments`, { token: owner, body: { body: 'It is there already' } }) // prettier-ignore
  }
  const { page } = await visit({ script: false, viewport: NARROW })
  await page.context().addCookies([{ name: 'feedbackctl', value: team.token, url: site.url }])
  await page.goto(`${site.url}/dashboard`)
  let clicks = 0
  const click = async (what: Parameters<typeof page.click>[0]) => {
    clicks += 1
    await page.click(what)
  }
  for (const [index, what] of plan.entries()) {
    const row = `article:has(h2 bdi:text-is("${what} ${index}"))`
    if (what === 'Spam') await click(`${row} .each label:has([value=spam])`)
    if (what === 'Repeat') await click(`${row} .each label:has([value=delete])`)
  }
  await page.click('.verbs button[value=rest]') // the one Apply
  expect(await page.innerText('main')).toContain('Delete 4 for good?')
  await click('.narrow .danger')
  expect(await page.innerText('main')).toContain('Nothing waits.')
  expect(await page.innerText('.flash')).toContain('20 decided.')
  expect(clicks).toBeLessThanOrEqual(10)
  const done = await decisions(site)
  const count = (action: string) => done.filter((each) => each === action).length
  expect([count('post.marked_spam'), count('post.deleted'), count('post.kept')]).toEqual([5, 4, 11])
})
