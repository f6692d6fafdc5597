import { describe, expect, it } from 'vitest'
import { connect, transaction } from '../../src/db/connect.js'
import { updateSettings } from '../../src/db/settings.js'
import * as log from '../../src/service/events.js'
import * as labs from '../../src/service/labs.js'
import * as settings from '../../src/service/settings.js'
import { untilLocked } from '../support/locks.js'
import { cleanup, engines, makeSite, type TestSite } from '../support/site.js'

const FRESH = {
  title: 'Feedback',
  description: 'Tell us what you miss, and see what others ask for.',
  logo: null,
  icon: null,
  accentColor: '2f6fed',
  googleAnalyticsId: null,
  isPoweredBy: true,
  allowSignup: true,
  holdFirstPosts: false,
  developer_mode: false,
  labs: { comments: false },
  announcement: null,
  announcementUntil: null,
  signupNote: null,
  headerLinks: [],
  footerLinks: [],
  logoDark: null,
  customCss: null,
  newFor: null,
  limitPosts: null,
  limitComments: null,
  limitEdits: null,
  limitReports: null,
}

const now = async (site: TestSite) => (await site.http('GET /settings/site')).body.settings
const events = (site: TestSite) =>
  site.db.selectFrom('events').select(['action', 'subject_id', 'subject']).orderBy('id').execute()

