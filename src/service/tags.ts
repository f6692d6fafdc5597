import * as Type from 'typebox'
import { changeOf, changesOf, type Recorded } from '../core/details.js'
import { AppError } from '../core/errors.js'
import { newId } from '../core/ids.js'
import { searchKey } from '../core/text.js'
import { stateBefore } from '../db/details.js'
import {
  countTagged,
  countTags,
  deleteTag,
  findTag,
  insertTag,
  listTags,
  lockTags,
  mergeTag,
  MOST_COUNTED,
  tagColors,
  tagsAfter,
  updateTag,
  type TagFilter,
} from '../db/tags.js'
import type { TagRow } from '../db/tables.js'
import { can, type Gated } from './lib/access.js'
import { eachOnce } from './lib/bulk.js'
import { change } from './lib/change.js'
import type { CachedContext } from './lib/context.js'
import { named } from './lib/named.js'
import { operation } from './lib/operation.js'
import { pageFields, pageKeys, pageOf, type Listing } from './lib/paging.js'
import { policy, runs } from './lib/policies.js'
import { fields, inPath, listOf } from './lib/schemas.js'
import { periodFields, periodFrom } from './lib/times.js'
import { assertVersion, ifVersion, versionField, versionOf } from './lib/versions.js'

const tagPolicy = policy({
  update: runs((): Gated => update),
  delete: runs((): Gated => remove),
  merge: runs((): Gated => merge),
})

export const Tag = Type.Object({
  tagId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  url: Type.String({ description: 'Slug, unique on the site' }),
  color: Type.String({ description: 'Six hexadecimal digits' }),
  display: Type.Boolean({ description: 'Shown to everyone; otherwise only with dashboard:read' }),
  createdAt: Type.String({ format: 'date-time' }),
  may: tagPolicy.field,
  post_count: Type.Optional(
    Type.Integer({
      description: `Posts with this tag that you may see, counted up to ${MOST_COUNTED}; absent with counts=false`,
    }),
  ),
  is_capped: Type.Optional(
    Type.Boolean({ description: `true if more than ${MOST_COUNTED} posts have the tag; otherwise absent` }),
  ),
})
export type Tag = Type.Static<typeof Tag>

const noun = named<TagRow>({
  noun: 'tag',
  id: 'tagId',
  createdAt: 'createdAt',
  find: findTag,
  routes: (): { http: string }[] => [merge],
})
const { name, url, color, partial, visibility } = noun.fields
const display = { ...noun.fields.display, description: 'Shown to everyone, not only with dashboard:read' }
/** Tags of a site. Lists read all of them. */
const MOST_OF_SITE = 1000
const TAGS: Listing<TagRow> = { row: 'tag', rows: 'Tags', id: 'tagId', size: 20 }
const tagId = Type.String({ description: 'Id or url of the tag', names: 'tag' })

export const list = operation({
  id: 'tags.list',
  summary: 'List tags by name',
  http: 'GET /tags 200',
  access: 'public',
  cache: 'actor',
  errors: [],
  input: fields({
    ...pageFields(TAGS),
    visibility,
    query: Type.Optional(
      Type.String({ maxLength: 500, description: 'Only tags whose name starts with this text, in any letter case' }),
    ),
    counts: Type.Optional(Type.Boolean({ default: true, description: 'Count the posts of each tag' })),
    ...periodFields('tags created'),
  }),
  output: Type.Object({ tags: Type.Array(Tag), ...pageKeys }),
  async run(ctx, { visibility: asked, query = '', since, until, counts = true, ...page }) {
    const { db, actor } = ctx
    const filter: TagFilter = {
      visibility: can(actor, 'dashboard:read') ? asked : ['public'],
      prefix: query.trim() === '' ? undefined : searchKey(query.trim()),
      ...periodFrom({ since, until }),
    }
    const { rows: tags, keys } = await pageOf(TAGS, page, {
      total: await countTags(db, filter),
      find: (after) => noun.atCursor(db, filter, after),
      countAfter: (cursor) => tagsAfter(db, filter, cursor),
      read: (slice) => listTags(db, filter, slice),
      show: (rows) => toTags(ctx, rows, counts),
    })
    return { tags, ...keys }
  },
})

export const show = operation({
  id: 'tags.show',
  summary: 'Show a tag',
  http: 'GET /tags/:url 200',
  access: 'public',
  cache: 'actor',
  errors: ['TAG_NOT_FOUND'],
  input: fields({ url: inPath('Url or id of the tag', 'tag') }),
  output: Type.Object({ tag: Tag, version: versionField }),
  async run(ctx, input) {
    const row = await noun.readable(ctx, input.url)
    return { tag: await toTag(ctx, row), version: versionOf(changeable(row)) }
  },
})

export const create = operation({
  id: 'tags.create',
  summary: 'Create a tag',
  http: 'POST /tags 201',
  access: 'post:update',
  errors: ['TAG_URL_EXISTS', 'TAG_LIMIT'],
  input: fields({
    name,
    color: Type.Optional({ ...color, description: 'Six hexadecimal digits (default: the next of a readable palette)' }),
    url: Type.Optional({ ...url, description: 'Slug in the address (default: derived from the name)' }),
    display: Type.Optional({ ...display, default: true }),
  }),
  output: Type.Object({ tag: Tag }),
  async run(ctx, input) {
    const now = ctx.now().toISOString()
    const slug = await noun.slugOfNew(input)
    return change(ctx, async (tx) => {
      const others = await tagColors(tx.db)
      if (others.length >= MOST_OF_SITE) throw tooMany()
      const columns = noun.columns(input, others)
      const row = { tagId: newId(), ...columns, createdAt: now, updatedAt: now }
      const tag = await noun.insert(tx, slug, input, (free) => insertTag(tx.db, { ...row, url: free }))
      tx.record('tag.created', tag.tagId, tag.name)
      return { tag: await toTag(tx, tag) }
    })
  },
})

