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
    expect(plain(hidden.text)).toContain('There is no other tag yet that this one can be merged into.')
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

/** The numbers of the rows of the table. */
const rowsOf = (text: string) => [...text.matchAll(/name="ids" value="#(\d+)"/g)].map(([, number]) => Number(number))

describe.each(engines)('the tags of the table of posts on %s', (engine) => {
  const POSTS = '/dashboard/posts'
  const open = async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    await site.owner()
    const { token } = await site.member(['dashboard:read', 'post:update', 'board:read', 'roadmap:read'])
    for (const name of ['Mobile', 'Web', 'Enterprise'])
      await site.call(tags.create, { name, display: name !== 'Enterprise' })
    const slugs: string[] = []
    for (const title of ['Offline', 'Widgets', 'Sync']) slugs.push((await site.call(posts.create, { title })).post.slug)
    await site.call(posttags.tag, { ids: ['1', '2'], add: ['mobile'] })
    await site.call(posttags.tag, { ids: ['2'], add: ['enterprise'] })
    const tagsOf = async (id: string) => ((await site.call(posts.show, { id })).post.tags ?? []).map(({ url }) => url)
    const post = (path: string, form: [string, string][]) =>
      site.http(`POST /${path}`, {
        headers: { ...cookieOf(token), origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
      })
    return { site, token, slugs, tagsOf, post }
  }

  it('are a column, and filter by any, all and none', async () => {
    const { site, token } = await open()
    const { text } = await get(site, POSTS, token)
    expect(text).toContain('href="/dashboard/posts?tag=mobile"')
    expect(text).toMatch(/<bdi>Enterprise<\/bdi><span class="hidden">Private/)
    for (const [query, rows] of [
      ['tag=web&tag=mobile', [2, 1]],
      ['tags=mobile&tags=enterprise', [2]],
      ['untagged=mobile&untagged=web', [3]],
      ['tag=mobile&untagged=enterprise', [1]],
    ] as const)
      expect([query, rowsOf((await get(site, `${POSTS}?${query}`, token)).text)]).toEqual([query, rows])
    const filtered = await get(site, `${POSTS}?tag=mobile&untagged=enterprise`, token)
    expect(filtered.text).toMatch(/name="tag" value="mobile" checked/)
    expect(filtered.text).toMatch(/name="untagged" value="enterprise" checked/)
    expect(plain(filtered.text)).toMatch(/Any of the tags: Mobile ×.*None of the tags: Enterprise ×/s)
    expect(filtered.text).toContain('href="/dashboard/posts?untagged=enterprise"')
    const gone = await get(site, `${POSTS}?tag=nowhere`, token)
    expect([gone.status, gone.text.includes('role="alert"')]).toEqual([200, true])
    const saved = await send(site, `${POSTS}/views?tag=mobile`, token, { name: 'Phones', tag: 'mobile', untagged: 'enterprise' }) // prettier-ignore
    expect(rowsOf((await get(site, String(saved.headers.location), token)).text)).toEqual([1])
  })

  it('are added to the chosen rows and removed, with undo', async () => {
    const { site, token, tagsOf, post } = await open()
    const chosen: [string, string][] = [['ids', '#2'], ['ids', '#3'], ['to', `${POSTS}?sort=votes`]] // prettier-ignore
    const done = await post(`${POSTS}/tag?sort=votes`, [...chosen, ['add', 'web'], ['remove', 'mobile']])
    expect(done.headers.location).toContain(`${POSTS}?sort=votes&done=postsChanged.2&undo=`)
    expect([await tagsOf('1'), await tagsOf('2'), await tagsOf('3')]).toEqual([['mobile'], ['enterprise', 'web'], ['web']]) // prettier-ignore
    const [, undo = ''] = /action="(\/undo\/[^"]+)"/.exec((await get(site, String(done.headers.location), token)).text) ?? [] // prettier-ignore
    await send(site, undo, token, { to: POSTS })
    expect([await tagsOf('2'), await tagsOf('3')]).toEqual([['enterprise', 'mobile'], []])
    const nothing = await post(`${POSTS}/tag`, [...chosen, ['add', ''], ['remove', '']])
    expect([nothing.status, plain(nothing.text).includes('Choose a tag to add or to remove.')]).toEqual([422, true])
    const none = await post(`${POSTS}/tag`, [['add', 'web']])
    expect([none.status, plain(none.text).includes('Select at least one post first.')]).toEqual([422, true])
    expect((await get(site, `${POSTS}/tag?sort=votes`, token)).headers.location).toBe(`${POSTS}?sort=votes`)
    const reader = (await site.member(['dashboard:read'])).token
    expect((await get(site, POSTS, reader)).text).not.toContain('name="add"')
  })

  it('are changed on all posts of a filter, after a question', async () => {
    const { tagsOf, post } = await open()
    const form: [string, string][] = [['all', 'true'], ['ids', '#1'], ['to', POSTS]] // prettier-ignore
    expect((await post(`${POSTS}/tag?tag=mobile`, form)).status).toBe(422)
    const asked = await post(`${POSTS}/tag?tag=mobile`, [...form, ['add', 'web'], ['remove', 'mobile']])
    expect(plain(asked.text)).toMatch(/Change 2 posts\?.*Add tag: Web.*Remove tag: Mobile/s)
    expect(await tagsOf('1')).toEqual(['mobile'])
    const fields = Array.from(asked.text.slice(asked.text.lastIndexOf('<form')).matchAll(/name="(\w+)" value="([^"]*)"/g), ([, name = '', value = '']): [string, string] => [name, value]) // prettier-ignore
    const done = await post(`${POSTS}/tag?tag=mobile`, fields)
    expect(done.headers.location).toContain('done=postsChanged.2')
    expect([await tagsOf('1'), await tagsOf('2'), await tagsOf('3')]).toEqual([['web'], ['enterprise', 'web'], []])
  })

  it('are changed on the page of a post, which says where there are too many', async () => {
    const { site, token, slugs, tagsOf } = await open()
    const path = `${POSTS}/${slugs[1]}`
    const { text } = await get(site, path, token)
    expect(text).toMatch(/id="tags".*Enterprise.*Mobile.*<option value="web">/s)
    expect(text).not.toContain('<option value="mobile">')
    const added = await send(site, `${path}/tag`, token, { add: 'web' })
    expect(added.headers.location).toMatch(/\?done=tagsChanged&undo=.*#tags$/)
    await send(site, `${path}/tag`, token, { remove: 'mobile' })
    expect(await tagsOf('2')).toEqual(['enterprise', 'web'])
    const nothing = await send(site, `${path}/tag`, token, { add: '' })
    expect([nothing.status, plain(nothing.text).includes('Choose a tag to add or to remove.')]).toEqual([422, true])
    const many = Array.from({ length: 18 }, (_, at) => `t${at}`)
    for (const name of [...many, 'more']) await site.call(tags.create, { name })
    await site.call(posttags.tag, { ids: ['2'], add: many })
    const full = await send(site, `${path}/tag`, token, { add: 'more' })
    expect([full.status, plain(full.text).includes('A post has at most 20 tags.')]).toEqual([409, true])
    const bulk = await site.http(`POST /${POSTS}/tag`, {
      headers: { ...cookieOf(token), origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'ids=%232&ids=%233&add=more',
    })
    expect(plain(bulk.text)).toMatch(/1 post could not be changed.*#2 Widgets: A post has at most 20 tags\./s)
    expect(await tagsOf('3')).toEqual(['more'])
    const reader = (await site.member(['dashboard:read'])).token
    const shown = (await get(site, path, reader)).text
    expect([shown.includes('<bdi>Enterprise</bdi>'), shown.includes('name="add"')]).toEqual([true, false])
  })
})
