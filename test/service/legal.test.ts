import { describe, expect, it } from 'vitest'
import * as log from '../../src/service/events.js'
import * as legal from '../../src/service/legal.js'
import { engines, makeSite } from '../support/site.js'

describe.each(engines)('legal pages on %s', (engine) => {
  it('are set, listed in their order without their texts, recorded, and removed by an empty text', async () => {
    const site = await makeSite(engine)
    const { token } = await site.member(['settings:update'])
    const set = (name: string, body: object) => site.http(`PUT /settings/legal/${name}`, { token, body })
    const updatedAt = site.clock.now.toISOString()
    await set('terms', { markdown: 'Be kind.' })
    await set('terms', { markdown: 'Be kind. ' })
    const { status, body } = await set('imprint', { markdown: '  # Ada\n\nBerlin\u0007\n' })
    expect([status, body]).toEqual([200, { page: { name: 'imprint', markdown: '# Ada\n\nBerlin', updatedAt } }])
    expect((await site.http('GET /settings/legal')).body).toEqual({ pages: [{ name: 'imprint', updatedAt }, { name: 'terms', updatedAt }] }) // prettier-ignore
    expect((await site.http('GET /settings/legal/terms')).body.page.markdown).toBe('Be kind.')
    await set('terms', { markdown: ' ' })
    for (const markdown of [null, '']) await set('imprint', { markdown }) // the second changes nothing
    expect((await site.http('GET /settings/legal')).body).toEqual({ pages: [] })
    expect((await site.http('GET /settings/legal/terms')).body.page).toEqual({ name: 'terms', markdown: null, updatedAt: null }) // prettier-ignore
    const { events } = await site.call(log.list, { limit: 4, created: 'desc' })
    expect(events.map(({ action, details }) => [action, details?.map(({ field, after }) => [field, after])])).toEqual([
      ['site.updated', [['imprint', 'removed']]],
      ['site.updated', [['terms', 'removed']]],
      ['site.updated', [['imprint', 'edited']]],
      ['site.updated', [['terms', 'edited']]],
    ])
  })

  it('take the longest text in any script, and refuse what is longer, unknown, or was changed meanwhile', async () => {
    const site = await makeSite(engine)
    const longest = '🚀'.repeat(50_000)
    expect((await site.call(legal.set, { name: 'terms', markdown: longest })).page.markdown).toBe(longest)
    const { version } = await site.call(legal.show, { name: 'terms' })
    await expect(site.call(legal.set, { name: 'terms', markdown: `${longest}x` })).rejects.toThrow(/50000/)
    const { token } = await site.member(['settings:update'])
    const set = (name: string, body: object) => site.http(`PUT /settings/legal/${name}`, { token, body })
    const image = `![x](/api/v1/images/${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}-2x1.webp)`
    for (const [name, body, field] of [
      ['cookies', { markdown: 'x' }, 'name'],
      ['terms', { markdown: 5 }, 'markdown'],
      ['terms', {}, 'markdown'],
      ['terms', { markdown: '\u0000' }, 'markdown'],
      ['terms', { markdown: image }, 'markdown'],
    ] as const) {
      const { status, body: answer } = await set(name, body)
      expect([body, status, answer.code, answer.errors?.[0].field]).toEqual([body, 400, 'VALIDATION_ERROR', field])
    }
    await site.call(legal.set, { name: 'terms', markdown: 'Mine' })
    expect((await set('terms', { markdown: 'Theirs', ifVersion: version })).body.code).toBe('CONTENT_CHANGED')
    expect((await site.call(legal.show, { name: 'terms' })).page.markdown).toBe('Mine')
  })

  it('of two people who write a page that is not there yet, the second is refused', async () => {
    const site = await makeSite(engine)
    const { version } = await site.call(legal.show, { name: 'privacy' })
    const set = (markdown: string) => site.call(legal.set, { name: 'privacy', markdown, ifVersion: version })
    const outcomes = await Promise.allSettled([set('One'), set('Two')])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']) // oxlint-disable-line require-array-sort-compare
  })
})