describe.each(engines)('settings on %s', (engine) => {
  describe('what a site adds to its pages', () => {
    it('is stored as it is shown, recorded, and taken away by empty values', async () => {
      const site = await makeSite(engine)
      const { settings: changed } = await site.call(settings.update, {
        announcement: ' We move on **Sunday**. ',
        announcementUntil: '2026-12-24',
        signupNote: 'You accept our [terms](/terms).',
        headerLinks: [' [Website]( https://example.org/a_b ) '.replaceAll('( ', '(').replaceAll(' )', ')')],
        footerLinks: ['[Imprint](/imprint)', '[ Write ](mailto:us@example.org)'],
      })
      const more = [`[${'👋'.repeat(60)}](/x_(y))`, '[A, B](https://maps.example/@52.5,13.4)']
      expect((await site.call(settings.update, { footerLinks: more })).settings.footerLinks).toEqual(more)
      await site.call(settings.update, { footerLinks: ['[Imprint](/imprint)', '[Write](mailto:us@example.org)'] })
      expect(changed).toMatchObject({
        announcement: 'We move on **Sunday**.',
        announcementUntil: '2026-12-24T00:00:00.000Z',
        headerLinks: ['[Website](https://example.org/a_b)'],
        footerLinks: ['[Imprint](/imprint)', '[Write](mailto:us@example.org)'],
      })
      expect(await now(site)).toEqual(changed)
      const { events: [event] } = await site.call(log.list, { limit: 1, created: 'desc' }) // prettier-ignore
      expect(event?.details?.map(({ field }) => field)).toEqual(['footerLinks'])
      const { events: all } = await site.call(log.list, { limit: 3, created: 'desc' })
      expect(all.at(-1)?.details?.map(({ field }) => field)).toEqual(['announcement', 'announcementUntil', 'signupNote', 'headerLinks', 'footerLinks']) // prettier-ignore
      const { settings: none } = await site.call(settings.update, { announcement: '', announcementUntil: '', signupNote: '', headerLinks: [], footerLinks: [] }) // prettier-ignore
      expect(none).toEqual(FRESH)
    })

    it('CSS that loads nothing is stored as it is, with the line ends of a style sheet', async () => {
      const site = await makeSite(engine)
      for (const css of [
        ':root {\n  --accent: rebeccapurple;\n}',
        String.raw`.a\:b::before { content: "\201C\A" } .c { content: "\\" }`,
        '@font-face { font-family: Inter; src: local("Inter") }',
        `a { background: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E"), url( data:image/png;base64,AA==) }`,
        'a { clip-path: url(#round); fill: url("#fill") }',
        '@media (prefers-color-scheme: dark) { a { color: #abc } } /* 👋 {{{ */ }',
        'é'.repeat(20_000),
      ])
        expect((await site.call(settings.update, { customCss: css })).settings.customCss).toBe(css)
      await expect(site.call(settings.update, { customCss: 'é'.repeat(20_001) })).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
      })
      expect((await site.call(settings.update, { customCss: ' a {\r\n}\r ' })).settings.customCss).toBe('a {\n}')
      const { events: [event] } = await site.call(log.list, { limit: 1, created: 'desc' }) // prettier-ignore
      expect(event?.details).toEqual([
        { field: 'customCss', before: expect.stringMatching(/^é{599}…$/), after: 'a {\n}' },
      ])
      expect((await site.call(settings.update, { customCss: '' })).settings).toEqual(FRESH)
    })

    it('a new announcement does not end with the one before it', async () => {
      const site = await makeSite(engine)
      const until = new Date(site.clock.now.getTime() + 60_000).toISOString()
      await site.call(settings.update, { announcement: 'Old', announcementUntil: until })
      expect((await site.call(settings.update, { announcement: 'Same' })).settings.announcementUntil).toBe(until)
      site.clock.now = new Date(until)
      expect(
        (await site.call(settings.update, { title: 'Other', announcement: 'Same', announcementUntil: until })).settings
          .announcementUntil,
      ).toBe(until)
      await expect(site.call(settings.update, { announcement: 'New', announcementUntil: until })).rejects.toMatchObject(
        { code: 'VALIDATION_ERROR' },
      )
      expect((await site.call(settings.update, { announcement: 'New' })).settings).toMatchObject({
        announcement: 'New',
        announcementUntil: null,
      })
    })

    it.each([
      [{ headerLinks: ['Website'] }, 'headerLinks'],
      [{ footerLinks: ['[x](javascript:alert(1))'] }, 'footerLinks'],
      [{ footerLinks: ['[x](javascript:alert`1`)'] }, 'footerLinks'],
      [{ footerLinks: ['[x](data:text/html,x)'] }, 'footerLinks'],
      [{ footerLinks: ['[x](//evil.example)'] }, 'footerLinks'],
      [{ footerLinks: ['[x](https://me:secret@example.org)'] }, 'footerLinks'],
      [{ footerLinks: ['[](https://example.org)'] }, 'footerLinks'],
      [{ footerLinks: ['[a\nb](/x)'] }, 'footerLinks'],
      [{ footerLinks: ['[\u200b](/x)'] }, 'footerLinks'],
      [{ footerLinks: [String.raw`[x](/\evil.example)`] }, 'footerLinks'],
      [{ footerLinks: ['[x](https:imprint)'] }, 'footerLinks'],
      [{ footerLinks: ['[x](mailto:)'] }, 'footerLinks'],
      [
        {
          announcement: `![x](https://feedback.example.org/board/api/v1/images/${'0'.repeat(8)}-0000-0000-0000-${'0'.repeat(12)}-2x1.webp)`,
        },
        'announcement',
      ],
      [{ announcement: 'x', announcementUntil: '2020-01-01' }, 'announcementUntil'],
      [{ announcementUntil: '9999-12-31T23:59:59-10:00' }, 'announcementUntil'],
      [{ footerLinks: [`[${'x'.repeat(61)}](https://example.org)`] }, 'footerLinks'],
      [{ footerLinks: [`[x](https://example.org/${'x'.repeat(500)})`] }, 'footerLinks'],
      [{ footerLinks: Array.from({ length: 13 }, () => '[x](/x)') }, 'footerLinks'],
      [{ announcement: 'x'.repeat(501) }, 'announcement'],
      [{ announcementUntil: 'soon' }, 'announcementUntil'],
      [{ announcementUntil: '2026-02-30' }, 'announcementUntil'],
      [{ signupNote: 5 }, 'signupNote'],
      [{ customCss: 5 }, 'customCss'],
    ])('%j is refused, and changes nothing', async (body, field) => {
      const site = await makeSite(engine)
      const { token } = await site.member(['settings:update'])
      const { status, body: answer } = await site.http('PATCH /settings/site', {
        token,
        body: { title: 'New', ...body },
      })
      expect([status, answer.code, answer.errors[0].field]).toEqual([400, 'VALIDATION_ERROR', field])
      expect(await now(site)).toEqual(FRESH)
    })

    it.each([
      'a{background:url(https://evil.example/x)}',
      'a{background:URL( "//evil.example/x")}',
      'a{background:url(/search?q=a)}',
      'a{background:url()}',
      String.raw`a{background:\75rl(//evil.example)}`,
      String.raw`a{background:u\000072 l(//evil.example)}`,
      String.raw`a{background:ur\l(data:image/png,x);mask:u\72l(//evil.example)}`,
      'a{background:url(data:text/html,x)}',
      'a{background:url(data:image/png;base64,AA==), url("https://evil.example")}',
      '@import "//evil.example/x.css";',
      String.raw`@\69 mport "//evil.example/x.css";`,
      '@IMPORT url(data:image/x)',
      'a{background:image-set("https://evil.example/x" 1x)}',
      'a{background:-webkit-image-set("https://evil.example/x" 1x)}',
      'a{background:image("https://evil.example/x")}',
      'a{--at:"https://evil.example";background:src(var(--at))}',
      'a{width:expression(alert(1))}',
      '</style><script>alert(1)</script>',
      '</STYLE >',
      '"/*"; a{background:url(//evil.example)} "*/"',
      '/* url(//evil.example) */',
    ])('the CSS %j is refused, as it could load something', async (customCss) => {
      const site = await makeSite(engine)
      const { token } = await site.member(['settings:update'])
      const { status, body } = await site.http('PATCH /settings/site', { token, body: { title: 'New', customCss } })
      expect([status, body.code, body.errors[0].field]).toEqual([400, 'VALIDATION_ERROR', 'customCss'])
      expect(body.message.length).toBeLessThan(300)
      expect(await now(site)).toEqual(FRESH)
    })
  })

  describe('PATCH /settings/site', () => {
    it('changes the given settings, and returns all', async () => {
      const site = await makeSite(engine)
      const { token } = await site.member(['settings:update'])
      const changes = {
        title: ' Møønbase ',
        description: null,
        allowSignup: false,
        googleAnalyticsId: 'G-1',
        developer_mode: true,
        logo: 'https://example.com/logo.png?a=1&b=2',
        accentColor: '#ABCDEF',
      }
      const { status, body } = await site.http('PATCH /settings/site', { token, body: changes })
      expect(status).toBe(200)
      expect(body.settings).toEqual({
        ...FRESH,
        ...changes,
        title: 'Møønbase',
        icon: changes.logo,
        accentColor: 'abcdef',
      })
      expect(await now(site)).toEqual(body.settings)
      expect(await events(site)).toEqual([{ action: 'site.updated', subject_id: 'site', subject: 'Møønbase' }])
      const { settings: later } = await site.call(settings.update, {
        title: '',
        logo: '',
        accentColor: '',
        description: 'x',
      })
      expect(later).toEqual({
        ...body.settings,
        title: 'Feedback',
        logo: null,
        icon: null,
        accentColor: null,
        description: 'x',
      })
    })

    it('accepts what GET returned, and ignores unknown fields', async () => {
      const site = await makeSite(engine)
      const { token } = await site.member(['settings:update'])
      const body = {
        ...FRESH,
        isPoweredBy: false,
        labs: { voteOnBehalf: true },
        icon: 'https://evil.example.com/x',
        secretFingerprint: 'x',
        id: 5,
      }
      expect((await site.http('PATCH /settings/site', { token, body })).body.settings).toEqual(FRESH)
    })

    it.each([[undefined], [{}], [{ labs: { comments: true } }]])(
      'answers %j with the settings as they are, and no event',
      async (body) => {
        const site = await makeSite(engine)
        const { token } = await site.member(['settings:update'])
        const answer = await site.http('PATCH /settings/site', { token, body })
        expect([answer.status, answer.body.settings]).toEqual([200, FRESH])
        expect(await events(site)).toEqual([])
      },
    )

    it.each([
      'example.com/a.png',
      'http://example.com',
      'HTTPS://example.com/ü.png',
      'http://192.0.2.1:8080/a.png',
      '192.0.2.1/a.png',
    ])('takes %s as a logo, as it is written', async (logo) => {
      const site = await makeSite(engine, { siteUrl: 'http://localhost' })
      expect((await site.call(settings.update, { logo })).settings).toMatchObject({ logo, icon: logo })
    })

    it.each([
      ['logo', 'nothing', 'INVALID_LOGO_URL'],
      ['logo', 'http://localhost/a.png', 'INVALID_LOGO_URL'],
      ['logo', 'http://me.localhost/a.png', 'INVALID_LOGO_URL'],
      ['logo', 'http://example.com/a.png', 'INVALID_LOGO_URL'], // the site has https
      ['logo', 'javascript:alert(1)', 'INVALID_LOGO_URL'],
      ['logo', 'javascript:alert(1)//@example.com', 'INVALID_LOGO_URL'],
      ['logo', 'javascript:@example.com', 'INVALID_LOGO_URL'],
      ['logo', 'data:image/png;base64,AAAA', 'INVALID_LOGO_URL'],
      ['logo', 'ftp://example.com/a.png', 'INVALID_LOGO_URL'],
      ['logo', '//example.com/a.png', 'INVALID_LOGO_URL'],
      ['logo', 'https://user:secret@example.com/a.png', 'INVALID_LOGO_URL'],
      ['logo', `https://example.com/${'a'.repeat(236)}`, 'LOGO_URL_TOO_LONG'],
      ['logo', `https://example.com/${'a'.repeat(9000)}`, 'LOGO_URL_TOO_LONG'],
      ['accentColor', 'abcd', 'INVALID_ACCENT_COLOR'],
      ['accentColor', '#aabbccdd', 'INVALID_ACCENT_COLOR'],
      ['accentColor', 'gggggg', 'INVALID_ACCENT_COLOR'],
      ['accentColor', '##abc', 'INVALID_ACCENT_COLOR'],
      ['logo', 5, 'VALIDATION_ERROR'],
      ['accentColor', true, 'VALIDATION_ERROR'],
      ['title', 5, 'VALIDATION_ERROR'],
      ['title', 'x'.repeat(256), 'VALIDATION_ERROR'],
      ['description', ['x'], 'VALIDATION_ERROR'],
      ['googleAnalyticsId', {}, 'VALIDATION_ERROR'],
      ['allowSignup', 'true', 'VALIDATION_ERROR'],
      ['developer_mode', 1, 'VALIDATION_ERROR'],
    ])('refuses %s %j with %s, and changes nothing', async (field, value, code) => {
      const site = await makeSite(engine)
      const { token } = await site.member(['settings:update'])
      const { status, body } = await site.http('PATCH /settings/site', {
        token,
        body: { title: 'Changed', [field]: value },
      })
      expect([status, body.code]).toEqual([400, code])
      expect(await now(site)).toEqual(FRESH)
      expect(await events(site)).toEqual([])
    })

    it.each([
      ['abc', 'aabbcc'],
      ['#F0a', 'ff00aa'],
      ['#1d4ED8', '1d4ed8'],
    ])('stores the colour %s as %s', async (given, stored) => {
      const site = await makeSite(engine)
      expect((await site.call(settings.update, { accentColor: given })).settings.accentColor).toBe(stored)
    })

    it('takes 255 characters of a logo', async () => {
      const site = await makeSite(engine)
      const logo = `https://example.com/${'a'.repeat(235)}`
      expect((await site.call(settings.update, { logo })).settings.logo).toBe(logo)
    })
  })

  describe('labs', () => {
    it('are shown to everybody, and switched without touching the others', async () => {
      const site = await makeSite(engine)
      expect((await site.http('GET /settings/labs')).body).toEqual({ labs: { comments: false }, version: expect.any(String) }) // prettier-ignore
      const { token } = await site.member(['settings:update'])
      const { status, body } = await site.http('PATCH /settings/labs', { token, body: { voteOnBehalf: true } })
      expect([status, body]).toEqual([200, { labs: { comments: false, voteOnBehalf: true } }])
      expect((await now(site)).labs).toEqual(body.labs)
      expect((await site.call(labs.update, { voteOnBehalf: false })).labs).toEqual({
        comments: false,
        voteOnBehalf: false,
      })
      expect(await events(site)).toMatchObject([{ action: 'site.updated' }, { action: 'site.updated' }])
    })

    it.each([
      [{}],
      [{ voteOnBehalf: 'true' }],
      [{ voteOnBehalf: 1 }],
      [{ voteOnBehalf: null }],
      [{ comments: true }],
      [{ voteOnBehalf: { a: [] } }],
    ])('ignore %j', async (body) => {
      const site = await makeSite(engine)
      const { token } = await site.member(['settings:update'])
      const answer = await site.http('PATCH /settings/labs', { token, body })
      expect([answer.status, answer.body]).toEqual([200, { labs: { comments: false } }])
      expect(await events(site)).toEqual([])
    })

    it('keep both of two concurrent changes', async () => {
      const site = await makeSite(engine)
      await Promise.all([
        ...Array.from({ length: 5 }, () => site.call(labs.update, { voteOnBehalf: true })),
        ...Array.from({ length: 5 }, () => site.call(settings.update, { title: 'Changed' })),
      ])
      expect(await now(site)).toEqual({ ...FRESH, title: 'Changed', labs: { comments: false, voteOnBehalf: true } })
    })
  })

  it.each(['site', 'labs'])(
    'PATCH /settings/%s is for settings:update alone, and says so before it looks at what is given',
    async (which) => {
      const site = await makeSite(engine)
      const code = async (token?: string) =>
        (await site.http(`PATCH /settings/${which}`, { token, body: { title: 5, voteOnBehalf: true } })).body.code
      expect(await code()).toBe('INVALID_AUTH_HEADER')
      expect(await code((await site.member(['settings:read'])).token)).toBe('NOT_ENOUGH_PERMISSION')
      expect(await code((await site.member(['settings:update'], { blocked: true })).token)).toBe('USER_BLOCK')
      expect(await now(site)).toEqual(FRESH)
      const owner = await site.owner()
      const answer = await site.http(`PATCH /settings/${which}`, { token: owner, body: { developer_mode: true } })
      expect(answer.status).toBe(200)
      const dry = await site.http(`PATCH /settings/${which}`, {
        token: owner,
        body: { title: 'X', voteOnBehalf: true },
        headers: { 'feedbackctl-dry-run': '1' },
      })
      expect(dry.status).toBe(200)
      expect(await now(site)).toMatchObject({ title: 'Moonbase', labs: { comments: false } })
    },
  )
})

it.each([
  ['settings.update', (site: TestSite) => site.call(settings.update, { title: 'Third' }), { field: 'title', before: 'Second', after: 'Third' }],
  ['labs.update', (site: TestSite) => site.call(labs.update, { voteOnBehalf: true }), { field: 'labs', before: '{"other":true}', after: expect.stringContaining('voteOnBehalf') }],
] as const)('on PostgreSQL, %s records what another change left that ends meanwhile', async (_name, work, recorded) => {
  const site = await makeSite('postgres')
  await site.call(settings.update, { title: 'First' })
  const [other, watching] = await Promise.all([connect(site.databaseUrl), connect(site.databaseUrl)])
  cleanup(async () => void (await Promise.all([other.destroy(), watching.destroy()])))
  let done: Promise<unknown> = Promise.resolve()
  await transaction(other, async (inside) => {
    await updateSettings(inside, { title: 'Second', labs: '{"other":true}' })
    await untilLocked('postgres', watching, () => (done = work(site)))
  })
  await done
  const [newest] = (await site.call(log.list, { created: 'desc', limit: 1 })).events
  expect(newest?.details).toEqual([recorded])
}) // prettier-ignore
