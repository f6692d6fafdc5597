import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as labs from '../../src/service/labs.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as roles from '../../src/service/roles.js'
import * as settings from '../../src/service/settings.js'
import * as users from '../../src/service/users.js'
import * as views from '../../src/service/views.js'
import { engines, makeSite } from '../support/site.js'

// Two people on one form of the dashboard: the second learns what the first did, and decides.

const SITE = 'http://localhost'
const versionIn = (text: string) => /name="ifVersion" value="([^"]+)"/.exec(text)?.[1] ?? ''

describe.each(engines)('a form that is older than what it changes, on %s', (engine) => {
  /** Opens a form in two sessions, saves it in the first, and then in the second. */
  async function open() {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const owner = await site.owner()
    const cookie = { accept: 'text/html', cookie: `feedbackctl=${owner}` }
    const get = async (path: string) => (await site.http(`GET /${path}`, { headers: cookie })).text
    const send = (path: string, form: Record<string, string>) =>
      site.http(`POST /${path}`, {
        headers: { ...cookie, origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form).toString(),
      })
    async function both(page: string, to: string, first: Record<string, string>, second: Record<string, string>) {
      const ifVersion = versionIn(await get(page))
      expect(ifVersion).not.toBe('')
      expect((await send(to, { ...first, ifVersion })).status).toBe(303)
      const refused = await send(to, { ...second, ifVersion })
      expect(refused.status).toBe(409)
      const fresh = versionIn(refused.text)
      expect(fresh).not.toBe(ifVersion)
      expect(refused.text).toContain('Save anyway')
      expect(refused.text).toContain(`href="${page.replace('ideas', first.url ?? 'ideas')}"`)
      return { text: refused.text, anyway: () => send(to, { ...second, ifVersion: fresh }) }
    }
    return { site, owner, get, send, both }
  }

  it('is refused for a board, though the first changed its url', async () => {
    const { site, both } = await open()
    const { board } = await site.call(boards.create, { name: 'Ideas', color: '15803d' })
    const form = { name: 'Ideas', url: 'ideas', color: '15803d', display: 'true', view_voters: 'true' }
    const to = `/dashboard/boards/${board.boardId}/settings`
    const first = { ...form, name: 'Plans', url: 'plans' }
    const { display: _, ...hidden } = form
    const second = { ...hidden, name: 'Wishes' }
    const { text, anyway } = await both('/dashboard/boards/ideas/settings', to, first, second)
    expect(text).toMatch(/value="Wishes"/)
    expect(text).toContain('Now: <bdi>Plans</bdi>')
    expect(text).toContain('Now: <bdi>plans</bdi>')
    expect(text, 'the box stays cleared').toMatch(
      /name="display" value="true"\/?><span>[^<]*<span class="now"> Now: Yes/,
    )
    expect(text, 'nobody changed the colour').not.toContain('Now: <bdi>15803d</bdi>')
    const stored = async () => (await site.call(boards.show, { url: board.boardId })).board
    expect(await stored()).toMatchObject({ name: 'Plans', url: 'plans', display: true })
    expect((await anyway()).status).toBe(303)
    expect(await stored()).toMatchObject({ name: 'Wishes', url: 'ideas', display: false })
  })

  it('is refused for a roadmap, but not because it was moved', async () => {
    const { site, get, send, both } = await open()
    const { roadmap } = await site.call(roadmaps.create, { name: 'Ideas', url: 'ideas' })
    await site.call(roadmaps.create, { name: 'Next' })
    const [page, to] = ['/dashboard/roadmaps/ideas/settings', `/dashboard/roadmaps/${roadmap.id}/settings`]
    const form = { name: 'Ideas', url: 'ideas', color: '15803d', display: 'true' }
    const { text, anyway } = await both(page, to, { ...form, color: 'b91c1c' }, { ...form, name: 'Soon' })
    expect(text).toContain('Now: <bdi>b91c1c</bdi>')
    expect((await site.call(roadmaps.show, { url: 'ideas' })).roadmap).toMatchObject({ name: 'Ideas', color: 'b91c1c' })
    await anyway()
    expect((await site.call(roadmaps.show, { url: 'ideas' })).roadmap).toMatchObject({ name: 'Soon', color: '15803d' })
    const ifVersion = versionIn(await get(page))
    await site.call(roadmaps.move, { roadmap: 'ideas', position: 2 })
    expect((await send(to, { ...form, ifVersion })).status).toBe(303)
  })

  it('is refused for the settings of the site', async () => {
    const { site, both } = await open()
    const form = { title: 'Moonbase', description: 'Ideas', logo: '', accentColor: '', allowSignup: 'true' }
    const path = '/dashboard/settings/general'
    const { text, anyway } = await both(path, path, { ...form, title: 'Marsbase' }, { ...form, allowSignup: '' })
    expect(text).toContain('Now: <bdi>Marsbase</bdi>')
    expect(text).toMatch(/name="allowSignup" value="true"\/?><span>[^<]*<span class="now"> Now: Yes/)
    expect((await site.call(settings.site, {})).settings).toMatchObject({ title: 'Marsbase', allowSignup: true })
    await anyway()
    expect((await site.call(settings.site, {})).settings).toMatchObject({ title: 'Moonbase', allowSignup: false })
  })

  it('is refused for the labs, but not because the settings beside them were changed', async () => {
    const { site, get, send } = await open()
    const [page, to] = ['/dashboard/settings/general', '/dashboard/settings/labs']
    const version = (text: string) => versionIn(text.slice(text.indexOf(`action="${to}"`)))
    const [old, settingsOld] = [version(await get(page)), versionIn(await get(page))]
    await site.call(settings.update, { title: 'Marsbase' })
    expect((await send(to, { voteOnBehalf: 'true', ifVersion: old })).status).toBe(303)
    const { status, text } = await send(to, { ifVersion: old })
    expect(status).toBe(409)
    expect(text).toMatch(/name="voteOnBehalf" value="true"\/?><span>[^<]*<span class="now"> Now: Yes/)
    expect(text.split('Save anyway'), 'the form of the settings is as it was').toHaveLength(2)
    expect(versionIn(text)).not.toBe(settingsOld)
    expect((await site.call(labs.show, {})).labs.voteOnBehalf).toBe(true)
    expect((await send(to, { ifVersion: version(text) })).status).toBe(303)
    expect((await site.call(labs.show, {})).labs.voteOnBehalf).toBe(false)
  })

  it('is refused for a saved view', async () => {
    const { site, both } = await open()
    const { view } = await site.call(views.create, { name: 'Triage', sort: 'oldest' })
    const path = `/dashboard/views/${view.viewId}/settings`
    const { text, anyway } = await both(path, path, { name: 'Mornings', shared: 'true' }, { name: 'Evenings' })
    expect(text).toContain('Now: <bdi>Mornings</bdi>')
    expect(text).toMatch(/name="shared" value="true"\/?><span>[^<]*<span class="now"> Now: Yes/)
    const stored = async () => (await site.call(views.show, { view: view.viewId })).view
    expect(await stored()).toMatchObject({ name: 'Mornings', shared: true })
    await anyway()
    expect(await stored()).toMatchObject({ name: 'Evenings', shared: false, filter: { sort: 'oldest' } })
  })

  it('is refused for a role, permission by permission', async () => {
    const { site, both } = await open()
    const { role } = await site.call(roles.create, { name: 'Moderators', permissions: ['post:update'] })
    const path = `/dashboard/settings/roles/${role.id}`
    const form = { name: 'Moderators', description: '' }
    const { text, anyway } = await both(path, path, { ...form, permissions: 'post:destroy' }, { ...form, permissions: 'post:update' }) // prettier-ignore
    expect(text).toMatch(/value="post:destroy"\/?><span>[^<]*<span class="now"> Now: Yes/)
    expect(text).toMatch(/value="post:update" checked\/?><span>[^<]*<span class="now"> Now: No/)
    const held = async () => (await site.call(roles.show, { id: role.id })).role.permissions
    expect(await held()).toEqual(['post:destroy'])
    await anyway()
    expect(await held()).toEqual(['post:update'])
  })

  it('is refused for the notes about a person, but not because the person changed their name', async () => {
    const { site, get, send, both } = await open()
    const { userId } = await site.member()
    const { username } = (await site.call(users.show, { user: userId })).user
    const page = `/dashboard/users/${username}`
    const { text, anyway } = await both(page, `${page}/notes`, { notes: 'Pays.' }, { notes: 'Calls often.' })
    expect(text).toContain('Now: <bdi>Pays.</bdi>')
    const notes = async () => (await site.call(users.show, { user: userId })).user.notes
    expect(await notes()).toBe('Pays.')
    await anyway()
    expect(await notes()).toBe('Calls often.')
    const ifVersion = versionIn(await get(page))
    await site.call(users.update, { user: userId, name: 'Eve B.' })
    expect((await send(`${page}/notes`, { notes: '', ifVersion })).status).toBe(303)
  })

  it.each(['/dashboard/posts/SLUG', '/posts/SLUG'])('is refused for the status of a post on %s', async (path) => {
    const { site, get, send } = await open()
    for (const name of ['Planned', 'Done']) await site.call(roadmaps.create, { name })
    const { post } = await site.call(posts.create, { title: 'Dark mode' })
    await site.call(posts.update, { id: post.postId, partial: true, roadmapId: 'planned' })
    const page = path.replace('SLUG', post.slug)
    const to = page + (page.startsWith('/dashboard') ? '/move' : '/status')
    const seenIn = (text: string) => /name="ifRoadmapId" value="([^"]+)"/.exec(text)?.[1] ?? ''
    const status = async () => (await site.call(posts.show, { id: post.postId })).post.roadmap?.name
    const ifRoadmapId = seenIn(await get(page))
    expect((await send(to, { roadmapId: '', ifRoadmapId })).status).toBe(303)
    const refused = await send(to, { roadmapId: 'done', ifRoadmapId, quiet: 'true' })
    expect(refused.status).toBe(409)
    expect(refused.text.replaceAll(/[\u2066-\u2069]/g, '')).toContain('“No status” now, and you chose “Done”')
    expect(refused.text.split('class="summary"'), 'it is said once').toHaveLength(2)
    expect([refused.text.includes(`href="${page}"`), refused.text.includes('name="quiet" value="true"')]).toEqual([true, true]) // prettier-ignore
    expect(await status()).toBeUndefined()
    await site.call(posts.update, { id: post.postId, title: 'Dark modes', boardId: null })
    const fresh = seenIn(refused.text)
    expect((await send(to, { roadmapId: 'done', ifRoadmapId: fresh })).headers.location).toContain('&undo=')
    expect(await status(), 'another title is no other status').toBe('Done')
    const again = await send(to, { roadmapId: 'done', ifRoadmapId: fresh })
    expect(again.status, 'both want the same').toBe(303)
    expect((await send(to, { roadmapId: 'planned' })).status, 'a form of before').toBe(303)
  })

  it('is refused for the board of a post, but not because its status was changed', async () => {
    const { site, get, send } = await open()
    for (const name of ['Ideas', 'Bugs', 'Plans']) await site.call(boards.create, { name })
    await site.call(roadmaps.create, { name: 'Planned' })
    const { post } = await site.call(posts.create, { title: 'Dark mode', boardId: 'ideas' })
    const [page, to] = [`/dashboard/posts/${post.slug}`, `/dashboard/posts/${post.slug}/move`]
    const seenIn = (text: string) => /name="ifBoardId" value="([^"]+)"/.exec(text)?.[1] ?? ''
    const board = async () => (await site.call(posts.show, { id: post.postId })).post.board?.url
    const ifBoardId = seenIn(await get(page))
    await send(to, { roadmapId: 'planned' })
    expect((await send(to, { boardId: 'bugs', ifBoardId })).status).toBe(303)
    const refused = await send(to, { boardId: 'plans', ifBoardId })
    expect(refused.status).toBe(409)
    expect(refused.text.replaceAll(/[\u2066-\u2069]/g, '')).toContain('“Bugs” now, and you chose “Plans”')
    expect(refused.text, 'the choice stays').toMatch(/<option value="plans" selected/)
    expect(await board()).toBe('bugs')
    await site.call(boards.update, { boardId: 'bugs', url: 'faults', partial: true })
    expect((await send(to, { boardId: 'plans', ifBoardId: seenIn(refused.text) })).status).toBe(303)
    expect(await board()).toBe('plans')
  })

  it('is refused over HTTP to whoever says where a post was', async () => {
    const { site, owner } = await open()
    await site.call(roadmaps.create, { name: 'Planned' })
    const ids = (await Promise.all(['a', 'b'].map((title) => site.call(posts.create, { title })))).map(({ post }) => post.postId) // prettier-ignore
    await site.call(posts.update, { id: ids[0] ?? '', partial: true, roadmapId: 'planned' })
    const move = async (body: object) =>
      ((await site.http('POST /posts/move', { token: owner, body: { ids, ...body } })).body.outcomes as { outcome: string; error?: { code: string } }[]).map(({ outcome, error }) => error?.code ?? outcome) // prettier-ignore
    expect(await move({ roadmapId: 'none', ifRoadmapId: 'planned' })).toEqual(['changed', 'unchanged'])
    expect(await move({ roadmapId: 'planned', ifRoadmapId: 'planned' })).toEqual(['CONTENT_CHANGED', 'CONTENT_CHANGED'])
    expect(await move({ roadmapId: 'planned', ifRoadmapId: null })).toEqual(['changed', 'changed'])
  })

  it('is saved as ever without a version, as the API and the command line send it', async () => {
    const { site } = await open()
    await site.call(boards.create, { name: 'Ideas' })
    const { version } = await site.call(boards.show, { url: 'ideas' })
    for (const name of ['Plans', 'Wishes']) await site.call(boards.update, { boardId: 'ideas', name, partial: true })
    await expect(
      site.call(boards.update, { boardId: 'ideas', name: 'x', partial: true, ifVersion: version }),
    ).rejects.toMatchObject({ code: 'CONTENT_CHANGED' })
  })
})
