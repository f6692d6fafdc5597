import type { Locator, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { operator } from '../../src/service/lib/access.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import { violationsOf } from '../support/axe.js'
import { NARROW, serveSite, visit, type ServedSite } from '../support/browser.js'
import { OWNER } from '../support/site.js'

async function signIn(page: Page, { url }: ServedSite, to: string): Promise<void> {
  await page.goto(`${url}/login?redirect=${encodeURIComponent(to)}`)
  await page.fill('#field-email', OWNER.email)
  await page.fill('#field-password', OWNER.password)
  await page.click('main form button[type=submit]')
  await page.waitForURL(`${url}${to}`)
}

/** Fills a field. Bars stand around what is selected, and one bar where the cursor is. */
async function type(field: Locator, marked: string): Promise<void> {
  const [before = '', inside = '', after] = marked.split('|')
  await field.fill(marked.replaceAll('|', ''))
  const [from, to] = [before.length, before.length + (after === undefined ? 0 : inside.length)]
  await field.evaluate((area, place) => (area as HTMLTextAreaElement).setSelectionRange(...place), [from, to] as const)
}

/** What is in a field, with bars as `type` takes them. */
const typed = (field: Locator): Promise<string> =>
  field.evaluate((area) => {
    const { value, selectionStart: from, selectionEnd: to } = area as HTMLTextAreaElement
    const bar = from === to ? '' : '|'
    return `${value.slice(0, from)}${bar}${value.slice(from, to)}|${value.slice(to)}`
  })

const barOf = (field: Locator): Locator => field.locator('xpath=following-sibling::*[@role="toolbar"]')

async function openPost(): Promise<{ site: ServedSite; path: string }> {
  const site = await serveSite('sqlite')
  await site.owner()
  const { post } = await site.call(posts.create, { title: 'Dark mode', contentMarkdown: 'Please.' })
  return { site, path: `/posts/${post.slug}` }
}

const BUTTONS: [button: string, before: string, after: string][] = [
  ['bold', 'so |very| dark', 'so **|very|** dark'],
  ['bold', 'so **|very|** dark', 'so |very| dark'],
  ['bold', '|**very**| dark', '|very| dark'],
  ['bold', 'so |very |dark', 'so **|very|** dark'],
  ['bold', 'so |', 'so **|**'],
  ['bold', 'so **|**', 'so |'],
  ['bold', '***|very|***', '*|very|*'],
  ['bold', '|- one\n- two\n\nthree|', '|- **one**\n- **two**\n\n**three**|'],
  ['bold', '|- **one**\n- **two**|', '|- one\n- two|'],
  ['italic', 'so **|very|** dark', 'so ***|very|*** dark'],
  ['italic', 'so ***|very|*** dark', 'so **|very|** dark'],
  ['italic', 'خلفية |داكنة|', 'خلفية *|داكنة|*'],
  ['code', 'run |npm| now', 'run `|npm|` now'],
  ['code', 'so\n|a ``` b\nc|', 'so\n````\na ``` b\nc\n````|'],
  ['link', 'see |here|', 'see [here](|https://|)'],
  ['link', 'see |https://example.org/a|', 'see [|](https://example.org/a)'],
  ['link', 'see |', 'see [|](https://)'],
  ['list', 'on|e', '- on|e'],
  ['list', '- on|e', 'on|e'],
  ['list', 'a\n|one\n\ntwo\n|b', 'a\n|- one\n\n- two|\nb'],
  ['list', '|', '- |'],
  ['quote', 'a\nso| it is', 'a\n> so| it is'],
  ['quote', '|> a\n> b|', '|a\nb|'],
]

it('buttons write the marks of Markdown and take them away, and each is one step to undo', async () => {
  const { site, path } = await openPost()
  const { page } = await visit()
  await signIn(page, site, path)
  const field = page.locator('#field-body')
  await field.focus()
  const found: typeof BUTTONS = []
  for (const [name, before] of BUTTONS) {
    await type(field, before)
    await barOf(field).locator(`[data-md=${name}]`).click()
    await expect.poll(() => typed(field)).not.toBe(before)
    found.push([name, before, await typed(field)])
    await page.keyboard.press('Control+Z')
    expect(await field.inputValue(), `${name} of ${before} is undone`).toBe(before.replaceAll('|', ''))
  }
  expect(found).toEqual(BUTTONS)
})

const ENTERS: [before: string, after: string][] = [
  ['- one|', '- one\n- |'],
  ['- one\n- |', '- one\n|'],
  ['* on|e', '* on\n* |e'],
  ['  9) nine|', '  9) nine\n  10) |'],
  ['- [x] done|', '- [x] done\n- [ ] |'],
  ['> said|', '> said\n> |'],
  ['> said\n> |', '> said\n|'],
  ['> - said|', '> - said\n> - |'],
  ['no list|', 'no list\n|'],
  ['**bold**|', '**bold**\n|'],
  ['|- one', '\n|- one'],
  ['- |one|', '- \n|'],
]

it('keys do the same, a list goes on with Enter, and ends where an item is empty', async () => {
  const { site } = await openPost()
  const { page } = await visit()
  await signIn(page, site, '/posts/new')
  const field = page.locator('#field-contentMarkdown')
  await field.focus()
  await expect.poll(() => barOf(field).count()).toBe(1)
  for (const [key, made] of [
    ['b', '**|dark|**'],
    ['i', '*|dark|*'],
    ['k', '[dark](|https://|)'],
  ] as const) {
    await type(field, '|dark|')
    await expect.poll(() => field.press(`Control+${key}`).then(() => typed(field))).toBe(made)
  }
  const found: typeof ENTERS = []
  for (const [before] of ENTERS) {
    await type(field, before)
    await field.press('Enter')
    found.push([before, await typed(field)])
    await page.keyboard.press('Control+Z')
    expect(await field.inputValue()).toBe(before.replaceAll('|', ''))
  }
  expect(found).toEqual(ENTERS)
  await type(field, '- one|')
  await field.press('Shift+Enter')
  expect(await typed(field)).toBe('- one\n|')
})

it('works in texts of any length, beside names that are offered, and on keyboards of other scripts', async () => {
  const { site, path } = await openPost()
  const eve = await site.member()
  await site.db.updateTable('users').set({ username: 'eve', name: 'Eve' }).where('userId', '=', eve.userId).execute()
  await site.callAs({ ...operator, userId: eve.userId })(comments.create, { post_id: path.slice(7), body: 'Me too' })
  const { page } = await visit()
  await signIn(page, site, path)
  const field = page.locator('#field-body')
  await type(field, `${'x'.repeat(990)}|abcdefghij|`)
  const bold = barOf(field).locator('[data-md=bold]')
  await bold.click()
  expect(await field.inputValue(), 'the form says if it is too long').toBe(`${'x'.repeat(990)}**abcdefghij**`)
  await field.fill('')
  await field.pressSequentially('hi @ev')
  await page.locator('[role=listbox] [role=option]').waitFor()
  await field.press('Escape')
  await type(field, '|word|')
  await bold.click()
  expect(await typed(field)).toBe('**|word|**')
  await page.locator('h1').first().click()
  await field.focus()
  expect(await page.locator('.comment-form .bar').count()).toBe(1)
  await type(field, '|dark|')
  await field.evaluate((area) => area.dispatchEvent(new KeyboardEvent('keydown', { key: 'لا', code: 'KeyB', ctrlKey: true, bubbles: true, cancelable: true }))) // prettier-ignore
  expect(await typed(field)).toBe('**|dark|**')
})

it('a note for the team comes back into its own field, and never into the public one', async () => {
  const { site, path } = await openPost()
  const { page } = await visit()
  await signIn(page, site, `/dashboard${path}`)
  await page.fill('#field-body-note', 'for us alone')
  await page.reload()
  await expect.poll(() => page.locator('#field-body-note').inputValue()).toBe('for us alone')
  expect(await page.locator('#field-body').inputValue()).toBe('')
})

it('the buttons are one stop for the tab key, in the order of the language', async () => {
  const { site } = await openPost()
  for (const [locale, forward, back] of [
    ['en', 'ArrowRight', 'ArrowLeft'],
    ['ar', 'ArrowLeft', 'ArrowRight'],
  ] as const) {
    const { page } = await visit({ locale, viewport: NARROW })
    await signIn(page, site, '/posts/new')
    const field = page.locator('#field-contentMarkdown')
    const focused = () => page.evaluate(() => (document.activeElement as HTMLElement).dataset.md ?? document.activeElement?.id) // prettier-ignore
    await field.focus()
    await expect.poll(() => barOf(field).count()).toBe(1)
    const steps = async (keys: string[]) => {
      const seen: (string | undefined)[] = []
      for (const key of keys) {
        await page.keyboard.press(key)
        seen.push(await focused())
      }
      return seen
    }
    expect(await steps(['Tab', forward, forward, back])).toEqual(['bold', 'italic', 'code', 'italic'])
    expect(await steps(['End', forward, back, 'Home', forward])).toEqual(['quote', 'bold', 'quote', 'bold', 'italic'])
    expect(await steps(['Shift+Tab', 'Tab'])).toEqual(['field-contentMarkdown', 'italic'])
  }
})

it('without a script the field is alone and a page explains the marks; with one the field stays where it is', async () => {
  const { site, path } = await openPost()
  const plain = await visit({ script: false })
  await plain.page.goto(site.url + path)
  await plain.page.focus('#field-body')
  expect(await plain.page.locator('[role=toolbar]').count()).toBe(0)
  await plain.page.goto(`${site.url}/formatting`)
  expect(await plain.page.locator('tr[data-md]').allInnerTexts()).toEqual(
    [
      ['**Bold**', 'Bold', 'Bold Ctrl+B'],
      ['*Italic*', 'Italic', 'Italic Ctrl+I'],
      ['`Code`', 'Code', 'Code'],
      ['[Link](https://example.org)', 'Link', 'Link Ctrl+K'],
      ['- List\n- List', 'List\nList', 'List'],
      ['> Quote', 'Quote', 'Quote'],
    ].map((cells) =>
      expect.toSatisfy(
        (text: string) =>
          text
            .split(/\s*\t\s*/)
            .join('|')
            .trim() === cells.join('|'),
      ),
    ),
  )
  const { page } = await visit({ viewport: NARROW })
  await page.goto(site.url + path)
  const field = page.locator('#field-body')
  const place = await field.boundingBox()
  await field.evaluate((area) => area.focus({ preventScroll: true }))
  await expect.poll(() => barOf(field).getByRole('button').count()).toBe(6)
  expect(await barOf(field).getByRole('button').first().getAttribute('title')).toBe('Bold (Ctrl+B)')
  expect(await field.boundingBox()).toEqual(place)
  expect(await violationsOf(page)).toEqual([])
})

it.each([true, false])('texts are shown as they will look before they are sent; with a script: %s', async (script) => {
  const { site, path } = await openPost()
  const { activity } = await site.call(comments.create, { post_id: path.slice(7), body: 'First' })
  const { page } = await visit({ script, viewport: NARROW })
  await signIn(page, site, path)
  const comment = activity.id
  const team = `/dashboard${path}`
  for (const [at, area, sent] of [
    [path, `#field-body-${comment}`, 'Your comment is published.'],
    [path, '#field-body', 'Your comment is published.'],
    [team, '#field-body', 'Your comment is published.'],
    [team, '#field-body-note', 'Your note is saved. Only the team sees it.'],
    [`${path}/comments/${comment}/edit`, '#field-body', 'Saved.'],
    [`${path}/update`, '#field-message', 'The update is posted.'],
  ] as const) {
    await page.goto(site.url + at)
    const form = page.locator('form', { has: page.locator(area) })
    if (area.includes(comment)) await page.locator('details', { has: page.locator(area) }).locator('summary').first().click() // prettier-ignore
    const text = `*nice* at ${at}${area}`
    await form.locator(area).fill(text)
    await form.getByRole('button', { name: 'Preview' }).click()
    await expect.poll(() => page.locator('.preview:visible em').innerText()).toBe('nice')
    expect(await page.locator('.preview:visible').count()).toBe(1)
    expect(page.url() === site.url + at, 'a script stays at the form').toBe(script || /edit|update/.test(at))
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('preview')
    expect(script ? await violationsOf(page) : []).toEqual([])
    expect(await form.locator(area).inputValue()).toBe(text)
    await form.locator('.buttons [type=submit]').first().click()
    await expect.poll(() => page.locator('.flash').innerText()).toBe(sent)
    await expect.poll(() => page.locator('.prose em', { hasText: 'nice' }).count()).toBeGreaterThan(0)
  }
})

it('the template of a board comes with the board, and replaces nothing that somebody wrote', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  for (const [name, template] of [
    ['Bugs', 'What happened?'],
    ['Ideas', 'What for?'],
  ] as const)
    await site.call(boards.create, { name, template, display: true })
  const { page } = await visit()
  await signIn(page, site, '/posts/new?board=bugs')
  const [board, text] = [page.locator('#field-boardId'), page.locator('#field-contentMarkdown')]
  expect(await text.inputValue()).toBe('What happened?')
  await text.focus()
  await text.locator('xpath=following-sibling::*[@role="toolbar"]').waitFor()
  await board.selectOption('ideas')
  await expect.poll(() => text.inputValue()).toBe('What for?')
  await board.selectOption('')
  await expect.poll(() => text.inputValue()).toBe('')
  await text.fill('My own words')
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await board.selectOption('bugs')
  expect(asked).toEqual([])
  expect(await text.inputValue()).toBe('My own words')
})
