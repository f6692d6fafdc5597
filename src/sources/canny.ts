import { guessedKind } from '../core/statuskinds.js'
import { csv, csvPreview, pathIn } from './csv.js'
import { jsonValues } from './lib/jsonfiles.js'
import { linkedImage, markdownOf } from './lib/markdown.js'
import { Places, type Place } from './lib/places.js'
import { countIn, given as field, listIn, objectIn, textIn, type Json } from './lib/values.js'
import type { Given, Source, SourceRecord } from './source.js'

/** The pages of its API as they were saved, one or many to a file, or its CSV. */
export const canny: Source = {
  from: 'a folder with the JSON of its API, or its CSV',
  preview: async (given) => (/\.csv$/i.test(given.from) ? csvPreview(given) : undefined),
  async *read(given) {
    if (/\.csv$/i.test(given.from)) return yield* csv.read(given)
    yield* pages(given)
  },
}

/** The rows of one kind in all pages. */
function* rows(from: string, key: 'boards' | 'users' | 'posts' | 'votes' | 'comments' | 'entries'): Generator<Json> {
  for (const page of jsonValues(from)) yield* listIn(page[key])
}

async function* pages({ from, note }: Given): AsyncGenerator<SourceRecord> {
  const places = new Places()
  const personOf = ({ id, name, email, created }: Json) =>
    textIn(id) === '' ? [] : [{ type: 'person' as const, sourceId: textIn(id), ...field('name', name), ...field('email', email), ...field('createdAt', created) }] // prettier-ignore
  const person = (given: Json) =>
    personOf(given).flatMap(({ type, sourceId, ...fields }) => places.once(type, sourceId, fields))
  const votes = new Map<string, number>()
  for (const { post } of rows(from, 'votes')) {
    const id = textIn(objectIn(post).id)
    votes.set(id, (votes.get(id) ?? 0) + 1)
  }
  for (const { id, name, isPrivate } of rows(from, 'boards'))
    yield* places.once('board', textIn(id), { name: textIn(name), ...(isPrivate === true && { isPrivate }) })
  for (const user of rows(from, 'users')) yield* person(user)
  const seen = new Set<string>()
  const merges: SourceRecord[] = []
  for (const post of rows(from, 'posts')) {
    const [id, board, author, category] = [textIn(post.id), objectIn(post.board), objectIn(post.author), objectIn(post.category)] // prettier-ignore
    const status = textIn(post.status)
    const tags = [...listIn(post.tags), ...(textIn(category.id) === '' ? [] : [category])].slice(0, 20)
    const isOpen = status === '' || status === 'open'
    const named: Place[] = [
      ...(textIn(board.id) === '' ? [] : [{ type: 'board' as const, sourceId: textIn(board.id), name: textIn(board.name) }]), // prettier-ignore
      ...(isOpen ? [] : [{ type: 'status' as const, sourceId: status, name: status, kind: guessedKind(status) }]),
      ...tags.map((tag) => ({ type: 'tag' as const, sourceId: textIn(tag.id), name: textIn(tag.name) })),
      ...personOf(author),
    ]
    const path = pathIn(textIn(post.url) || undefined)
    seen.add(id)
    const record = {
      type: 'post' as const,
      sourceId: id,
      title: textIn(post.title),
      text: await textOf(post.details, post.imageURLs),
      ...field('board', board.id),
      ...(status !== 'open' && field('status', status)),
      ...field('author', author.id),
      tags: tags.map((tag) => textIn(tag.id)),
      ...field('createdAt', post.created),
      importedVotes: Math.max(0, countIn(post.score) - (votes.get(id) ?? 0)),
      ...(path !== undefined && { paths: [path] }),
    }
    yield* places.before(record, named)
    for (const { post: merged } of listIn(post.mergeHistory))
      merges.push({ type: 'merge', post: textIn(objectIn(merged).id), into: id })
  }
  for (const { id, post, voter, by, created } of rows(from, 'votes')) {
    const who = textIn(objectIn(voter).id) === '' ? objectIn(by) : objectIn(voter)
    if (textIn(who.id) === '') continue // of a deleted user: Canny gives no name
    yield* person(who)
    yield { type: 'vote', ...field('sourceId', id), post: textIn(objectIn(post).id), person: textIn(who.id), ...field('createdAt', created) } // prettier-ignore
  }
  const comments = [...rows(from, 'comments')].toSorted((a, b) => (textIn(a.created) < textIn(b.created) ? -1 : 1))
  for (const comment of comments) {
    const author = objectIn(comment.author)
    yield* person(author)
    const text = await textOf(comment.value, comment.imageURLs)
    if (text === '') continue
    yield {
      type: 'comment',
      sourceId: textIn(comment.id),
      post: textIn(objectIn(comment.post).id),
      ...field('author', author.id),
      ...field('parent', comment.parentID),
      text,
      ...field('createdAt', comment.created),
      isInternal: comment.internal === true || comment.private === true,
    }
  }
  // What was merged is mostly not listed any more
  for (const merge of merges) if (merge.type === 'merge' && seen.has(merge.post)) yield merge
  const [entry] = rows(from, 'entries')
  if (entry) note('Entries of the changelog are not imported.')
}

/** A text, followed by links to its images. */
async function textOf(text: unknown, images: unknown): Promise<string> {
  const urls = Array.isArray(images) ? images.map(textIn).filter(Boolean) : []
  return [(await markdownOf(textIn(text))).trim(), ...urls.map(linkedImage)].filter(Boolean).join('\n\n')
}