export const update = operation({
  id: 'tags.update',
  summary: 'Change a tag',
  http: 'PATCH /tags 200',
  access: 'post:update',
  errors: ['TAG_ID_OR_URL_MISSING', 'TAG_NOT_FOUND', 'TAG_URL_EXISTS', 'CONTENT_CHANGED'],
  input: fields({
    tagId,
    name: Type.Optional(name),
    url: Type.Optional(url),
    color: Type.Optional(color),
    display: Type.Optional(display),
    partial,
    ifVersion,
  }),
  output: Type.Object({ tag: Tag }),
  subject: noun.subject,
  async run(ctx, input, subject) {
    const slug = await noun.slugOfChanged(input, subject)
    return change(ctx, async (tx) => {
      const before = await stateBefore(tx.db, 'tag', subject.tagId)
      if (before) assertVersion(input.ifVersion, changeable(before))
      const outcome = await updateTag(tx.db, subject.tagId, {
        ...noun.changes(input, slug),
        updatedAt: ctx.now().toISOString(),
      })
      const tag = await noun.updated(tx, slug, input.tagId, outcome)
      tx.record('tag.updated', tag.tagId, tag.name, undefined, before && changesOf('tag', before, tag))
      return { tag: await toTag(tx, tag) }
    })
  },
})

const tooMany = () => new AppError('TAG_LIMIT', `A site has at most ${MOST_OF_SITE} tags. Merge or delete some first.`)

/** What `update` sets. */
const changeable = (row: Recorded<'tag'>) => [row.name, row.url, row.color, row.display]

export const remove = operation({
  id: 'tags.delete',
  summary: 'Delete a tag; its posts stay, without it',
  http: 'DELETE /tags 204',
  access: 'post:update',
  errors: ['TAG_ID_OR_URL_MISSING', 'TAG_NOT_FOUND'],
  input: fields({ tagId }),
  output: Type.Undefined(),
  subject: noun.subject,
  run: (ctx, input, subject) =>
    change(ctx, async ({ db, record }) => {
      if (!(await deleteTag(db, subject.tagId))) throw noun.notFound(input.tagId)
      record('tag.deleted', subject.tagId, subject.name)
      return undefined
    }),
})

/** Tags that one request may merge. */
const MOST_MERGED = 20

export const merge = operation({
  id: 'tags.merge',
  summary: `Merge up to ${MOST_MERGED} tags into another: their posts get it, and they are deleted; cannot be undone`,
  http: 'POST /tags/merge 200',
  access: 'post:update',
  errors: ['TAG_NOT_FOUND', 'MERGE_REFUSED'],
  input: fields({
    ids: listOf({ minItems: 1, maxItems: MOST_MERGED, description: 'Ids or urls of the tags to merge', names: 'tag' }),
    into: Type.String({
      minLength: 1,
      description: 'Id or url of the tag that stays',
      names: 'tag',
      codes: { minLength: 'TAG_ID_OR_URL_MISSING' },
    }),
  }),
  output: Type.Object({ tag: Tag }),
  run: (ctx, { ids, into }) =>
    change(ctx, async (tx) => {
      const given = [into, ...eachOnce(ids)]
      const found = await Promise.all(given.map((each) => noun.readable(tx, each)))
      await lockTags(tx.db, found.map(({ tagId: id }) => id)) // prettier-ignore
      // They may have been changed or deleted since the first look-up
      const target = await noun.readable(tx, into)
      const merged = new Map<string, TagRow>()
      for (const each of eachOnce(ids)) {
        const tag = await noun.readable(tx, each)
        assertMergeable(tag, target)
        merged.set(tag.tagId, tag)
      }
      for (const tag of merged.values()) {
        await mergeTag(tx.db, { tagId: tag.tagId, intoId: target.tagId })
        tx.record('tag.merged', tag.tagId, tag.name, undefined, [changeOf('merged_into', null, target.name)])
      }
      return { tag: await toTag(tx, target) }
    }),
})

function assertMergeable(tag: TagRow, target: TagRow): void {
  if (tag.tagId === target.tagId)
    throw new AppError('MERGE_REFUSED', `The tag "${tag.name}" cannot be merged into itself.`)
  if (tag.display === 0 && target.display === 1)
    throw new AppError(
      'MERGE_REFUSED',
      `The tag "${tag.name}" is private, and "${target.name}" is public: everybody would see which posts had it. Make it public first, if that is what you want.`,
    )
}

async function toTags(ctx: CachedContext, rows: readonly TagRow[], isCounted = true): Promise<Tag[]> {
  const ids = rows.map(({ tagId: id }) => id)
  const counts = isCounted ? await countTagged(ctx.db, ids, can(ctx.actor, 'board:read')) : undefined
  return rows.map((row) => ({
    tagId: row.tagId,
    name: row.name,
    url: row.url,
    color: row.color,
    display: row.display === 1,
    createdAt: row.createdAt,
    may: tagPolicy.may(ctx.actor, row),
    ...(counts && countOf(counts.get(row.tagId) ?? 0)),
  }))
}

const countOf = (count: number) => ({
  post_count: Math.min(count, MOST_COUNTED),
  ...(count > MOST_COUNTED && { is_capped: true }),
})

async function toTag(ctx: CachedContext, row: TagRow): Promise<Tag> {
  const [tag] = await toTags(ctx, [row])
  if (!tag) throw new Error('A tag was not shown.')
  return tag
}
