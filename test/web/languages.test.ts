import { expect, it } from 'vitest'
import { wordsOf } from '../../src/core/catalogue.js'
import { LANGUAGES } from '../../src/core/language.js'
import { guessedKind } from '../../src/core/statuskinds.js'
import * as boards from '../../src/service/boards.js'
import * as posts from '../../src/service/posts.js'
import { NARROW, serveSite, visit } from '../support/browser.js'
import { OWNER } from '../support/site.js'

const OPEN = ['/', '/boards', '/roadmaps', '/search?q=dark', '/login', '/join', '/password-reset']
const OF_TEAM = ['/settings', '/settings/notifications', '/posts/new', '/dashboard', '/dashboard/posts', '/dashboard/users', '/dashboard/settings/general', '/dashboard/settings/backups', '/dashboard/settings/import', '/dashboard/settings/log'] // prettier-ignore

it('every language fits a phone of 320 px, in its own direction', async () => {
  const site = await serveSite('sqlite')
  await site.owner()
  const { board } = await site.call(boards.create, { name: 'Ideas' })
  const { post } = await site.call(posts.create, { title: 'Dark mode', contentMarkdown: 'Please.', boardId: board.boardId }) // prettier-ignore
  const wrong: unknown[] = []
  await Promise.all(
    LANGUAGES.map(async (language) => {
      const { page } = await visit({ viewport: NARROW, locale: language })
      const look = async (path: string) => {
        await page.goto(site.url + path)
        const seen = await page.evaluate(() => {
          const { lang, dir, scrollWidth, clientWidth } = document.documentElement
          return { lang, dir, isWider: scrollWidth > clientWidth }
        })
        const wanted = { lang: language, dir: language === 'ar' ? 'rtl' : 'ltr', isWider: false }
        if (JSON.stringify(seen) !== JSON.stringify(wanted)) wrong.push([path, seen, language])
      }
      for (const path of OPEN) await look(path)
      await page.goto(`${site.url}/login`)
      await page.fill('#field-email', OWNER.email)
      await page.fill('#field-password', OWNER.password)
      await page.click('main form button')
      await page.waitForURL(`${site.url}/`)
      for (const path of [...OF_TEAM, `/posts/${post.slug}`]) await look(path)
    }),
  )
  expect(wrong).toEqual([])
})

it.each(LANGUAGES)('the usual statuses say what they mean: %s', (language) => {
  const { t } = wordsOf(language)
  expect(t('roadmap.usualNames').split(', ').map(guessedKind)).toEqual(['open', 'planned', 'active', 'done'])
})

it.each([
  ['nicht geplant', 'declined'],
  ['No planificado', 'declined'],
  ['🚧 En cours', 'active'],
  ['À l’étude', 'open'],
  ["A l'examen", 'open'],
  ['Não planejado', 'declined'],
  ['対応済み', 'done'],
  ['قيد التنفيذ', 'active'],
  ['Something else', 'open'],
])('a status named %s is %s', (name, kind) => expect(guessedKind(name)).toBe(kind))

it.each([
  ['en', '5 MB', '81.3 kB'],
  ['de', '5 MB', '81,3 kB'],
  ['fr', '5 Mo', '81,3 ko'],
])('the size of a file reads as in %s', (language, large, small) => {
  const { size } = wordsOf(language)
  expect([size(5_000_000), size(81_250)].map((text) => text.replaceAll(/\s/g, ' '))).toEqual([large, small])
})
