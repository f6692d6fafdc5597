import { sql } from 'kysely'
import { generate } from 'otplib'
import { expect, it, vi } from 'vitest'
import type { Page } from 'playwright-core'
import { claimMailKey } from '../../src/db/notificationsettings.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as invitations from '../../src/service/invitations.js'
import * as legal from '../../src/service/legal.js'
import * as posts from '../../src/service/posts.js'
import * as posttags from '../../src/service/posttags.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as roles from '../../src/service/roles.js'
import * as settings from '../../src/service/settings.js'
import * as tags from '../../src/service/tags.js'
import * as users from '../../src/service/users.js'
import * as views from '../../src/service/views.js'
import { routes } from '../../src/web/index.js'
import { violationsOf } from '../support/axe.js'
import { NARROW, serveSite, visit, WIDE, type ServedSite } from '../support/browser.js'
import { addPseudoLanguage, PSEUDO, withoutCatalogue } from '../support/pseudo.js'
import { OWNER } from '../support/site.js'

addPseudoLanguage()

/** Every text and label that a person can meet, except ages, addresses, and names of languages and programs. */
const textsOf = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const texts = [document.title]
    const skipped =
      'time, script, style, code, kbd, ins, del, .languages, select[name=language], .sessions > li > span, [data-foreign]'
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode())
      if (!node.parentElement?.closest(skipped))
        texts.push((node.parentElement?.closest('.sentence') ?? node).textContent ?? '') // one text with links in it
    for (const name of ['aria-label', 'placeholder', 'title', 'alt', 'data-copied', 'data-label'])
      for (const element of document.querySelectorAll(`[${name}]`))
        if (!element.matches('time')) texts.push(element.getAttribute(name) ?? '')
    return texts
  })

/** What people write in this test is Greek. Latin letters are words of ours that no catalogue has. */
const LATIN = /\p{Script=Latin}/u

/** What the database has from the beginning, for the owner to change. */
const TITLE = 'Feedback'

/** A site whose every text of people is Greek. */
async function fill(site: ServedSite) {
  await site.call(settings.update, { description: 'Πείτε μας τι λείπει.' })
  await site.call(legal.set, { name: 'terms', markdown: 'Όροι.' })
  await site.call(legal.set, { name: 'privacy', markdown: 'Όροι.' })
  const { board } = await site.call(boards.create, { name: 'Ιδέες', display: true })
  await site.call(boards.create, { name: 'Μυστικά', display: false })
  await site.call(roadmaps.create, { name: 'Σχέδια', display: true })
  await site.call(roadmaps.create, { name: 'Κρυφά', display: false })
  const { post } = await site.call(posts.create, {
    title: 'Σκοτεινό θέμα',
    contentMarkdown: 'Παρακαλώ, **σύντομα**.',
    boardId: board.boardId,
  })
  await site.call(posts.create, { title: 'Θέμα φωτεινό', contentMarkdown: 'Ναι.', boardId: board.boardId })
  const { roadmaps: stages } = await site.call(roadmaps.list, {})
  const roadmapId = stages.find(({ name }) => name === 'Σχέδια')?.id
  await site.call(posts.update, { id: post.postId, roadmapId, partial: true })
  for (const name of ['Κινητό', 'Οθόνη']) await site.call(tags.create, { name, url: name === 'Οθόνη' ? 'screen' : 'phone', display: name !== 'Οθόνη' }) // prettier-ignore
  await site.call(posttags.tag, { ids: [post.postId], add: ['phone', 'screen'] })
  const { activity } = await site.call(comments.create, { post_id: post.postId, body: 'Ναι' })
  await site.call(comments.create, { post_id: post.postId, body: 'Όχι', parent_id: activity.id, is_internal: true })
  const { user } = await site.call(users.create, { email: 'eve@imported.invalid', name: 'Εύα', invite: false })
  const now = site.clock.now.toISOString()
  await site.db.insertInto('invitations').values({ userId: user.userId, invitedBy: null, createdAt: now, sentAt: now, expiresAt: now, acceptedAt: null }).execute() // prettier-ignore
  await site.db.insertInto('totp').values({ userId: user.userId, secret: '', enabledAt: now }).execute() // prettier-ignore
  const { role } = await site.call(roles.create, { name: 'Ομάδα', description: 'Για όλους' })
  await site.call(roles.assign, { role_id: role.id, user_id: user.userId })
  return {
    eve: user.username,
    roleId: role.id,
    board,
    post,
    comment: activity.id,
    roadmap: stages.find(({ name }) => name === 'Σχέδια')?.url ?? '',
  }
}

