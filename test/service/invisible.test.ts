import { describe, expect, it } from 'vitest'
import { engines, makeSite } from '../support/site.js'

const INVISIBLE = [
  '\u3164',
  '\u2800\u2800',
  '\u115f\u1160',
  '\u00ad',
  '\ufe0f',
  '\u202e\u200b',
  '\u{e0041}',
  ' \u034f ',
]

describe.each(engines)('a name of which nothing can be seen on %s', (engine) => {
  it('is refused for people, boards, roadmaps and roles', async () => {
    const site = await makeSite(engine)
    const token = await site.owner()
    for (const name of INVISIBLE)
      for (const request of ['PATCH /users/profile', 'POST /boards', 'POST /roadmaps', 'POST /roles']) {
        const { status } = await site.http(request, { token, body: { name } })
        expect([request, JSON.stringify(name), status]).toEqual([request, JSON.stringify(name), 400])
      }
    const seen = await site.http('PATCH /users/profile', { token, body: { name: 'Zoë\u3164👩\u200d🚀' } })
    expect(seen.body.user.name).toBe('Zoë\u3164👩\u200d🚀')
  })
})
