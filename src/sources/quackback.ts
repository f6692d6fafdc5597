import { guessedKind } from '../core/statuskinds.js'
import { csvObjects } from './csv.js'
import { fromArchive, type Archive } from './lib/archive.js'
import { markdownOf } from './lib/markdown.js'
import { Places, type Place } from './lib/places.js'
import { countIn, given as field } from './lib/values.js'
import type { Given, Source, SourceRecord } from './source.js'

/** The archive of its workspace. */
export const quackback: Source = {
  from: 'the ZIP archive of its workspace',
  read: fromArchive(records),
}

async function* records(archive: Archive, note: Given['note']): AsyncGenerator<SourceRecord> {
  const places = new Places()
  const rows = (name: string, needed: readonly string[]) => rowsOf(archive, name, needed)
  const personOf = (email = '', name = '', more: object = {}) => {
    const sourceId = email === '' ? name : email.toLowerCase()
    return sourceId === '' ? [] : [{ type: 'person' as const, sourceId, ...field('name', name), ...field('email', email), ...more }] // prettier-ignore
  }
  const person = (...given: Parameters<typeof personOf>) =>
    personOf(...given).flatMap(({ type, sourceId, ...fields }) => places.once(type, sourceId, fields))
  for await (const { name, email, joined_at: joined } of rows('users.csv', ['email']))
    yield* person(email, name, field('createdAt', joined))
  const votes = new Map<string, number>()
  for await (const { post_id: post = '' } of rows('post_votes.csv', ['post_id']))
    votes.set(post, (votes.get(post) ?? 0) + 1)
  for await (const row of rows('posts.csv', ['id', 'title'])) {
    const { id = '', board = '', status = '', author_name: name = '', author_email: email = '' } = row
    const tags = (row.tags ?? '').split(/[,;]/).map((tag) => tag.trim()).filter(Boolean) // prettier-ignore
    const isOpen = status === '' || /^open$/i.test(status)
    const named: Place[] = [
      ...(board === '' ? [] : [{ type: 'board' as const, sourceId: board, name: board }]),
      ...(isOpen ? [] : [{ type: 'status' as const, sourceId: status, name: status, kind: guessedKind(status) }]),
      ...tags.slice(0, 20).map((tag) => ({ type: 'tag' as const, sourceId: tag, name: tag })),
      ...personOf(email, name),
    ]
    const post = {
      type: 'post' as const,
      sourceId: id,
      title: row.title ?? '',
      text: await markdownOf(row.content ?? ''),
      ...field('board', board),
      ...(!isOpen && { status }),
      ...field('author', email === '' ? name : email.toLowerCase()),
      tags: [...new Set(tags.slice(0, 20))],
      ...field('createdAt', row.created_at),
      importedVotes: Math.max(0, countIn(row.vote_count) - (votes.get(id) ?? 0)),
      paths: [`/b/${board}/posts/${id}`],
    }
    yield* places.before(post, named)
  }
  let nameless = 0
  for await (const { id, post_id: post = '', voter_email: email = '', created_at: at } of rows('post_votes.csv', [
    'post_id',
  ])) {
    if (email === '') {
      nameless += 1
      continue
    }
    yield* person(email)
    yield { type: 'vote', ...field('sourceId', id), post, person: email.toLowerCase(), ...field('createdAt', at) }
  }
  let hidden = 0
  for await (const row of rows('post_comments.csv', ['id', 'post_id'])) {
    const { id = '', post_id: post = '', author_name: name = '', author_email: email = '' } = row
    if (/^(rejected|spam|pending|removed)/i.test(row.moderation_state ?? '')) hidden += 1
    else {
      yield* person(email, name)
      yield {
        type: 'comment',
        sourceId: id,
        post,
        ...field('author', email === '' ? name : email.toLowerCase()),
        ...field('parent', row.parent_id),
        text: await markdownOf(row.content ?? ''),
        ...field('createdAt', row.created_at),
        isInternal: /^(true|1|t|yes)$/i.test(row.is_private ?? ''),
      }
    }
  }
  if (nameless > 0) note(`Votes without an address are not imported: ${nameless}.`)
  if (hidden > 0) note(`Comments that were not approved are not imported: ${hidden}.`)
  const others = archive.names.filter((name) => /(?:changelog|kb|conversation)[^/]*\.csv$/i.test(name))
  if (others.length > 0) note(`Not imported: ${others.join(', ')}.`)
}

export async function* rowsOf(
  archive: Archive,
  name: string,
  needed: readonly string[],
): AsyncGenerator<Record<string, string>> {
  const found = archive.find(name)
  if (found !== undefined) yield* csvObjects(await archive.bytes(found), needed)
}
