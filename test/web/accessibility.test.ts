import { expect, it } from 'vitest'
import { answer } from '../../src/service/answers.js'
import { claimMailKey } from '../../src/db/notificationsettings.js'
import * as auth from '../../src/service/auth.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as invitations from '../../src/service/invitations.js'
import * as posts from '../../src/service/posts.js'
import * as posttags from '../../src/service/posttags.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as roles from '../../src/service/roles.js'
import * as legal from '../../src/service/legal.js'
import * as settings from '../../src/service/settings.js'
import * as tags from '../../src/service/tags.js'
import * as views from '../../src/service/views.js'
import { violationsOf } from '../support/axe.js'
import { NARROW, serveSite, visit, WIDE } from '../support/browser.js'
import { OWNER } from '../support/site.js'

/** How much of a page may move after it is painted: what a browser that is slow paints before its neighbour. */
const SHIFT = 0.05

interface Shift {
  value: number
  nodes: (string | undefined)[]
}

/** Runs in the page. */
function observeShifts(): void {
  const shifts: Shift[] = []
  Object.assign(globalThis, { shifts })
  interface Entry extends PerformanceEntry {
    value: number
    hadRecentInput: boolean
    sources: { node?: Element }[]
  }
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries() as Entry[])
      if (!hadRecentInput) shifts.push({ value, nodes: sources.map(({ node }) => node?.outerHTML?.slice(0, 80)) })
  }).observe({ type: 'layout-shift', buffered: true })
}

