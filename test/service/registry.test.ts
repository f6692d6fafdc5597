import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { NOUNS } from '../../src/core/nouns.js'
import { operations } from '../../src/service/index.js'
import { makeSite } from '../support/site.js'

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))

const isOperation = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ['id', 'http', 'access', 'run'].every((key) => key in value)

it('every operation that a module of the service exports is in the registry', async () => {
  const listed = new Set<unknown>(operations)
  const exported: { value: unknown; at: string }[] = []
  for (const file of filesIn('src/service')) {
    const module = (await import(path.resolve('src/service', file))) as object
    for (const [name, value] of Object.entries(module) as [string, unknown][])
      if (isOperation(value)) exported.push({ value, at: `${file}: ${name}` })
  }
  expect(exported.length).toBeGreaterThanOrEqual(operations.length)
  expect(exported.filter(({ value }) => !listed.has(value)).map(({ at }) => at)).toEqual([])
})

it('operations are defined in the service alone', () => {
  const makers = /import \{[^}]*(?<!type )\b(operation|download|upload|csvOf|uploadOf)\b[^}]*\} from '[./]*service\/lib\/(operation|download|upload|csvof|uploadof)\.js'/ // prettier-ignore
  const defining = filesIn('src').filter((file) => makers.test(readFileSync(path.join('src', file), 'utf8')))
  expect(defining).toEqual([])
})

/**
 * Columns whose changes events leave out. Ids and times change with the row or are in the event itself, folded names
 * follow from names, and triggers count. The rest are secrets, what people may erase, and long texts.
 */
const IN_NO_EVENT: Record<string, readonly string[]> = {
  post: ['postId', 'slug', 'slugId', 'contentMarkdown', 'userId', 'votesCount', 'commentsCount', 'trending', 'display', 'hidesVoters', 'number', 'importedVotes', 'createdAt', 'updatedAt'], // prettier-ignore
  comment: ['id', 'post_id', 'parent_id', 'author_id', 'body', 'is_edited', 'roadmap_id', 'from_post_id', 'number', 'created_at', 'updated_at'], // prettier-ignore
  board: ['boardId', 'nameFolded', 'post_count', 'createdAt', 'updatedAt'],
  roadmap: ['id', 'nameFolded', 'created_at', 'updated_at'],
  tag: ['tagId', 'nameFolded', 'createdAt', 'updatedAt'],
  // What a person may erase goes with the account
  user: ['userId', 'name', 'username', 'email', 'password', 'avatar', 'isVerified', 'isOwner', 'isBlocked', 'notes', 'language', 'searchText', 'showProfile', 'showVotes', 'showComments', 'post_count', 'vote_count', 'sessions', 'createdAt', 'updatedAt'], // prettier-ignore
  role: ['id', 'isSystem', 'created_at', 'updated_at'],
  // Nothing changes these rows but their use
  key: ['keyId', 'keyHash', 'userId', 'name', 'permissions', 'createdAt', 'expiresAt'],
  session: ['sessionId', 'userId', 'userAgent', 'address', 'kind', 'createdAt', 'expiresAt'],
  identity: ['identityId', 'userId', 'provider', 'subject', 'email', 'createdAt', 'usedAt'],
  image: ['imageId', 'userId', 'mediaType', 'width', 'height', 'bytes', 'createdAt'],
  // Only its author sees a private one
  view: ['viewId', 'userId', 'name', 'nameFolded', 'isShared', 'filter', 'createdAt', 'updatedAt'],
  site: ['id', 'icon', 'isPoweredBy', 'secretFingerprint'],
}

it('every column of a noun is recorded in events, or is known to be left out', async () => {
  const site = await makeSite('sqlite')
  const faults: string[] = []
  for (const [noun, entry] of Object.entries(NOUNS)) {
    const table = 'table' in entry ? entry.table : noun === 'site' ? 'settings' : undefined
    if (table === undefined) continue
    const { rows } = await sql<{ name: string }>`select name from pragma_table_info(${table})`.execute(site.db)
    const recorded = 'details' in entry ? Object.keys(entry.details) : []
    const known = [...recorded, ...(IN_NO_EVENT[noun] ?? [])]
    for (const { name } of rows) {
      const times = known.filter((each) => each === name).length
      if (times !== 1)
        faults.push(`${noun}.${name} is ${times === 0 ? 'neither recorded nor left out' : 'in both lists'}`)
    }
    for (const name of known) if (!rows.some((row) => row.name === name)) faults.push(`${noun}.${name} is no column`)
  }
  expect(faults).toEqual([])
})
