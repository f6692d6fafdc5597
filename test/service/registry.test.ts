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

/** Operations without a command of their own, and why. */
const WITHOUT_COMMAND: Record<string, string> = {
  'auth.useLink': 'a mail leads there',
  'notifications.settingsByKey': 'a mail leads there',
  'notifications.updateByKey': 'a mail leads there',
  'notifications.stopMail': 'a mail leads there',
  'notifications.unfollowByKey': 'a mail leads there',
  'invitations.accept': 'a mail leads there',
  'notifications.count': 'notifications list says it',
  'posts.followed': 'posts show says it',
  'posts.audienceAll': 'a page asks before it changes many posts',
  'users.blockMany': 'users block asks for each',
  'boards.get': 'the contract has two forms of one list',
  'roadmaps.sort': 'the contract has two forms of one order',
  'users.download': 'users list --all -o csv',
  'posts.download': 'posts list --all -o csv',
  'comments.download': 'comments list --all -o csv',
  'votes.download': 'votes list --all -o csv',
  'imports.findPath': 'for pages: the command imports itself',
  'imports.site': 'for pages: the command imports itself',
  'imports.file': 'for pages: the command imports itself',
  'imports.startRun': 'for pages: the command imports itself',
  'imports.confirmRun': 'for pages: the command imports itself',
  'imports.refused': 'for pages: the command imports itself',
  'exports.site': 'for pages: the command exports itself',
  'backups.list': 'for pages: the command reads the folder',
  'backups.create': 'for pages: the command writes the backup itself',
  'backups.rehearse': 'for pages: the command rehearses itself',
  'mails.list': 'for pages: mail queue list reads the rows itself',
  'mails.test': 'for pages: mail test sends itself',
  'mails.retry': 'for pages: mail queue retry changes the rows itself',
  'mails.cancel': 'for pages: mail queue cancel changes the rows itself',
  'names.find': 'for clients: commands look names up in lists',
}

it('every operation is run by a command, or is known to have none', async () => {
  const used = new Set<unknown>()
  for (const file of filesIn('src/cli')) {
    const text = readFileSync(path.join('src/cli', file), 'utf8')
    const imported = text.matchAll(/import (?:\{([^}]*)\}|\* as (\w+)) from '((?:\.\.\/)+service\/[^']+)\.js'/g)
    for (const [, list = '', alias, from = ''] of imported) {
      const module = (await import(path.resolve('src/cli', path.dirname(file), `${from}.ts`))) as Record<
        string,
        unknown
      >
      const names = list.split(',').map((name) => name.trim().split(' as ')[0] ?? '')
      if (alias !== undefined)
        names.push(...[...text.matchAll(new RegExp(`\\b${alias}\\.(\\w+)`, 'g'))].map(([, name = '']) => name))
      for (const name of names) used.add(module[name])
    }
  }
  const without = operations.filter((op) => !used.has(op)).map(({ id }) => id)
  expect(without.toSorted()).toEqual(Object.keys(WITHOUT_COMMAND).toSorted())
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