it.each([
  { colorScheme: 'light', viewport: WIDE },
  { colorScheme: 'dark', viewport: NARROW },
] as const)('every page passes axe, fits its width, and stays where it is: %o', async (window) => {
  const site = await serveSite('sqlite')
  const { page } = await visit({ ...window, expected: /status of (404|409|422)/ })
  await page.addInitScript(observeShifts)
  const problems: unknown[] = []
  const check = async (name: string) => {
    for (const violation of await violationsOf(page)) problems.push([name, ...violation])
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    if (overflow > 0) problems.push([name, 'overflow', overflow])
    const shifts = await page.evaluate(() => (globalThis as unknown as { shifts: Shift[] }).shifts)
    if (shifts.reduce((sum, { value }) => sum + value, 0) > SHIFT) problems.push([name, 'moves', shifts])
  }
  const look = async (...paths: string[]) => {
    for (const path of paths) {
      await page.goto(site.url + path)
      if (page.url() !== site.url + path) problems.push([path, 'leads to', page.url()])
      await check(path)
    }
  }
  await look('/setup/welcome', '/setup/create-account')
  await site.owner()
  await site.call(settings.update, { accentColor: 'ffd400', description: 'Tell us what you miss.' })
  await look('/', '/boards', '/roadmaps', '/search?q=nothing')
  await site.call(auth.resetPassword, { email: OWNER.email })
  const { html } = await site.db
    .selectFrom('deliveries')
    .select('html')
    .orderBy('deliveryId', 'desc')
    .executeTakeFirstOrThrow()
  await page.goto('about:blank') // the policy of a page would hold for the mail
  await page.setContent(html)
  await check('a mail')
  const { board } = await site.call(boards.create, {
    name: 'A board whose name is longer than a phone is wide',
    display: true,
  })
  await site.call(roadmaps.create, { name: 'Planned', display: true })
  const columns = Array.from({ length: 20 }, (_, index) => `Column ${index}|`).join('')
  const { post } = await site.call(posts.create, {
    title: 'Dark'.repeat(25),
    contentMarkdown: `# Dark heading\n\n- one\n\n| a | b |\n|---|---|\n| ${'x'.repeat(200)} | d |\n\n|${columns}\n|${'-|'.repeat(20)}\n|${columns}\n\n\`\`\`\n${'code '.repeat(50)}\n\`\`\`\n`,
    boardId: board.boardId,
  })
  await site.call(posts.update, {
    id: post.postId,
    roadmapId: 'planned',
    partial: true,
    message: '# Soon\n\nOr later.',
  })
  for (const name of ['A tag whose name is longer than a phone is wide', 'Mobile'])
    await site.call(tags.create, { name, display: name !== 'Mobile' })
  await site.call(posttags.tag, {
    ids: [post.postId],
    add: ['a-tag-whose-name-is-longer-than-a-phone-is-wide', 'mobile'],
  })
  const { activity } = await site.call(comments.create, { post_id: post.postId, body: 'Yes' })
  await site.call(comments.create, { post_id: post.postId, body: 'Indeed', parent_id: activity.id })
  await site.call(answer, { post_id: post.postId, comment_id: activity.id })
  await site.db.updateTable('posts').set({ votesCount: 98_765, commentsCount: 12_345 }).execute()
  const { username } = await site.db.selectFrom('users').select('username').where('isOwner', '=', 1).executeTakeFirstOrThrow() // prettier-ignore
  const path = `/posts/${post.slug}`
  const lists = [
    '/',
    '/?sort=votes',
    '/boards',
    `/boards/${board.url}`,
    '/roadmaps',
    '/roadmaps/planned',
    '/search',
    '/search?q=dark',
    path,
    `${path}/voters`,
    ...['', '/votes', '/comments'].map((list) => `/users/${username}${list}`),
    '/posts/new',
    '/nowhere',
  ]
  await site.call(legal.set, {
    name: 'privacy',
    markdown: `# Data\n\n${columns}\n\n- one\n  - two\n\n|${columns}\n|${'-|'.repeat(20)}\n|${columns}`,
  })
  await site.call(legal.set, { name: 'terms', markdown: 'Be kind.' })
  await look(
    ...lists,
    '/formatting',
    '/legal/privacy',
    '/login',
    '/join',
    '/password-reset',
    '/password-reset/confirm',
    '/password-reset/confirm?token=x',
    '/email-verify?token=x',
    `/email-verify?token=${await site.mailedToken(OWNER.email)}`,
    '/login/link',
    '/login/link?token=x',
  )
  await page.goto(`${site.url}/login`)
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button')
  await page.locator('text=Sign out').waitFor()
  const { userId } = await site.db
    .selectFrom('users')
    .select('userId')
    .where('isOwner', '=', 1)
    .executeTakeFirstOrThrow()
  await look(
    ...lists,
    '/posts/similar?title=dark',
    '/settings',
    '/setup/create-board',
    '/setup/create-roadmaps',
    `${path}/update`,
    `${path}/merge`,
    `${path}/status`,
    `${path}/people`,
    `${path}/similar`,
    '/notifications',
    '/settings/notifications',
    `/notifications/mail?token=${await claimMailKey(site.db, userId, 'key')}&post=${post.number}`,
    '/notifications/mail?token=x',
  )
  const [boardPath, roadmapPath] = [`/dashboard/boards/${board.url}`, '/dashboard/roadmaps/planned']
  await look('/dashboard', '/dashboard/comments')
  const { view } = await site.call(views.create, { name: 'Triage', roadmapIds: ['none', 'planned'], shared: true })
  await look('/dashboard/posts', '/dashboard/posts?view=Triage', '/dashboard/posts?q=nothing&board=none&sort=votes')
  await look('/dashboard/posts/merge', '/dashboard/posts/merge?ids=1&ids=2&into=dark&to=%2Fdashboard%2Fposts')
  await look(`/dashboard/views/${view.viewId}/delete`, `/dashboard/views/${view.viewId}/settings`)
  await look(`/dashboard/posts/${post.slug}?from=%2Fdashboard%2Fposts&row=0`, `/dashboard/posts/${post.slug}/delete`)
  await page.goto(`${site.url}/dashboard/posts`)
  await page.click('.verbs .primary')
  await page.locator('.summary').waitFor()
  await page.click('.views summary')
  await check('/dashboard/posts refused, with the views open')
  await look('/dashboard/boards', '/dashboard/boards/new', `${boardPath}/settings`, `${boardPath}/delete`)
  for (const each of ['general', 'legal', 'domains', 'notifications', 'mail', 'log', 'keys'])
    await look(`/dashboard/settings/${each}`)
  await look(
    '/dashboard/overview',
    '/dashboard/settings/backups',
    '/dashboard/settings/import',
    '/dashboard/settings/mail?sent=true',
  )
  await look('/dashboard/roadmaps', '/dashboard/roadmaps/new', `${roadmapPath}/settings`, `${roadmapPath}/delete`)
  await look('/dashboard/tags', '/dashboard/tags/new')
  for (const each of ['settings', 'merge', 'delete']) await look(`/dashboard/tags/mobile/${each}`)
  const { outcomes } = await site.call(invitations.create, { emails: [`${'long'.repeat(15)}@example.org`, 'bob@imported.invalid'] }) // prettier-ignore
  const { role } = await site.call(roles.create, { name: 'Moderators of the whole site', permissions: ['post:update'] })
  for (const { userId } of outcomes) if (userId) await site.call(roles.assign, { role_id: role.id, user_id: userId })
  const [person, rolePath] = [`/dashboard/users/${outcomes[0]?.username}`, `/dashboard/settings/roles/${role.id}`]
  await look('/dashboard/users', '/dashboard/users?q=nobody', '/dashboard/users?state=invited&sort=name', person)
  await look(...['block', 'sign-out', 'delete', `roles/${role.id}/remove`].map((verb) => `${person}/${verb}`))
  await look(`/dashboard/users/${outcomes[1]?.username}/merge`) // of an import without an address
  await look('/dashboard/invitations', `/dashboard/invitations/${outcomes[0]?.username}/revoke`)
  await look(`/invitation?token=${await site.mailedToken(`${'long'.repeat(15)}@example.org`)}`, '/invitation?token=x')
  await look('/dashboard/settings/roles', '/dashboard/settings/roles/new?recipe=moderator', rolePath, `${rolePath}/delete`) // prettier-ignore
  await page.goto(`${site.url}${rolePath}`)
  await site.call(roles.update, { id: role.id, name: 'Moderators', permissions: ['post:destroy'] })
  await page.click('main .verbs button')
  await page.locator('.now').first().waitFor()
  await check('a form that is older than its role')
  const [everyone] = (await site.call(roles.list, {})).roles
  await look(`/dashboard/settings/roles/${everyone?.id}`)
  await page.goto(`${site.url}/dashboard/invitations`)
  await page.fill('#field-emails', 'new@example.org, nobody, bob@example.org')
  await page.click('main .settings-form button')
  await page.locator('.outcomes').first().waitFor()
  await check('the outcomes of invitations')
  for (const each of ['edit', 'delete', 'report'])
    await look(`${path}/${each}`, `${path}/comments/${activity.id}/${each}`)
  await page.goto(`${site.url}/posts/new`)
  await page.evaluate(() => document.querySelector<HTMLFormElement>('.post-form')?.submit())
  await page.locator('.summary').waitFor()
  await check('an error')
  await page.goto(`${site.url}/settings`)
  await page.click('text=Turn on')
  await page.locator('.qr').waitFor()
  await check('the second factor')
  expect(problems).toEqual([])
})

