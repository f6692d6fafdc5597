import { statusNamed, TextsAlone } from './fidertexts.js'
import { jsonFiles } from './lib/jsonfiles.js'
import { Places } from './lib/places.js'
import { countIn, given as field, listIn, objectIn, textIn, type Json } from './lib/values.js'
import type { Given, SourceRecord } from './source.js'

/** Its answers do not say which post they are of: the name of the file does. */
const OF_POST = /^(votes|comments)\D*(\d+)/i

interface Saved {
  posts: Json[]
  tags: Map<string, Json>
  people: Map<string, Json>
  votes: Map<string, Json[]>
  comments: Map<string, Json[]>
}

/** The answers of its API as they were saved, one or many to a file. The ids are those of its backup. */
export async function* fiderPages({ from, note }: Given): AsyncGenerator<SourceRecord> {
  const { posts, tags, people, votes, comments } = savedIn(from)
  for (const [id, person] of people)
    yield { type: 'person', sourceId: id, ...field('name', person.name), ...field('email', person.email) }
  const places = new Places()
  const texts = new TextsAlone()
  const ids = new Map(posts.map((post) => [textIn(post.number), textIn(post.id)]))
  const lacking: string[] = []
  for (const post of posts.toSorted((a, b) => Number(a.number) - Number(b.number))) {
    const number = textIn(post.number)
    const status = statusNamed(textIn(post.status))
    if (status) yield* places.once('status', String(status.number), { name: status.name, kind: status.kind })
    const own = (Array.isArray(post.tags) ? post.tags : []).map((slug) => {
      const tag = tags.get(textIn(slug)) ?? { id: slug, name: slug }
      return { ...tag, id: textIn(tag.id) }
    })
    for (const { id, ...tag } of own as Json[]) yield* places.once('tag', textIn(id), tagOf(tag))
    const voters = votes.get(number) ?? []
    if (countIn(post.commentsCount) > (comments.get(number) ?? []).length) lacking.push(`#${number}`)
    yield {
      type: 'post',
      sourceId: textIn(post.id),
      title: textIn(post.title),
      text: texts.plain(textIn(post.description)),
      ...(status && { status: String(status.number) }),
      ...field('author', objectIn(post.user).id),
      tags: own.map(({ id }) => id).slice(0, 20),
      ...field('createdAt', post.createdAt),
      importedVotes: Math.max(0, countIn(post.votesCount) - voters.length),
      paths: [`/posts/${number}`],
    }
  }
  const listed = (rows: ReadonlyMap<string, Json[]>) =>
    [...rows].flatMap(([number, some]) => some.flatMap((row) => (ids.has(number) ? [{ row, post: ids.get(number) ?? '' }] : []))) // prettier-ignore
  for (const { row, post } of listed(votes))
    yield { type: 'vote', post, person: textIn(objectIn(row.user).id), ...field('createdAt', row.createdAt) }
  for (const { row, post } of listed(comments))
    if (textIn(row.content).trim() !== '' && row.isApproved !== false)
      yield {
        type: 'comment',
        sourceId: textIn(row.id),
        post,
        ...field('author', objectIn(row.user).id),
        text: texts.plain(textIn(row.content)),
        ...field('createdAt', row.createdAt),
      }
  for (const post of posts) yield* answerTo(post, texts)
  for (const post of posts) {
    const into = ids.get(textIn(objectIn(objectIn(post.response).original).number))
    if (into !== undefined) yield { type: 'merge', post: textIn(post.id), into }
  }
  texts.tell(note)
  if (lacking.length > 0) note(`The files do not have all comments of ${lacking.slice(0, 20).join(', ')}${lacking.length > 20 ? ` and ${lacking.length - 20} more` : ''}. Save them as comments-NUMBER.json.`) // prettier-ignore
}

const tagOf = ({ name, color, isPublic }: Json) => ({
  name: textIn(name),
  ...field('color', color),
  isPrivate: isPublic === false,
})

function savedIn(from: string): Saved {
  const saved: Saved = { posts: [], tags: new Map(), people: new Map(), votes: new Map(), comments: new Map() }
  const meet = (user: Json) => {
    const id = textIn(user.id)
    if (id === '') return
    const known = saved.people.get(id) ?? {}
    // Only votes and the list of people have addresses, and only for its team
    saved.people.set(id, { ...field('name', known.name), ...field('email', known.email), ...field('name', user.name), ...field('email', user.email) }) // prettier-ignore
  }
  for (const { name, values } of jsonFiles(from)) {
    const [, kind, number = ''] = OF_POST.exec(name) ?? []
    for (const value of values) {
      if (kind !== undefined) {
        const rows = kind.toLowerCase() === 'votes' ? saved.votes : saved.comments
        rows.set(number, [...(rows.get(number) ?? []), value])
        meet(objectIn(value.user))
      } else if (value.title !== undefined && value.number !== undefined) {
        if (value.status !== 'deleted') saved.posts.push(value)
        meet(objectIn(value.user))
        meet(objectIn(objectIn(value.response).user))
      } else if (value.slug !== undefined && value.color !== undefined) saved.tags.set(textIn(value.slug), value)
      else if (value.role !== undefined || value.email !== undefined) meet(value)
      else for (const user of listIn(value.users)) meet(user)
    }
  }
  return saved
}

/** What the team said about a post as it set the status. */
function answerTo({ id, status, response }: Json, texts: TextsAlone): SourceRecord[] {
  const { text, user, respondedAt } = objectIn(response)
  if (textIn(text).trim() === '') return []
  const known = statusNamed(textIn(status))
  return [
    {
      type: 'comment',
      sourceId: `response ${textIn(id)}`,
      post: textIn(id),
      ...field('author', objectIn(user).id),
      text: texts.plain(textIn(text)),
      ...field('createdAt', respondedAt),
      isUpdate: true,
      ...(known && { status: String(known.number) }),
    },
  ]
}
