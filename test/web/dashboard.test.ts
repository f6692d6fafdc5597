import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import type { Permission } from '../../src/core/permissions.js'
import { engines, makeSite, type TestSite } from '../support/site.js'

const SITE = 'http://localhost'
const cookieOf = (token: string) => ({ accept: 'text/html', cookie: `feedbackctl=${token}` })
const get = (site: TestSite, path: string, token: string) => site.http(`GET /${path}`, { headers: cookieOf(token) })
const send = (site: TestSite, path: string, token: string, form: Record<string, string>) =>
  site.http(`POST /${path}`, {
    headers: { ...cookieOf(token), origin: SITE, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })

describe.each(engines)('the dashboard on %s', (engine) => {
  const open = async () => {
    const site = await makeSite(engine, { siteUrl: SITE, rates: {} })
    const owner = await site.owner()
    const member = async (permissions: Permission[]) => (await site.member(permissions)).token
    return { site, owner, member }
  }

  it('is there for those who may read it, and offers what they may do', async () => {
    const { site, member } = await open()
    const visitor = await site.http('GET //dashboard/boards', { headers: { accept: 'text/html' } })
    expect([visitor.status, visitor.headers.location]).toEqual([303, '/login?redirect=%2Fdashboard%2Fboards'])
    const outsider = await member(['board:update'])
    for (const path of ['/dashboard', '/dashboard/boards']) expect((await get(site, path, outsider)).status).toBe(404)
    expect((await get(site, '/', outsider)).text).not.toContain('href="/dashboard"')
    const editor = await member(['dashboard:read', 'board:update'])
    const home = await get(site, '/dashboard', editor)
    expect([home.status, home.headers.location]).toEqual([303, '/dashboard/boards'])
    const { text } = await get(site, '/dashboard/boards', editor)
    expect(text).toContain('href="/dashboard/boards" aria-current="page"')
    expect(text, 'it needs board:create').not.toContain('/dashboard/boards/new')
    expect((await get(site, '/dashboard', await member(['dashboard:read']))).status, 'nothing to do').toBe(404)
  })

  it('makes, changes and deletes boards', async () => {
    const { site, member } = await open()
    const token = await member(['dashboard:read', 'board:create', 'board:read', 'board:update', 'board:destroy'])
    const made = await send(site, '/dashboard/boards/new', token, { name: '💡 Ideas', url: '', color: '', display: 'true', view_voters: 'true' }) // prettier-ignore
    expect(made.headers.location).toBe('/dashboard/boards?done=boardCreated')
    expect((await site.call(boards.show, { url: 'ideas' })).board).toMatchObject({ name: '💡 Ideas', display: true, view_voters: true }) // prettier-ignore
    const wrong = await send(site, '/dashboard/boards/ideas/settings', token, { name: '', url: 'ideas', color: 'red' })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('aria-invalid="true"')
    const changed = await send(site, '/dashboard/boards/ideas/settings', token, { name: 'Plans', url: 'plans', color: '#15803d' }) // prettier-ignore
    expect(changed.status).toBe(303)
    expect((await site.call(boards.show, { url: 'plans' })).board).toMatchObject({ name: 'Plans', color: '15803d', display: false, view_voters: false }) // prettier-ignore
    expect((await get(site, '/dashboard/boards', token)).text).toContain('Plans')
    await site.call(posts.create, { title: 'Dark mode', boardId: 'plans' })
    expect((await get(site, '/dashboard/boards/plans/delete', token)).text).toContain('1 post stays, without a board.')
    await send(site, '/dashboard/boards/plans/delete', token, {})
    await expect(site.call(boards.show, { url: 'plans' })).rejects.toMatchObject({ code: 'BOARD_NOT_FOUND' })
    expect((await site.call(posts.show, { slug: '1' })).post).not.toHaveProperty('board')
  })

  it('makes the usual roadmaps once, and moves, changes and deletes them', async () => {
    const { site, member } = await open()
    const token = await member(['dashboard:read', 'roadmap:create', 'roadmap:read', 'roadmap:update', 'roadmap:destroy']) // prettier-ignore
    const names = async () => (await site.call(roadmaps.list, {})).roadmaps.map(({ name }) => name)
    expect((await get(site, '/dashboard/roadmaps', token)).text).toContain('action="/dashboard/roadmaps/usual"')
    for (const _ of [1, 2]) await send(site, '/dashboard/roadmaps/usual', token, {})
    expect(await names()).toEqual(['Under review', 'Planned', 'In progress', 'Complete'])
    expect((await get(site, '/dashboard/roadmaps', token)).text).not.toContain('/dashboard/roadmaps/usual')
    expect((await send(site, '/dashboard/roadmaps/complete/position', token, { position: '1' })).status).toBe(303)
    expect(await names()).toEqual(['Complete', 'Under review', 'Planned', 'In progress'])
    const form = { name: 'Done', url: 'done', color: '15803d', display: 'true' }
    await send(site, '/dashboard/roadmaps/complete/settings', token, form)
    await send(site, '/dashboard/roadmaps/new', token, { name: 'Maybe', url: '', color: '' })
    expect((await site.call(roadmaps.show, { url: 'maybe' })).roadmap.display, 'not chosen').toBe(false)
    await site.call(posts.create, { title: 'Dark mode' })
    await site.call(posts.update, { id: '1', roadmapId: 'done', partial: true })
    expect((await get(site, '/dashboard/roadmaps/done/delete', token)).text).toContain('1 post stays, without a roadmap.') // prettier-ignore
    await send(site, '/dashboard/roadmaps/done/delete', token, {})
    expect(await names()).toEqual(['Under review', 'Planned', 'In progress'])
  })

  it('offers to undo what the address names, once', async () => {
    const { site, owner } = await open()
    await site.call(boards.create, { name: 'Ideas' })
    await site.call(posts.create, { title: 'Dark mode' })
    const moved = await site.http('POST /posts/move', { body: { ids: ['1'], boardId: 'ideas' }, token: owner })
    const { undo_id: id } = moved.body.undo
    const path = `/dashboard/boards?q=i&done=saved&undo=${id}`
    const { text } = await get(site, path, owner)
    expect(text).toContain(`action="/undo/${id}"`)
    expect(text).toContain('name="to" value="/dashboard/boards?q=i"')
    const form = { to: '/dashboard/boards?q=i' }
    const undone = await send(site, `/undo/${id}`, owner, form)
    expect(undone.headers.location).toBe('/dashboard/boards?q=i&done=undone.1')
    expect((await get(site, String(undone.headers.location), owner)).text).toContain('1 change is taken back.')
    expect((await site.call(posts.show, { slug: '1' })).post).not.toHaveProperty('board')
    const again = await send(site, `/undo/${id}`, owner, form)
    expect(again.headers.location).toBe('/dashboard/boards?q=i&done=undoneNot')
  })
})