it('axe names what breaks its rules', async () => {
  const { page } = await visit()
  await page.setContent(
    '<!doctype html><html lang="en"><title>x</title><main><h1>x</h1><img src="data:,"></main></html>',
  )
  expect(await violationsOf(page)).toEqual([['image-alt', ['<img src="data:,">']]])
})

it('a journey by keyboard alone never loses the focus', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  await site.call(posts.create, { title: 'Dark mode', contentMarkdown: 'Please.' })
  const { page } = await visit()
  await page.goto(site.url)
  await page.keyboard.press('Tab')
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content')
  await page.keyboard.press('Enter')
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
  const tabTo = async (wanted: string) => {
    for (let count = 0; count < 40; count++) {
      const label = await page.evaluate(
        () => document.activeElement?.ariaLabel ?? document.activeElement?.textContent ?? '',
      )
      if (label.includes(wanted)) return
      await page.keyboard.press('Tab')
      expect(await page.evaluate(() => document.activeElement?.matches(':focus-visible')), 'the focus is seen').toBe(
        true,
      )
    }
    expect.fail(`no way to ${wanted}`)
  }
  await tabTo('Vote for “Dark mode”')
  await page.keyboard.press('Enter')
  await page.locator('h1:text-is("Sign in")').waitFor()
  await page.focus('#field-email')
  await page.keyboard.type(OWNER.email)
  await page.keyboard.press('Tab')
  await page.keyboard.type(OWNER.password)
  await page.keyboard.press('Enter')
  const button = page.locator('.vote button')
  await expect.poll(() => button.getAttribute('aria-pressed')).toBe('true')
  await tabTo('Vote for “Dark mode”')
  await page.keyboard.press('Space')
  await expect.poll(() => button.getAttribute('aria-pressed')).toBe('false')
  expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toContain('Vote for “Dark mode”')
})

