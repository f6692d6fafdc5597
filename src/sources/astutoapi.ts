import { guessedKind } from '../core/statuskinds.js'
import { jsonValues } from './lib/jsonfiles.js'
import { Places, type Place } from './lib/places.js'
import { given as field, objectIn, textIn, type Json } from './lib/values.js'
import type { Given, SourceRecord } from './source.js'

const isPost = ({ approval_status: approval, post_status: status }: Json) => approval !== undefined || status !== undefined // prettier-ignore
const isComment = ({ body, post_id: post }: Json) => body !== undefined && post !== undefined
const isVote = ({ body, post_id: post }: Json) => body === undefined && post !== undefined
const isShown = ({ approval_status: approval = 'approved' }: Json) => approval === 'approved' || approval === 0

const person = ({ id, full_name: name, email, created_at: at }: Json): Place[] =>
  textIn(id) === '' ? [] : [{ type: 'person', sourceId: textIn(id), ...field('name', name), ...field('email', email), ...field('createdAt', at) }] // prettier-ignore
const board = ({ id, name, slug }: Json): Place[] =>
  textIn(id) === '' ? [] : [{ type: 'board', sourceId: textIn(id), name: textIn(name), ...field('url', slug) }]
const status = ({ id, name, color }: Json): Place[] =>
  textIn(id) === '' ? [] : [{ type: 'status', sourceId: textIn(id), name: textIn(name), kind: guessedKind(textIn(name)), ...field('color', color) }] // prettier-ignore

/** The answers of its API as they were saved, one or many to a file. The ids are those of its database. */
export async function* astutoPages({ from, note }: Given): AsyncGenerator<SourceRecord> {
  const places = new Places()
  const once = ([place]: Place[]) => {
    if (place === undefined) return []
    const { type, sourceId, ...fields } = place
    return places.once(type, sourceId, fields)
  }
  const posts: Json[] = []
  const shown = new Set<string>()
  let [hidden, comments] = [0, 0]
  for (const value of jsonValues(from)) {
    if (isPost(value)) {
      if (!isShown(value)) hidden += 1
      else if (!shown.has(textIn(value.id))) {
        posts.push(value)
        shown.add(textIn(value.id))
      }
    } else if (isComment(value) || isVote(value)) yield* once(person(objectIn(value.user)))
    else if (value.show_in_roadmap !== undefined) yield* once(status(value))
    else if (value.email !== undefined) yield* once(person(value))
    else if (value.slug !== undefined) yield* once(board(value))
  }
  for (const post of posts.toSorted((a, b) => Number(a.id) - Number(b.id))) {
    const of = { board: objectIn(post.board), status: objectIn(post.post_status), author: objectIn(post.user) }
    const record = {
      type: 'post' as const,
      sourceId: textIn(post.id),
      title: textIn(post.title),
      text: textIn(post.description),
      ...field('board', of.board.id),
      ...field('status', of.status.id),
      ...field('author', of.author.id),
      ...field('createdAt', post.created_at),
      paths: [`/posts/${textIn(post.slug) || textIn(post.id)}`],
    }
    yield* places.before(record, [...board(of.board), ...status(of.status), ...person(of.author)])
  }
  for (const value of jsonValues(from)) {
    const post = textIn(value.post_id)
    if (isPost(value) || !shown.has(post)) continue
    const author = objectIn(value.user).id
    if (isVote(value)) yield { type: 'vote', sourceId: textIn(value.id), post, person: textIn(author), ...field('createdAt', value.created_at) } // prettier-ignore
    if (!isComment(value) || textIn(value.body).trim() === '') continue
    comments += 1
    yield {
      type: 'comment',
      sourceId: textIn(value.id),
      post,
      ...field('author', author),
      text: textIn(value.body),
      ...field('createdAt', value.created_at),
      isUpdate: value.is_post_update === true,
    }
  }
  if (hidden > 0) note(`Posts that were not approved are not imported: ${hidden}.`)
  if (comments > 0) note('The API of Astuto does not say which comment answers which. Its database does.')
}