/** Products, and kinds of files, are called the same in every language. */
const FILES = /^(Astuto|Canny|ClearFlask|Fider|GitHub|Quackback|UserVoice)? ?\((JSONL?|CSV|ZIP)(, (CSV|JSON))?\)$/

/** An address that shows nothing itself: a comment is on the page of its post. */
const LEADS_ELSEWHERE = [
  '/dashboard/posts/move',
  '/dashboard/posts/tag',
  '/dashboard/posts/decide',
  '/dashboard/posts/views',
  '/dashboard/settings/import/run',
  '/posts/:slug/comments/:comment',
  '/notifications/:id',
]

// Each opens every page of the site: on a slow machine beside a load, that takes four minutes.
vi.setConfig({ testTimeout: 600_000 })

it.each([
  { viewport: WIDE, colorScheme: 'light' },
  { viewport: NARROW, colorScheme: 'dark' },
] as const)('every page is complete in another language, from right to left, with longer texts: %o', async (window) => {
  const site = await serveSite('sqlite')
  const { page } = await visit({ ...window, locale: PSEUDO, expected: /status of (401|403|404|422|500)|^500 / })
  const problems: unknown[] = []
  const seen = new Set<string>()
  const check = async (name: string) => {
    const root = page.locator('html')
    expect([name, await root.getAttribute('lang'), await root.getAttribute('dir')]).toEqual([name, PSEUDO, 'rtl'])
    const { scrollWidth, clientWidth } = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      return { scrollWidth, clientWidth }
    })
    if (scrollWidth > clientWidth) problems.push([name, 'is wider than the window', scrollWidth])
    const astray = await page.evaluate(() =>
      Array.from(document.querySelectorAll('.excerpt bdi, .comment .prose p'), (element) => {
        const [text, edge] = [element, element.closest('.body, article')].map((each) => each?.getBoundingClientRect())
        return (edge?.right ?? 0) - (text?.right ?? 0)
      }).filter((distance) => distance > 12),
    )
    if (astray.length > 0) problems.push([name, 'a text begins far from the edge', astray])
    for (const text of new Set(
      (await textsOf(page)).map((each) => withoutCatalogue(each.replace(TITLE, '').replace('{votes}', ''))),
    ))
      if (LATIN.test(text.replace('a***@example.org', '').trim().replace(FILES, '')) && !text.includes(OWNER.email))
        problems.push([name, 'not of the catalogue', text])
    for (const violation of await violationsOf(page)) problems.push([name, ...violation])
  }
  const look = async (patterns: Record<string, string>) => {
    for (const [pattern, path] of Object.entries(patterns)) {
      await page.goto(site.url + path)
      await check(path)
      seen.add(pattern)
    }
  }
  const send = async (path: string, selector = 'main form', shown = '.summary') => {
    await page.goto(site.url + path)
    await page.evaluate((form) => document.querySelector<HTMLFormElement>(form)?.submit(), selector)
    await page.locator(shown).waitFor()
    await check(`${path}, refused`)
  }

  await look({ '/setup/welcome': '/setup/welcome', '/setup/create-account': '/setup/create-account' })
  await send('/setup/create-account')
  await page.fill('#field-siteTitle', 'Σελήνη')
  await page.fill('#field-name', 'Άδα')
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button')
  await page.waitForURL('**/setup/create-board')
  await look({ '/setup/create-board': '/setup/create-board', '/setup/create-roadmaps': '/setup/create-roadmaps' })
  const empty = { '/': '/', '/boards': '/boards', '/roadmaps': '/roadmaps', '/search': '/search?q=τίποτα' }
  await look(empty)

  const { board, post, comment, roadmap, eve, roleId } = await fill(site)
  const { username } = await site.db.selectFrom('users').select('username').where('isOwner', '=', 1).executeTakeFirstOrThrow() // prettier-ignore
  const at = `/posts/${encodeURIComponent(post.slug)}`
  const lists = {
    '/': '/?sort=votes',
    '/boards': '/boards',
    '/boards/:url': `/boards/${encodeURIComponent(board.url)}`,
    '/roadmaps': '/roadmaps',
    '/roadmaps/:url': `/roadmaps/${encodeURIComponent(roadmap)}`,
    '/search': '/search?q=θέμα',
    '/posts/new': '/posts/new',
    '/posts/:slug': at,
    '/posts/:slug/voters': `${at}/voters`,
    '/posts/:slug/update': `${at}/update`,
    '/posts/:slug/merge': `${at}/merge`,
    '/posts/:slug/status': `${at}/status`,
    '/posts/people': '/posts/people',
    '/posts/:slug/people': `${at}/people`,
    '/posts/:slug/similar': `${at}/similar`,
    '/users/:user': `/users/${username}`,
    '/users/:user/votes': `/users/${username}/votes`,
    '/users/:user/comments': `/users/${username}/comments`,
    '/formatting': '/formatting',
    '/legal/:name': '/legal/terms',
    missing: '/nowhere',
  }
  await look(lists)
  for (const each of ['edit', 'delete', 'report'])
    await look({
      [`/posts/:slug/${each}`]: `${at}/${each}`,
      [`/posts/:slug/comments/:comment/${each}`]: `${at}/comments/${comment}/${each}`,
    })
  await look({
    '/posts/similar': '/posts/similar?title=θέμα',
    '/settings': '/settings',
    '/notifications': '/notifications',
    '/settings/notifications': '/settings/notifications',
    '/settings/delete': '/settings/delete',
  })
  const { userId } = await site.db
    .selectFrom('users')
    .select('userId')
    .where('isOwner', '=', 1)
    .executeTakeFirstOrThrow()
  const link = `token=${await claimMailKey(site.db, userId, 'key')}&post=${post.number}`
  for (const each of ['/notifications/mail', '/notifications/mail/unsubscribe'])
    await look({ [each]: `${each}?${link}` })
  const [boardAt, roadmapAt] = [encodeURIComponent(board.url), encodeURIComponent(roadmap)]
  await look({ '/dashboard': '/dashboard', '/dashboard/comments': '/dashboard/comments' })
  const { view } = await site.call(views.create, { name: 'Πρώτα', roadmapIds: ['none'] })
  await look({ '/dashboard/posts': '/dashboard/posts?view=Πρώτα&q=Θέμα&by=me' })
  await look({ '/dashboard/posts': '/dashboard/posts' })
  await look({ '/dashboard/posts/merge': '/dashboard/posts/merge?ids=1&ids=2&ids=99&all=true&to=/dashboard/posts' })
  await look({ '/dashboard/posts/merge': '/dashboard/posts/merge?ids=1&into=Θέμα' })
  const teamAt = `/dashboard${at}`
  const event = await site.db.selectFrom('events').select('id').where('subject_id', '=', post.postId).orderBy('id', 'desc').limit(1).executeTakeFirstOrThrow() // prettier-ignore
  for (const which of ['', '?told=false'])
    await look({ '/dashboard/posts/:slug/told/:event': `${teamAt}/told/${event.id}${which}` })
  await look({ '/dashboard/settings/log/:event/undo': `/dashboard/settings/log/${event.id}/undo` })
  await look({ '/dashboard/posts/:slug': teamAt, '/dashboard/posts/:slug/delete': `${teamAt}/delete` })
  await look({ '/dashboard/views/:view/delete': `/dashboard/views/${view.viewId}/delete` })
  await look({ '/dashboard/views/:view/settings': `/dashboard/views/${view.viewId}/settings` })
  await look({ '/dashboard/boards': '/dashboard/boards', '/dashboard/boards/new': '/dashboard/boards/new' })
  await look({ '/dashboard/overview': '/dashboard/overview' })
  await look({ '/dashboard/roadmaps': '/dashboard/roadmaps', '/dashboard/roadmaps/new': '/dashboard/roadmaps/new' })
  await look({ '/dashboard/tags': '/dashboard/tags', '/dashboard/tags/new': '/dashboard/tags/new' })
  for (const each of ['settings', 'merge', 'delete'])
    await look({ [`/dashboard/tags/:url/${each}`]: `/dashboard/tags/phone/${each}` })
  for (const each of ['settings', 'delete'])
    await look({
      [`/dashboard/boards/:url/${each}`]: `/dashboard/boards/${boardAt}/${each}`,
      [`/dashboard/roadmaps/:url/${each}`]: `/dashboard/roadmaps/${roadmapAt}/${each}`,
    })
  for (const each of ['general', 'legal', 'domains', 'notifications', 'mail', 'log', 'backups', 'import', 'keys'])
    await look({ [`/dashboard/settings/${each}`]: `/dashboard/settings/${each}` })
  await page.fill('#field-name', 'Κλειδί')
  await page.click('.settings-form button')
  await page.locator('.narrow code').waitFor()
  await page.click('.narrow .button')
  await page.click('.rows .danger')
  seen.add('/dashboard/settings/keys/:key/revoke')
  await check('a key to revoke')
  const [person, role] = [`/dashboard/users/${eve}`, `/dashboard/settings/roles/${roleId}`]
  await look({ '/dashboard/users': '/dashboard/users', '/dashboard/users/:username': person })
  for (const verb of ['block', 'sign-out', 'reset-totp', 'merge', 'delete'])
    await look({ [`/dashboard/users/:username/${verb}`]: `${person}/${verb}` })
  await look({ '/dashboard/users/:username/roles/:role/remove': `${person}/roles/${roleId}/remove` })
  await look({
    '/dashboard/invitations': '/dashboard/invitations',
    '/dashboard/invitations/:username/revoke': `/dashboard/invitations/${eve}/revoke`,
    '/dashboard/settings/roles': '/dashboard/settings/roles',
    '/dashboard/settings/roles/new': '/dashboard/settings/roles/new?recipe=support',
    '/dashboard/settings/roles/:role': role,
    '/dashboard/settings/roles/:role/delete': `${role}/delete`,
  })
  await send('/dashboard/invitations', '.settings-form')
  await site.call(invitations.create, { emails: ['new@example.org'] })
  const invitation = await site.mailedToken('new@example.org')
  await send('/dashboard/boards/new', '.settings-form')
  await send('/posts/new', '.post-form')
  await send('/settings', 'form[action$="/settings/password"]')
  await page.goto(`${site.url}/settings`)
  await page.click('form[action$="/settings/totp"] button')
  await page.locator('.qr').waitFor()
  await check('the second factor')
  const secret = (await page.innerText('main code')).replaceAll(' ', '')
  await page.fill('#field-code', await generate({ secret, epoch: site.clock.now.getTime() / 1000 }))
  await page.click('main form button')
  await page.locator('.codes').waitFor()
  await check('recovery codes')
  await look({ '/settings': '/settings' })

  await page.click('header form[action$="/logout"] button')
  await page.locator('.flash').waitFor()
  await check('signed out')
  await look(lists)
  await look({
    '/login': '/login',
    '/join': '/join',
    '/password-reset': '/password-reset',
    '/password-reset/confirm': '/password-reset/confirm?token=',
    '/email-verify': '/email-verify?token=1',
    '/invitation': `/invitation?token=${invitation}`,
  })
  await look({ '/password-reset/confirm': '/password-reset/confirm?token=1' })
  await look({ '/login/link': '/login/link' })
  await look({ '/login/link': '/login/link?token=1' })
  await look({ '/invitation': '/invitation?token=1' })
  await send('/login')
  await send('/join')
  await send(`/invitation?token=${invitation}`)
  await send('/password-reset/confirm?token=1', 'main form', '.empty')
  await send('/email-verify?token=1', 'main form', '.empty')
  await send('/login/link?token=1', 'main form', '.empty')
  await page.goto(`${site.url}/login`)
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button')
  await page.locator('#field-code').waitFor()
  await check('asked for a code')
  await page.goto(`${site.url}/password-reset`)
  await page.fill('#field-email', OWNER.email)
  await sql`drop table deliveries`.execute(site.db)
  await page.click('main form button')
  await page.locator('.typed').waitFor()
  await check('a form that failed')
  expect(problems).toEqual([])
  const shown = Object.keys(routes.pages).filter((path) => !LEADS_ELSEWHERE.includes(path))
  expect([...seen]).toEqual(expect.arrayContaining(shown))
})