it.each([
  [390, 'Ideas', 'Planned'],
  [320, 'Ideas of people on the far side', 'Waiting for the next supply ship'],
])(
  'a phone of %i px shows the first post on its first screen, and a thumb hits every control',
  async (width, place, stage) => {
    const site = await serveSite('sqlite')
    await site.owner()
    await site.call(settings.update, { description: 'Tell us what you miss, and see what others ask for.' })
    const { board } = await site.call(boards.create, { name: place, display: true })
    const { roadmap } = await site.call(roadmaps.create, { name: stage, display: true })
    const { post } = await site.call(posts.create, { title: 'Dark mode', contentMarkdown: 'Please.', boardId: board.boardId }) // prettier-ignore
    await site.call(posts.update, { id: post.postId, roadmapId: roadmap.id, partial: true })
    const { activity } = await site.call(comments.create, { post_id: post.postId, body: 'Yes' })
    await site.call(comments.create, { post_id: post.postId, body: 'Indeed', parent_id: activity.id })
    const { page } = await visit({ viewport: { width, height: 844 }, hasTouch: true, locale: 'de' })
    await page.goto(`${site.url}/login`)
    await page.fill('#field-email', OWNER.email)
    await page.fill('#field-password', OWNER.password)
    await page.click('main form button')
    await page.locator('.post').waitFor()
    expect((await page.locator('.post').boundingBox())?.y).toBeLessThan(300)
    const missed: unknown[] = []
    for (const path of ['/', '/?q=Dark', '/boards', '/roadmaps', '/settings', '/posts/new', `/posts/${post.slug}`]) {
      await page.goto(site.url + path)
      const found = await page.evaluate(() => {
        const controls = Array.from(
          document.querySelectorAll('a, button, select, summary, input, textarea, label.check'),
        )
        let tapped = 0
        const missed = controls.flatMap((control) => {
          control.scrollIntoView({ block: 'center', inline: 'center' })
          const { x, y, width, height } = control.getBoundingClientRect()
          const isShown = (control as HTMLElement).checkVisibility({ contentVisibilityAuto: true }) && width > 1
          const isTapped = getComputedStyle(control).pointerEvents !== 'none'
          if (!isShown || !isTapped || control.matches('.skip, [type=checkbox], .prose a')) return []
          tapped++
          const isHit = [-20, 0, 20].every((away) => {
            const hit = document.elementFromPoint(x + width / 2, y + height / 2 + away)
            return hit !== null && control.contains(hit)
          })
          return isHit ? [] : [control.outerHTML.slice(0, 120)]
        })
        return tapped === 0 ? ['no control'] : missed
      })
      missed.push(...found.map((html) => [path, html]))
    }
    expect(missed).toEqual([])
  },
)
