import * as Type from 'typebox'
import { changeOf } from '../core/details.js'
import { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { addTags, removeTags, tagsOf, type PostTag } from '../db/tags.js'
import type { TagRow } from '../db/tables.js'
import { bulkOutput, changeMany, eachOnce, idsField, type Done, type Tagged } from './lib/bulk.js'
import type { Change } from './lib/change.js'
import { operation } from './lib/operation.js'
import { tagFrom, visibleTag } from './lib/postplaces.js'
import { fields, listOf } from './lib/schemas.js'
import { postItself } from './lib/whichpost.js'

/** Tags that a post can have. */
const MOST_TAGS = 20

const tagsField = (description: string) => Type.Optional(listOf({ maxItems: MOST_TAGS, description, names: 'tag' }))

export const tag = operation({
  id: 'posts.tag',
  summary: 'Add tags to up to 100 posts, and remove tags; can be undone for ten minutes',
  http: 'POST /posts/tag 200',
  access: 'post:update',
  writes: 'content',
  errors: [],
  input: fields({
    ids: idsField('Ids, slugs or numbers of the posts', 'post'),
    add: tagsField('Ids or urls of tags to add'),
    remove: tagsField('Ids or urls of tags to remove'),
  }),
  output: bulkOutput,
  run(ctx, { ids, add = [], remove = [] }) {
    if (add.length === 0 && remove.length === 0) throw nothingGiven()
    return changeMany(
      ctx,
      async (tx) => {
        // A tag that does not exist fails the whole, not each post
        const [added, removed] = [await tagsGiven(tx, 'add', add), await tagsGiven(tx, 'remove', remove)]
        return eachOnce(ids).map((given) => ({ given, added, removed }))
      },
      {
        name: ({ given }) => given,
        work: (tx, { given, added, removed }) => retag(tx, given, { added, removed }),
      },
    )
  },
})

/** Ids of tags to add and to remove. */
interface Retagging {
  added: readonly string[]
  removed: readonly string[]
}

async function tagsGiven(tx: Change, field: 'add' | 'remove', given: readonly string[]): Promise<string[]> {
  const rows: TagRow[] = []
  for (const each of eachOnce(given)) rows.push(await tagFrom(tx, each, field))
  return [...new Set(rows.map(({ tagId }) => tagId))]
}

/** Changes the tags of a post in a transaction. What it throws of the contract, it throws before it writes. */
async function retag(tx: Change, given: string, { added, removed }: Retagging): Promise<Done> {
  const { postId, number, title } = await postItself(tx, given)
  const before = await tagsOf(tx.db, [postId], true)
  const done: Done = { id: postId, kind: 'post', number, title }
  const has = (tagId: string) => before.some((each) => each.tagId === tagId)
  const fresh = added.filter((id) => !has(id) && !removed.includes(id))
  const gone = removed.filter(has)
  if (fresh.length === 0 && gone.length === 0) return done
  if (before.length + fresh.length - gone.length > MOST_TAGS) throw tooMany(number)
  await addTags(tx.db, { postId, tagIds: fresh, at: tx.now().toISOString() })
  await removeTags(tx.db, { postId, tagIds: gone })
  const after = await tagsOf(tx.db, [postId], true)
  tx.record('post.tagged', postId, title, undefined, [changeOf('tags', namesOf(before), namesOf(after))])
  return { ...done, undo: { type: 'tagged', postId, added: fresh, removed: gone } }
}

const namesOf = (tags: readonly PostTag[]): string | null => tags.map(({ name }) => name).join(', ') || null

/** Takes a change of tags back. Tags that were deleted since, and those that the actor may not see, stay as they are. */
export async function retagBack(tx: Change, { postId, added, removed }: Tagged): Promise<Done> {
  const known: string[] = []
  for (const id of [...added, ...removed]) {
    if (await visibleTag(tx, id)) known.push(id)
  }
  const among = (ids: readonly string[]) => ids.filter((id) => known.includes(id))
  const done = await retag(tx, postId, { added: among(removed), removed: among(added) })
  return { ...done, undo: done.undo && 'final' }
}

export const nothingGiven = () =>
  invalidField({
    code: 'TAGS_MISSING',
    message: 'Give tags to add or to remove.',
    field: 'add',
    rule: 'given, unless remove is',
    value: undefined,
  })

const tooMany = (number: number | null) =>
  new AppError('POST_TAG_LIMIT', `Post #${number} would have more than ${MOST_TAGS} tags. Remove some first.`)
