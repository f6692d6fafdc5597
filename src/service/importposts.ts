import { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { newId, randomWord } from '../core/ids.js'
import { withoutHtml } from '../core/markdown/index.js'
import { postSlug, SLUG_ID } from '../core/slugs.js'
import { lock } from '../db/counters.js'
import {
  answeredPosts,
  commentPlaces,
  insertImportedComments,
  insertImportedPosts,
  insertImportedVotes,
  presentIds,
  takenSlugIds,
} from '../db/imports.js'
import { recordUses } from '../db/images.js'
import { writtenPost, type AwaitedImages } from './importawaited.js'
import { linkedImagesIn, type ImportedImages } from './importimages.js'
import * as merges from './merges.js'
import type { Context } from './lib/context.js'
import { idsFor, PRETENDED, pretended, referred, required, type Known } from './lib/importedrows.js'
import { oneLine, pathOf, timeOf } from './lib/importrecords.js'
import { each, idOf, unlimited, type Taken, type Wanted } from './lib/importtaken.js'
import { execute } from './lib/operation.js'
import { titleMissing } from './lib/posttitles.js'

type Row<Insert extends (db: never, rows: never, ...others: never) => unknown> =
  Parameters<Insert>[1] extends readonly (infer One)[] ? One : never

/** What an import knows while it runs. */
export interface Importing {
  known: Known
  images: ImportedImages
  awaited: AwaitedImages
  /** The board for posts that name none. */
  boardId: string | null
  /** The votes that a dry run would create, by person and post. */
  votesOfDryRun: Set<string>
}

/** A stored text and the images in it. */
interface Use {
  text: Parameters<typeof recordUses>[1]
  shown: readonly string[]
}

/** Writes new posts. Call this and the three functions below in a transaction. */
export async function importPosts(
  { known: imported, images, awaited: awaitedImages, boardId }: Importing,
  ctx: Context,
  wanted: readonly Wanted<'post'>[],
): Promise<Taken[]> {
  const some = wanted.map(({ fields }) => fields)
  const known = {
    board: await imported.present(ctx, 'board', some.map(({ board }) => board)), // prettier-ignore
    status: await imported.present(ctx, 'status', some.map(({ status }) => status)), // prettier-ignore
    tag: await imported.present(ctx, 'tag', some.flatMap(({ tags: own = [] }) => own)), // prettier-ignore
    person: await imported.present(ctx, 'person', some.map(({ author }) => author)), // prettier-ignore
  }
  const idFor = await idsFor(ctx, 'post', some.map(({ sourceId }) => sourceId)) // prettier-ignore
  const taken = await takenSlugIds(ctx.db, some.flatMap(({ slugId }) => slugId ?? [])) // prettier-ignore
  const shownIn = await images.shownIn(ctx, some.map(({ text }) => text)) // prettier-ignore
  const uses: Use[] = []
  const awaited: Parameters<AwaitedImages['remember']>[1][number][] = []
  const rows: Row<typeof insertImportedPosts>[] = []
  const paths: Parameters<typeof insertImportedPosts>[2][number][] = []
  const postTags: Parameters<typeof insertImportedPosts>[3][number][] = []
  const made: [string, string][] = []
  const done = await each(wanted, async ({ line, fields }) => {
    const withImages = shownIn(fields.text ?? '')
    const { title, text } = await writtenPost(fields, withImages.text)
    if (title === '') throw titleMissing('given')
    const createdAt = timeOf('createdAt', fields.createdAt, ctx.now().toISOString(), ctx.now())
    const slugId = fields.slugId !== undefined && !taken.has(fields.slugId) ? fields.slugId : randomWord(SLUG_ID)
    taken.add(slugId)
    const postId = ctx.dryRun ? pretended() : idFor(fields.sourceId)
    const tagIds = (fields.tags ?? []).map((tag) => referred('tags', tag, known.tag))
    rows.push({
      postId,
      title: oneLine(title),
      slug: postSlug(title, slugId),
      slugId,
      contentMarkdown: text,
      userId: referred('author', fields.author, known.person),
      boardId: fields.board ? referred('board', fields.board, known.board) : boardId,
      roadmap_id: referred('status', fields.status, known.status),
      createdAt,
      updatedAt: timeOf('updatedAt', fields.updatedAt, createdAt, ctx.now()),
      importedVotes: fields.importedVotes ?? 0,
    })
    made.push([fields.sourceId, postId])
    if (withImages.missing.length > 0) awaited.push({ record: { type: 'post', fields }, id: postId })
    paths.push(...(fields.paths ?? []).map((path) => ({ path: pathOf(path), postId })))
    postTags.push(...tagIds.flatMap((tagId) => (tagId === null ? [] : [{ postId, tagId, createdAt }])))
    if (withImages.imageIds.length > 0) uses.push({ text: { postId, markdown: text }, shown: withImages.imageIds })
    return { line, outcome: 'created', links: linkedImagesIn(text ?? ''), missing: withImages.missing }
  })
  if (!ctx.dryRun) {
    await lock(ctx.db, 'post_counts')
    await insertImportedPosts(ctx.db, rows, paths, postTags)
    for (const { text, shown } of uses) await recordUses(ctx.db, text, shown, { isNew: true })
  }
  await imported.remember(ctx, 'post', made)
  await awaitedImages.remember(ctx, awaited)
  return done
}

/** Writes votes. A vote that the person has cast here already counts as matched. */
export async function importVotes(
  { known: imported, votesOfDryRun }: Importing,
  ctx: Context,
  wanted: readonly Wanted<'vote'>[],
): Promise<Taken[]> {
  const known = {
    post: await imported.rows(ctx, 'post', wanted.map(({ fields: { post } }) => post)), // prettier-ignore
    person: await imported.present(ctx, 'person', wanted.map(({ fields: { person } }) => person)), // prettier-ignore
  }
  const there = await presentIds(ctx.db, 'post', [...known.post.values()])
  const rows: (Row<typeof insertImportedVotes> & { line: number; sourceId: string })[] = []
  const taken = await each(wanted, ({ line, fields }): Taken => {
    const postId = required('post', fields.post, known.post)
    const userId = required('person', fields.person, known.person)
    if (!there.has(postId) && !postId.startsWith(PRETENDED)) return { line, outcome: 'existing' } // deleted with its post
    const createdAt = timeOf('createdAt', fields.createdAt, ctx.now().toISOString(), ctx.now())
    rows.push({ line, sourceId: idOf({ type: 'vote', fields }), voteId: newId(), userId, postId, createdAt })
    return { line, outcome: 'created' }
  })
  const created = ctx.dryRun
    ? firstOf(votesOfDryRun, rows)
    : await insertImportedVotes(ctx.db, rows.map(({ voteId, userId, postId, createdAt }) => ({ voteId, userId, postId, createdAt }))) // prettier-ignore
  await imported.remember(ctx, 'vote', rows.map(({ sourceId, voteId }) => [sourceId, voteId])) // prettier-ignore
  const matched = new Set(rows.filter(({ voteId }) => !created.has(voteId)).map(({ line }) => line))
  return taken.map((one) => (matched.has(one.line) ? { ...one, outcome: 'matched' } : one))
}

/** The first vote of each person for each post. The database takes no second one. */
function firstOf(seen: Set<string>, rows: readonly { voteId: string; userId: string; postId: string }[]): Set<string> {
  const first = rows.filter(({ userId, postId }) => {
    const before = seen.size
    return seen.add(`${userId} ${postId}`).size > before
  })
  return new Set(first.map(({ voteId }) => voteId))
}

/** Writes comments. A comment on a post that was deleted since an earlier import counts as existing. */
export async function importComments(
  { known: imported, images, awaited: awaitedImages }: Importing,
  ctx: Context,
  wanted: readonly Wanted<'comment'>[],
): Promise<Taken[]> {
  const some = wanted.map(({ fields }) => fields)
  const known = {
    post: await imported.rows(ctx, 'post', some.map(({ post }) => post)), // prettier-ignore
    person: await imported.present(ctx, 'person', some.map(({ author }) => author)), // prettier-ignore
    status: await imported.present(ctx, 'status', some.map(({ status }) => status)), // prettier-ignore
    parent: await imported.rows(ctx, 'comment', some.map(({ parent }) => parent)), // prettier-ignore
  }
  const posts = await presentIds(ctx.db, 'post', [...known.post.values()])
  if (!ctx.dryRun && some.some(({ isAnswer }) => isAnswer)) await lock(ctx.db, 'post_counts') // as the service marks answers
  const answered = await answeredPosts(ctx.db, some.some(({ isAnswer }) => isAnswer) ? [...posts] : [])
  const places = await commentPlaces(ctx.db, [...known.parent.values()])
  const idFor = await idsFor(ctx, 'comment', some.map(({ sourceId }) => sourceId)) // prettier-ignore
  const shownIn = await images.shownIn(ctx, some.map(({ text }) => text)) // prettier-ignore
  const uses: Use[] = []
  const awaited: Parameters<AwaitedImages['remember']>[1][number][] = []
  const rows: Row<typeof insertImportedComments>[] = []
  const made: [string, string][] = []
  const taken = await each(wanted, async ({ line, fields }): Promise<Taken> => {
    const postId = required('post', fields.post, known.post)
    if (!posts.has(postId) && !postId.startsWith(PRETENDED)) return { line, outcome: 'existing' }
    const parentId = fields.parent ? required('parent', fields.parent, known.parent) : null
    const parent = parentId === null ? undefined : places.get(parentId)
    const isReply = parent?.postId === postId // the parent may be deleted since an earlier import
    const isInternal = (fields.isInternal ?? false) || (isReply && parent.isInternal)
    const createdAt = timeOf('createdAt', fields.createdAt, ctx.now().toISOString(), ctx.now())
    const id = ctx.dryRun ? pretended() : idFor(fields.sourceId)
    const withImages = shownIn(fields.text)
    const isBlank = withImages.text.trim() === ''
    if (isBlank && withImages.missing.length > 0)
      return { line, outcome: 'failed', error: onlyMissingImages(), missing: withImages.missing }
    // A comment whose only image is refused stays, so that replies to it have a parent
    const body = isBlank ? REFUSED_IMAGE : (await withoutHtml(withImages.text)).trim()
    const isAnswer = fields.isAnswer === true && !answered.has(postId) // a post has one
    if (isAnswer && !isInternal) answered.add(postId)
    rows.push({
      id,
      post_id: postId,
      parent_id: isReply ? parentId : null,
      author_id: referred('author', fields.author, known.person),
      body,
      is_internal: isInternal ? 1 : 0,
      official: isInternal ? null : fields.isUpdate ? 'update' : isAnswer ? 'answer' : null,
      roadmap_id: referred('status', fields.status, known.status),
      created_at: createdAt,
      updated_at: createdAt,
    })
    made.push([fields.sourceId, id])
    if (withImages.missing.length > 0) awaited.push({ record: { type: 'comment', fields }, id })
    known.parent.set(fields.sourceId, id)
    places.set(id, { postId, isInternal })
    if (withImages.imageIds.length > 0)
      uses.push({ text: { commentId: id, markdown: body }, shown: withImages.imageIds })
    return { line, outcome: 'created', links: linkedImagesIn(body), missing: withImages.missing }
  })
  if (!ctx.dryRun) {
    await insertImportedComments(ctx.db, rows)
    for (const { text, shown } of uses) await recordUses(ctx.db, text, shown, { isNew: true })
  }
  await imported.remember(ctx, 'comment', made)
  await awaitedImages.remember(ctx, awaited)
  return taken
}

/** Merges posts, and tells nobody. */
export async function importMerges(
  { known: imported }: Importing,
  ctx: Context,
  wanted: readonly Wanted<'merge'>[],
): Promise<Taken[]> {
  const posts = await imported.rows(ctx, 'post', wanted.flatMap(({ fields: { post, into } }) => [post, into])) // prettier-ignore
  return each(wanted, async ({ line, fields }) => {
    const post = required('post', fields.post, posts)
    const into = required('into', fields.into, posts)
    if (!ctx.dryRun) {
      const { outcomes } = await execute(merges.merge, unlimited(ctx), { ids: [post], into, quiet: true })
      const error = outcomes.find((outcome) => outcome.error)?.error
      if (error) throw new AppError('BAD_REQUEST', error.message)
    }
    await imported.remember(ctx, 'merge', [[fields.post, post]])
    return { line, outcome: 'created' }
  })
}
/** The text of a comment whose only content was an image that is refused. */
const REFUSED_IMAGE = '🖼️'

const onlyMissingImages = () =>
  invalidField({
    code: 'INVALID_VALUE',
    message: 'The comment has nothing but images, and the import does not have them.',
    field: 'text',
    rule: 'words, or an image that the import has',
  })
