import { describe, expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import { serveSite, visit } from '../support/browser.js'
import { addBoards } from '../support/manyboards.js'
import { engines, OWNER } from '../support/site.js'

describe.each(engines)('one of more than 1,000 boards on %s', (engine) => {
  const many = async () => {
    const site = await serveSite(engine)
    await site.owner()
    await addBoards(site, 0, 1001)
    await site.call(boards.create, { name: '🚀 Launch pad', display: true })
    await site.call(boards.create, { name: 'Launch crew', display: false })
    await site.call(boards.create, { name: 'Launch of old', display: false, archived: true }) // is in no menu
    return site
  }

  it.each([true, false])('is found by name among all boards (script: %s)', async (script) => {
    const site = await many()
    const { page } = await visit({ script })
    await page.goto(`${site.url}/boards?page=3`)
    await page.fill('#words', 'launch')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/boards?q=launch')
    expect(await page.locator('.boards .name').allInnerTexts()).toEqual(['🚀 Launch pad'])
    expect(await page.inputValue('#words')).toBe('launch')
    await page.fill('#words', 'board')
    await page.keyboard.press('Enter')
    await page.click('text=Next')
    expect(await page.locator('.boards .name').count()).toBe(50)
    expect(page.url()).toContain('q=board')
    await page.goto(`${site.url}/boards?q=zebra`)
    expect(await page.innerText('.empty h2')).toBe('No board begins with “zebra”')
    await page.click('.empty .button')
    expect(page.url()).toBe(`${site.url}/boards`)
  })

  it.each([true, false])('is found by name for a new post, and to move one there (script: %s)', async (script) => {
    const site = await many()
    const { page } = await visit({ script })
    await page.goto(`${site.url}/login?redirect=/posts/new`)
    await page.fill('#field-email', OWNER.email)
    await page.fill('#field-password', OWNER.password)
    await page.click('main form button[type=submit]')
    const options = () => page.locator('select[name=boardId] option').allInnerTexts()
    const find = async (text: string) => {
      await page.fill('#field-boardQuery', text)
      if (!script) await page.keyboard.press('Enter')
    }
    await page.fill('#field-title', 'Countdown')
    expect(await options()).toHaveLength(101)
    await find('board')
    await expect.poll(() => page.innerText('#boards')).toContain('the first 100 boards that begin with “board”')
    await find('launch')
    await expect.poll(options).toEqual(['No board', '🚀 Launch pad', 'Launch crew'])
    expect(await page.innerText('#boards .hint')).toContain('2 boards begin with “launch”')
    await find('launch p')
    await expect.poll(options).toEqual(['No board', '🚀 Launch pad'])
    expect(await page.inputValue('select[name=boardId]'), 'the only one').toBe('launch-pad')
    await find('zebra')
    await expect.poll(() => page.innerText('#boards')).toContain('No board begins with “zebra”')
    await find('launch c')
    await expect.poll(options).toContain('Launch crew')
    await page.selectOption('select[name=boardId]', 'launch-crew')
    expect(await page.inputValue('#field-title')).toBe('Countdown')
    await page.click('button:text-is("Post")')
    await expect.poll(() => page.innerText('h1')).toBe('Countdown')
    expect(await page.innerText('.facts')).toContain('Launch crew')

    await page.click('.whole >> text=Edit')
    expect(await page.inputValue('select[name=boardId]')).toBe('launch-crew')
    await find('board 1000')
    await expect.poll(options).toEqual(['No board', 'Board 1000', 'Launch crew'])
    await page.selectOption('select[name=boardId]', 'board-1000')
    await page.click('text=Save')
    await expect.poll(() => page.innerText('.facts')).toContain('Board 1000')
  })
})
