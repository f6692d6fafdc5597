import { describe, expect, it } from 'vitest'
import * as posts from '../../src/service/posts.js'
import * as posttags from '../../src/service/posttags.js'
import * as tags from '../../src/service/tags.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const HOME = '/dashboard/tags'
const cookieOf = (token: string) => ({ accept: 'text/html', cookie: `feedbackctl=${token}` })
const get = (site: TestSite, path: string, token: string) => site.http(`GET /${path}`, { headers: cookieOf(token) })
const send = (site: TestSite, path: string, token: string, form: Record<string, string>) =>
  site.http(`POST /${path}`, {
    headers: { ...cookieOf(token), origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })

/** What a page says, without its marks. */
const plain = (text: string) => text.replaceAll(/[\u2066-\u2069]|<[^>]*>/g, '')

describe.each(engines)('the tags of the dashboard on %s', (engine) => {
  const open = async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    await site.owner()
    const team = (await site.member(['dashboard:read', 'post:update'])).token
    const tag = async (name: string, more: object = {}) => (await site.call(tags.create, { name, ...more })).tag
    const post = async (title: string, ...add: string[]) => {
      const made = (await site.call(posts.create, { title })).post
      if (add.length > 0) await site.call(posttags.tag, { ids: [made.postId], add })
      return made
    }
    const tagsOf = async (number: number) =>
      ((await site.http('POST /posts/slug', { token: team, body: { id: String(number) } })).body.post.tags ?? []).map(({ name }: tags.Tag) => name) // prettier-ignore
    return { site, team, tag, post, tagsOf }
  }

  it('have a page for those who may change them', async () => {
    const { site, team, tag, post } = await open()
    expect(plain((await get(site, HOME, team)).text)).toContain('No tags yet')
    await tag('Mobile')
    await tag('Enterprise', { display: false })
    await post('Offline', 'mobile')
    const { text } = await get(site, HOME, team)
    expect(text).toContain(`href="${HOME}" aria-current="page"`)
    expect(text).toMatch(/<bdi>Enterprise<\/bdi>.*>0<.*Private.*<bdi>Mobile<\/bdi>.*>1<.*Everyone/s)
    expect(text).toContain('href="/dashboard/posts?tag=mobile"')
    expect(plain((await get(site, `${HOME}?q=mob`, team)).text)).not.toContain('Enterprise')
    const reader = (await site.member(['dashboard:read'])).token
    expect((await get(site, '/dashboard/posts', reader)).text).not.toContain(`href="${HOME}"`)
    for (const path of [
      HOME,
      `${HOME}/new`,
      `${HOME}/mobile/settings`,
      `${HOME}/mobile/merge`,
      `${HOME}/mobile/delete`,
    ])
      expect([path, (await get(site, path, reader)).status]).toEqual([path, 404])
  })

  it('are made, renamed, coloured and made private', async () => {
    const { site, team, tag } = await open()
    await tag('Web')
    const made = await send(site, `${HOME}/new`, team, { name: '📱 Mobile', url: '', color: '', display: 'true' })
    expect(made.headers.location).toBe(`${HOME}?done=tagCreated`)
    const wrong = await send(site, `${HOME}/mobile/settings`, team, { name: '', url: 'web', color: 'red' })
    expect([wrong.status, wrong.text.includes('aria-invalid="true"')]).toEqual([422, true])
    const taken = await send(site, `${HOME}/mobile/settings`, team, { name: 'Web', url: 'web' })
    expect([taken.status, plain(taken.text).includes('A tag with this name or address already exists.')]).toEqual([409, true]) // prettier-ignore
    const changed = await send(site, `${HOME}/mobile/settings`, team, { name: 'Phone', url: 'phone', color: '#15803d' })
    expect(changed.headers.location).toBe(`${HOME}?done=saved`)
    const { text } = await get(site, `${HOME}/phone/settings`, team)
    expect(text).toMatch(/value="Phone".*value="phone".*value="15803d"/s)
    expect((await site.call(tags.list, { visibility: ['private'] })).tags.map(({ name }) => name)).toEqual(['Phone'])
  })

  it('are merged and deleted after a question that says what it touches', async () => {
    const { site, team, tag, post, tagsOf } = await open()
    for (const name of ['Mobile', 'Phone', 'iOS']) await tag(name)
    const secret = await tag('Enterprise', { display: false })
    const [one, other] = [await post('Offline', 'phone', 'enterprise'), await post('Widgets', 'phone', 'mobile')]
    const question = await get(site, `${HOME}/phone/merge`, team)
    expect(plain(question.text)).toContain('2 posts get the other tag. This tag is deleted, and cannot be restored.')
    expect(question.text).toMatch(/<option value="enterprise">.*<option value="ios">.*<option value="mobile">/s)
    expect(question.text).not.toContain('<option value="phone">')
    const unchosen = await send(site, `${HOME}/phone/merge`, team, { into: '' })
    expect([unchosen.status, plain(unchosen.text).includes('Choose a tag.')]).toEqual([422, true])
    const merged = await send(site, `${HOME}/phone/merge`, team, { into: 'mobile' })
    expect(merged.headers.location).toBe(`${HOME}?done=tagMerged`)
    expect([await tagsOf(one.number), await tagsOf(other.number)]).toEqual([['Enterprise', 'Mobile'], ['Mobile']])

    const hidden = await get(site, `${HOME}/enterprise/merge`, team)
    expect(plain(hidden.text)).toContain('There is no tag yet that it could be merged into.')
    const refused = await send(site, `${HOME}/${secret.tagId}/merge`, team, { into: 'mobile' })
    expect([refused.status, plain(refused.text).includes('everybody would see which posts had it')]).toEqual([
      409,
      true,
    ])

    const loss = plain((await get(site, `${HOME}/enterprise/delete`, team)).text)
    expect(loss).toContain('Delete the tag “Enterprise”?')
    expect(loss).toContain('1 post stays, without this tag. The tag cannot be restored.')
    const deleted = await send(site, `${HOME}/enterprise/delete`, team, {})
    expect([deleted.headers.location, await tagsOf(one.number)]).toEqual([`${HOME}?done=deleted`, ['Mobile']])
    expect((await get(site, `${HOME}/enterprise/settings`, team)).status).toBe(404)
  })

  it('say that more posts have one than are counted', async () => {
    const { site, team, tag, post } = await open()
    const { tagId } = await tag('Mobile')
    const { postId: first } = await post('First')
    const row = await site.db.selectFrom('posts').selectAll().where('postId', '=', first).executeTakeFirstOrThrow()
    const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
    const more = Array.from({ length: 1001 }, (_, index) => ({ ...row, postId: idOf(index), number: index + 2, slug: `p${index}`, slugId: `p${index}` })) // prettier-ignore
    for (let at = 0; at < more.length; at += 100) {
      const part = more.slice(at, at + 100)
      await site.db.insertInto('posts').values(part).execute()
      await site.db.insertInto('post_tags').values(part.map(({ postId, createdAt }) => ({ postId, tagId, createdAt }))).execute() // prettier-ignore
    }
    expect((await get(site, HOME, team)).text).toMatch(/>1,000\+</)
    expect(plain((await get(site, `${HOME}/mobile/delete`, team)).text)).toContain('More than 1,000 posts stay, without this tag.') // prettier-ignore
    const { tags: bare } = (await site.http('GET /tags?counts=false', { token: team })).body
    expect(bare).toEqual([expect.not.objectContaining({ post_count: expect.anything() })])
  })
})
