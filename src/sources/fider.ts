import { csvPreview, csvRows, recordsOf } from './csv.js'
import { fiderPages } from './fiderapi.js'
import { IMAGE, plainText, STATUSES, TextsAlone } from './fidertexts.js'
import { isJson } from './lib/jsonfiles.js'
import { fromArchive, type Archive } from './lib/archive.js'
import { ArchivedImages } from './lib/images.js'
import { Places } from './lib/places.js'
import { given as field, textIn, type Json } from './lib/values.js'
import type { Given, Source, SourceRecord } from './source.js'

const [DUPLICATE, DELETED] = [5, 6]

/** Its backup, the CSV of its posts, or what its API answers. */
export const fider: Source = {
  from: 'its backup.zip or posts.csv, or a folder with the JSON of its API',
  preview: async (given) => (/\.csv$/i.test(given.from) ? csvPreview(given) : undefined),
  async *read(given) {
    if (!/\.csv$/i.test(given.from)) return yield* isJson(given.from) ? fiderPages(given) : backup(given)
    const places = new Places()
    const texts = new TextsAlone()
    for await (const row of csvRows(given))
      for await (const record of recordsOf(row, places))
        yield record.type === 'post'
          ? { ...record, text: texts.plain(textIn(record.text)), paths: [`/posts/${record.sourceId}`] }
          : record
    texts.tell(given.note)
  },
}

const backup = fromArchive(records)

async function* records(archive: Archive, note: Given['note']): AsyncGenerator<SourceRecord> {
  if (archive.find('posts.json') === undefined) note('The archive has no posts.json. Is it a backup of Fider?')
  const secrets = ['email_verifications.json', 'oauth_providers.json'].filter(
    (name) => archive.find(name) !== undefined,
  )
  const users = await archive.rows('users.json')
  if (users.some(({ api_key: key }) => textIn(key) !== '')) secrets.push('API keys in users.json')
  if (secrets.length > 0) note(`The backup has secrets, which are not imported: ${secrets.join(', ')}. Keep it safe, or delete it.`) // prettier-ignore
  for (const user of users)
    yield {
      type: 'person',
      sourceId: textIn(user.id),
      ...field('name', user.name),
      ...field('email', user.email),
      ...field('createdAt', user.created_at),
      ...(textIn(user.email_supressed_at) !== '' && { isVerified: false }),
    }
  for (const { id, name, color, is_public: isPublic } of await archive.rows('tags.json'))
    yield {
      type: 'tag',
      sourceId: textIn(id),
      name: textIn(name),
      ...field('color', color),
      isPrivate: isPublic === false,
    }
  const tags = new Map<string, string[]>()
  for (const { tag_id: tag, post_id: post } of await archive.rows('post_tags.json')) tags.set(textIn(post), [...(tags.get(textIn(post)) ?? []), textIn(tag)]) // prettier-ignore
  const posts = (await archive.rows('posts.json')).filter(({ status }) => status !== DELETED)
  for (const status of new Set(posts.map((post) => Number(post.status)))) {
    const known = STATUSES[status]
    if (known) yield { type: 'status', sourceId: String(status), ...known }
  }
  const images = new ArchivedImages(archive, `${(archive.find('posts.json') ?? '').replace(/posts\.json$/, '')}blobs`)
  const attached = await attachments(archive)
  const shown = (text: string, own: readonly string[] = []) => {
    const written = plainText(text, (alt, name) => images.shown(alt, name))
    const inside = new Set(namesIn(text))
    const below = own.filter((name) => !inside.has(name)).map((name) => images.shown('', name))
    return [written.trim(), ...below.filter(Boolean)].filter(Boolean).join('\n\n')
  }
  const listed = new Set<string>()
  for (const post of posts.toSorted((a, b) => Number(a.number) - Number(b.number))) {
    listed.add(textIn(post.id))
    const path = `/posts/${textIn(post.number)}`
    const [text, own] = [textIn(post.description), attached.get(`post ${textIn(post.id)}`)]
    yield* images.records([...namesIn(text), ...(own ?? [])], post.user_id)
    yield {
      type: 'post',
      sourceId: textIn(post.id),
      title: textIn(post.title),
      text: shown(text, own),
      ...(STATUSES[Number(post.status)] && { status: textIn(post.status) }),
      ...field('author', post.user_id),
      tags: (tags.get(textIn(post.id)) ?? []).slice(0, 20),
      ...field('createdAt', post.created_at),
      paths: [path],
    }
  }
  for (const { user_id: user, post_id: post, created_at: at } of await archive.rows('post_votes.json'))
    if (listed.has(textIn(post)))
      yield { type: 'vote', post: textIn(post), person: textIn(user), ...field('createdAt', at) }
  let hidden = 0
  for (const comment of await archive.rows('comments.json')) {
    const isGone = comment.deleted_at !== null && comment.deleted_at !== undefined
    if (isGone || comment.is_approved === false) hidden += 1
    else if (listed.has(textIn(comment.post_id))) {
      const [content, own] = [textIn(comment.content), attached.get(`comment ${textIn(comment.id)}`)]
      const names = [...namesIn(content), ...(own ?? [])]
      yield* images.records(names, comment.user_id)
      // Without words, and without any of its images, it is refused and so counted
      const [lost] = names.filter((name) => name !== '')
      const text = shown(content, own).trim() || (lost === undefined ? '' : images.lost(lost))
      if (text === '') continue
      yield {
        type: 'comment',
        sourceId: textIn(comment.id),
        post: textIn(comment.post_id),
        ...field('author', comment.user_id),
        text,
        ...field('createdAt', comment.created_at),
      }
    }
  }
  for (const post of posts) {
    yield* images.records(namesIn(textIn(post.response)), post.response_user_id)
    yield* answerOf(post, shown)
  }
  for (const post of posts)
    if (post.status === DUPLICATE && listed.has(textIn(post.original_id)))
      yield { type: 'merge', post: textIn(post.id), into: textIn(post.original_id) }
  if (hidden > 0) note(`Comments that were deleted or not approved are not imported: ${hidden}.`)
  if (images.missing > 0) note(`Images that texts show, but the archive does not have: ${images.missing}.`)
  if (images.unused > 0) note(`Files that no imported text shows, such as pictures of people, are not imported: ${images.unused}.`) // prettier-ignore
}

const namesIn = (text: string): string[] =>
  Array.from(text.matchAll(IMAGE), ([, , name = '']) => name.trim()).filter(Boolean)

/** The names of attached files, by the post or comment that they belong to. */
async function attachments(archive: Archive): Promise<ReadonlyMap<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const { post_id: post, comment_id: comment, attachment_bkey: key } of await archive.rows('attachments.json')) {
    const to = textIn(comment) === '' ? `post ${textIn(post)}` : `comment ${textIn(comment)}`
    if (textIn(key) !== '') found.set(to, [...(found.get(to) ?? []), textIn(key)])
  }
  return found
}

/** What the team said about a post as it set the status. */
function answerOf(post: Json, shown: (text: string) => string): SourceRecord[] {
  const text = shown(textIn(post.response))
  if (text === '') return []
  return [
    {
      type: 'comment',
      sourceId: `response ${textIn(post.id)}`,
      post: textIn(post.id),
      ...field('author', post.response_user_id),
      text,
      ...field('createdAt', post.response_date),
      isUpdate: true,
      ...(STATUSES[Number(post.status)] && { status: textIn(post.status) }),
    },
  ]
}
