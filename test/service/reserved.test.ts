import { expect, it } from 'vitest'
import * as boards from '../../src/service/boards.js'
import { operations } from '../../src/service/index.js'
import * as roadmaps from '../../src/service/roadmaps.js'
import * as tags from '../../src/service/tags.js'
import * as users from '../../src/service/users.js'
import { failure, makeSite, OWNER } from '../support/site.js'

/** The fixed words of all routes in the place of a row: `search` in `/boards/search/:name`. */
const wordsAfter = (root: string): string[] => [
  ...new Set(operations.flatMap(({ http }) => new RegExp(`^[A-Z]+ /${root}/([a-z-]+)`).exec(http)?.[1] ?? [])),
]

/** Rows that these routes find by an id or by a number, or by a url that ends in random letters. */
const BY_ID = ['invitations', 'mails', 'moderation', 'notifications', 'posts', 'roles']

it('every place of a row that a fixed word could stand in is known', () => {
  const inPlace = operations.flatMap(({ http }) => /^[A-Z]+ \/([a-z-]+)\/:/.exec(http)?.[1] ?? [])
  const roots = [...new Set(inPlace)].filter((root) => wordsAfter(root).length > 0)
  expect(roots.toSorted()).toEqual(['boards', 'roadmaps', 'tags', 'users', ...BY_ID].toSorted())
})

it.each([
  ['boards', 'BOARD_URL_EXISTS'],
  ['roadmaps', 'ROADMAP_URL_EXISTS'],
  ['tags', 'TAG_URL_EXISTS'],
  ['users', 'USERNAME_EXISTS'],
] as const)('no row takes a word of a route: /%s', async (root, code) => {
  const site = await makeSite('sqlite')
  await site.owner()
  const attempt = {
    boards: (url: string) => site.call(boards.create, { name: 'x', url }),
    roadmaps: (url: string) => site.call(roadmaps.create, { name: 'x', url }),
    tags: (url: string) => site.call(tags.create, { name: 'x', url }),
    users: (word: string) => site.call(users.update, { user: OWNER.email, username: word.toUpperCase() }),
  }
  const words = wordsAfter(root)
  expect(words).not.toEqual([])
  for (const word of words) expect([word, (await failure(attempt[root](word))).code]).toEqual([word, code])
})
