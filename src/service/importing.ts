import { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { newId, randomWord } from '../core/ids.js'
import type { ImportedKind } from '../core/importedkinds.js'
import { LENGTHS } from '../core/lengths.js'
import { withoutHtml } from '../core/markdown/index.js'
import { NO_ADDRESS } from '../core/placeholders.js'
import { postSlug, SLUG_ID } from '../core/slugs.js'
import { searchKey } from '../core/text.js'
import { lock } from '../db/counters.js'
import {
  answeredPosts,
  commentPlaces,
  insertImportedComments,
  insertImportedPosts,
  insertImportedVotes,
  placeNamed,
  presentIds,
  takenSlugIds,
  usersByEmail,
} from '../db/imports.js'
import { recordUses } from '../db/images.js'
import { AwaitedImages, writtenPost } from './importawaited.js'
import { ImportedImages, assertBase64, linkedImagesIn } from './importimages.js'
import { createPlace } from './importplaces.js'
import * as merges from './merges.js'
import { isBcryptHash } from './lib/bcrypt.js'
import type { Context } from './lib/context.js'
import { idsFor, Known, PRETENDED, pretended, referred, required } from './lib/importedrows.js'
import {
  oneLine,
  pathOf,
  shortened,
  timeOf,
  type Fields,
  type ImportRecord,
  type Outcome,
  type RecordType,
} from './lib/importrecords.js'
import { execute } from './lib/operation.js'
import { assertEmail, insertPeople, newUser } from './lib/people.js'
import { titleMissing } from './lib/posttitles.js'

export interface Given {
  line: number
  record: ImportRecord
}

export interface Taken {
  line: number
  outcome: Outcome
  error?: AppError
  /** Whether the hash of the password was imported, if an account was created and a hash was given. */
  password?: 'kept' | 'leftOut'
  /** Addresses of images on other hosts in its text. */
  links?: readonly string[]
  /** Names of images that its text shows, but that did not come. */
  missing?: readonly string[]
}

type Row<Insert extends (db: never, rows: never, ...others: never) => unknown> =
  Parameters<Insert>[1] extends readonly (infer One)[] ? One : never

interface Options {
  source: string
  /** Whether the addresses of people count as confirmed, so that they can be mailed. */
  confirmed: boolean
  /** The board of posts that have none. */
  boardId: string | null
}

/** What of a record is still to be written. */
interface Wanted<T extends RecordType> {
  line: number
  fields: Fields<T>
}

/** A stored text and the images in it. */
interface Use {
  text: Parameters<typeof recordUses>[1]
  shown: readonly string[]
}

type Kinds = { [T in RecordType]: ImportedKind }
const KIND: Kinds = { board: 'board', status: 'status', tag: 'tag', person: 'person', image: 'image', post: 'post', vote: 'vote', comment: 'comment', merge: 'merge' } // prettier-ignore

/** Writes what another product had. It tells nobody, and it counts for no limit. */
export class Importer {
  readonly #known: Known
  readonly #options: Options
  readonly #images: ImportedImages
  readonly #awaited: AwaitedImages
  /** What a dry run would create, by type and name. */
  readonly #pretendedPlaces = new Map<string, string>()
  readonly #pretendedVotes = new Set<string>()

  constructor(options: Options) {
    this.#options = options
    this.#known = new Known(options.source)
    this.#images = new ImportedImages(this.#known)
    this.#awaited = new AwaitedImages(this.#known, this.#images)
  }

  /** Decodes the images among records, which is slow. Call it before `take`, outside the transaction. */
  async prepare(ctx: Context, given: readonly Given[], mayGoOn: () => Promise<void>): Promise<void> {
    const images = given.flatMap(({ record }) => (record.type === 'image' ? [record.fields] : []))
    if (images.length > 0) await this.#images.prepare(ctx, images, mayGoOn)
  }

  /** Writes records of one type. Call it in a transaction. Throws if none of them can be written. */
  async take(ctx: Context, given: readonly Given[]): Promise<Taken[]> {
    const [first] = given
    if (!first) return []
    const { type } = first.record
    const kind = KIND[type]
    const ids = given.map(({ record }) => idOf(record))
    const before = await (type === 'image' ? this.#images.present(ctx, ids) : this.#known.rows(ctx, kind, ids))
    const taken = new Map<number, Taken>()
    const wanted: Given[] = []
    const seen = new Set<string>()
    for (const each of given) {
      const id = idOf(each.record)
      if (before.has(id) || seen.has(id)) taken.set(each.line, { line: each.line, outcome: 'existing' })
      else wanted.push(each)
      seen.add(id)
    }
    await this.#awaited.show(ctx, given.flatMap(({ record }) => (before.has(idOf(record)) ? [record] : []))) // prettier-ignore
    if (wanted.length > 0) for (const each of await this.#write(ctx, wanted)) taken.set(each.line, each)
    return given.flatMap(({ line }) => taken.get(line) ?? [])
  }

  #write(ctx: Context, wanted: readonly Given[]): Promise<Taken[]> {
    const of = <T extends RecordType>(type: T): Wanted<T>[] =>
      wanted.flatMap(({ line, record }) => (record.type === type ? [{ line, fields: record.fields as Fields<T> }] : []))
    switch (wanted[0]?.record.type) {
      case 'board':
      case 'status':
      case 'tag':
        return this.#places(ctx, wanted)
      case 'person':
        return this.#people(ctx, of('person'))
      case 'image':
        return this.#pictures(ctx, of('image'))
      case 'post':
        return this.#posts(ctx, of('post'))
      case 'vote':
        return this.#votes(ctx, of('vote'))
      case 'comment':
        return this.#comments(ctx, of('comment'))
      case 'merge':
        return this.#merges(ctx, of('merge'))
      default:
        return Promise.resolve([])
    }
  }

  /** The boards of the site by what the source calls them, also deleted ones. Those of a dry run begin with PRETENDED. */
  async boards(ctx: Context, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    for (let at = 0; at < ids.length; at += MOST_IDS)
      for (const [id, row] of await this.#known.rows(ctx, 'board', ids.slice(at, at + MOST_IDS))) found.set(id, row)
    return found
  }

  /** Boards, roadmaps and tags, of which a site has few. One with the same name is the same. */
  #places(ctx: Context, wanted: readonly Given[]): Promise<Taken[]> {
    return each(wanted, async ({ line, record }) => {
      if (record.type !== 'board' && record.type !== 'status' && record.type !== 'tag')
        return { line, outcome: 'failed' }
      const { type, fields } = record
      const name = shortened(fields.name, LENGTHS.placeName)
      const key = `${type} ${searchKey(name)}`
      const there = (await placeNamed(ctx.db, type, searchKey(name))) ?? this.#pretendedPlaces.get(key)
      const id = there ?? (ctx.dryRun ? pretended() : await createPlace(unlimited(ctx), record, name))
      if (ctx.dryRun) this.#pretendedPlaces.set(key, id)
      await this.#known.remember(ctx, type, [[fields.sourceId, id]])
      return { line, outcome: there === undefined ? 'created' : 'matched' }
    })
  }

  async #people(ctx: Context, wanted: readonly Wanted<'person'>[]): Promise<Taken[]> {
    const addressOf = ({ email }: Fields<'person'>) => (email ? assertEmail(email) : undefined)
    const known = await usersByEmail(ctx.db, wanted.flatMap(({ fields: { email } }) => email?.toLowerCase() ?? [])) // prettier-ignore
    const idFor = await idsFor(ctx, 'person', wanted.map(({ fields: { sourceId } }) => sourceId)) // prettier-ignore
    const rows: Parameters<typeof insertPeople>[1][number][] = []
    const made: [string, string][] = []
    const taken = await each(wanted, ({ line, fields }): Taken => {
      const email = addressOf(fields)
      const there = email === undefined ? undefined : known.get(email)
      const id = there ?? (ctx.dryRun ? pretended() : idFor(fields.sourceId))
      if (there === undefined) rows.push(this.#person(ctx, fields, { userId: id, email }))
      if (email !== undefined) known.set(email, id)
      made.push([fields.sourceId, id])
      if (there !== undefined) return { line, outcome: 'matched' } // with its own password, if it has one
      const { passwordHash } = fields
      return {
        line,
        outcome: 'created',
        ...(passwordHash && { password: isBcryptHash(passwordHash) ? 'kept' : 'leftOut' }),
      }
    })
    if (!ctx.dryRun) await insertPeople(ctx.db, rows)
    await this.#known.remember(ctx, 'person', made)
    return taken
  }

  #person(
    ctx: Context,
    { name, isVerified, isBlocked, passwordHash, createdAt }: Fields<'person'>,
    { userId, email }: { userId: string; email: string | undefined },
  ): Parameters<typeof insertPeople>[1][number] {
    const person = newUser(ctx.now(), {
      // Nobody signs in by it, and nothing is mailed
      email: email ?? `${randomWord(20)}@${NO_ADDRESS}`,
      name: shortened(name ?? '', LENGTHS.name),
      password: null,
    })
    const at = timeOf('createdAt', createdAt, person.createdAt, ctx.now())
    const verified = email !== undefined && (isVerified ?? this.#options.confirmed)
    return {
      ...person,
      password: passwordHash && isBcryptHash(passwordHash) ? passwordHash : null,
      userId,
      createdAt: at,
      updatedAt: at,
      isVerified: verified ? 1 : 0,
      isBlocked: isBlocked ? 1 : 0,
    }
  }

  async #pictures(ctx: Context, wanted: readonly Wanted<'image'>[]): Promise<Taken[]> {
    const people = await this.#known.present(ctx, 'person', wanted.map(({ fields: { author } }) => author)) // prettier-ignore
    const made: [string, string][] = []
    const taken = await each(wanted, async ({ line, fields: { sourceId, data, author } }): Promise<Taken> => {
      assertBase64(data)
      const userId = referred('author', author, people)
      made.push([sourceId, await this.#images.store(ctx, sourceId, userId)])
      return { line, outcome: 'created' }
    })
    await this.#known.forget(ctx, 'image', made)
    await this.#known.remember(ctx, 'image', made)
    return taken
  }

  async #posts(ctx: Context, wanted: readonly Wanted<'post'>[]): Promise<Taken[]> {
    const some = wanted.map(({ fields }) => fields)
    const known = {
      board: await this.#known.present(ctx, 'board', some.map(({ board }) => board)), // prettier-ignore
      status: await this.#known.present(ctx, 'status', some.map(({ status }) => status)), // prettier-ignore
      tag: await this.#known.present(ctx, 'tag', some.flatMap(({ tags: own = [] }) => own)), // prettier-ignore
      person: await this.#known.present(ctx, 'person', some.map(({ author }) => author)), // prettier-ignore
    }
    const idFor = await idsFor(ctx, 'post', some.map(({ sourceId }) => sourceId)) // prettier-ignore
    const taken = await takenSlugIds(ctx.db, some.flatMap(({ slugId }) => slugId ?? [])) // prettier-ignore
    const shownIn = await this.#images.shownIn(ctx, some.map(({ text }) => text)) // prettier-ignore
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
        boardId: fields.board ? referred('board', fields.board, known.board) : this.#options.boardId,
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
    await this.#known.remember(ctx, 'post', made)
    await this.#awaited.remember(ctx, awaited)
    return done
  }

  async #votes(ctx: Context, wanted: readonly Wanted<'vote'>[]): Promise<Taken[]> {
    const known = {
      post: await this.#known.rows(ctx, 'post', wanted.map(({ fields: { post } }) => post)), // prettier-ignore
      person: await this.#known.present(ctx, 'person', wanted.map(({ fields: { person } }) => person)), // prettier-ignore
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
      ? this.#firstOf(rows)
      : await insertImportedVotes(ctx.db, rows.map(({ voteId, userId, postId, createdAt }) => ({ voteId, userId, postId, createdAt }))) // prettier-ignore
    await this.#known.remember(ctx, 'vote', rows.map(({ sourceId, voteId }) => [sourceId, voteId])) // prettier-ignore
    const matched = new Set(rows.filter(({ voteId }) => !created.has(voteId)).map(({ line }) => line))
    return taken.map((one) => (matched.has(one.line) ? { ...one, outcome: 'matched' } : one))
  }

  /** A person has one vote for a post, as in the database. */
  #firstOf(rows: readonly { voteId: string; userId: string; postId: string }[]): Set<string> {
    const first = rows.filter(({ userId, postId }) => {
      const before = this.#pretendedVotes.size
      return this.#pretendedVotes.add(`${userId} ${postId}`).size > before
    })
    return new Set(first.map(({ voteId }) => voteId))
  }

  async #comments(ctx: Context, wanted: readonly Wanted<'comment'>[]): Promise<Taken[]> {
    const some = wanted.map(({ fields }) => fields)
    const known = {
      post: await this.#known.rows(ctx, 'post', some.map(({ post }) => post)), // prettier-ignore
      person: await this.#known.present(ctx, 'person', some.map(({ author }) => author)), // prettier-ignore
      status: await this.#known.present(ctx, 'status', some.map(({ status }) => status)), // prettier-ignore
      parent: await this.#known.rows(ctx, 'comment', some.map(({ parent }) => parent)), // prettier-ignore
    }
    const posts = await presentIds(ctx.db, 'post', [...known.post.values()])
    if (!ctx.dryRun && some.some(({ isAnswer }) => isAnswer)) await lock(ctx.db, 'post_counts') // as the service marks answers
    const answered = await answeredPosts(ctx.db, some.some(({ isAnswer }) => isAnswer) ? [...posts] : [])
    const places = await commentPlaces(ctx.db, [...known.parent.values()])
    const idFor = await idsFor(ctx, 'comment', some.map(({ sourceId }) => sourceId)) // prettier-ignore
    const shownIn = await this.#images.shownIn(ctx, some.map(({ text }) => text)) // prettier-ignore
    const uses: Use[] = []
    const awaited: Parameters<AwaitedImages['remember']>[1][number][] = []
    const rows: Row<typeof insertImportedComments>[] = []
    const made: [string, string][] = []
    const taken = await each(wanted, async ({ line, fields }): Promise<Taken> => {
      const postId = required('post', fields.post, known.post)
      if (!posts.has(postId) && !postId.startsWith(PRETENDED)) return { line, outcome: 'existing' }
      const parentId = fields.parent ? required('parent', fields.parent, known.parent) : null
      const parent = parentId === null ? undefined : places.get(parentId)
      const isReply = parent?.postId === postId // what it answers may be deleted since
      const isInternal = (fields.isInternal ?? false) || (isReply && parent.isInternal)
      const createdAt = timeOf('createdAt', fields.createdAt, ctx.now().toISOString(), ctx.now())
      const id = ctx.dryRun ? pretended() : idFor(fields.sourceId)
      const withImages = shownIn(fields.text)
      const isBlank = withImages.text.trim() === ''
      if (isBlank && withImages.missing.length > 0) throw onlyMissingImages()
      // What answers a comment whose only image is refused for good still has a parent
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
    await this.#known.remember(ctx, 'comment', made)
    await this.#awaited.remember(ctx, awaited)
    return taken
  }

  async #merges(ctx: Context, wanted: readonly Wanted<'merge'>[]): Promise<Taken[]> {
    const posts = await this.#known.rows(ctx, 'post', wanted.flatMap(({ fields: { post, into } }) => [post, into])) // prettier-ignore
    return each(wanted, async ({ line, fields }) => {
      const post = required('post', fields.post, posts)
      const into = required('into', fields.into, posts)
      if (!ctx.dryRun) {
        const { outcomes } = await execute(merges.merge, unlimited(ctx), { ids: [post], into, quiet: true })
        const error = outcomes.find((outcome) => outcome.error)?.error
        if (error) throw new AppError('BAD_REQUEST', error.message)
      }
      await this.#known.remember(ctx, 'merge', [[fields.post, post]])
      return { line, outcome: 'created' }
    })
  }
}

/** What identifies a record among those of its type. */
function idOf({ type, fields }: ImportRecord): string {
  if (type === 'merge') return fields.post
  if (type === 'vote') return fields.sourceId ?? `${fields.post}\n${fields.person}`
  return fields.sourceId
}

/** What becomes of each; an error of the contract is of one of them. */
async function each<Item extends { line: number }>(
  items: readonly Item[],
  work: (item: Item) => Taken | Promise<Taken>,
): Promise<Taken[]> {
  const taken: Taken[] = []
  for (const item of items)
    try {
      taken.push(await work(item))
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      taken.push({ line: item.line, outcome: 'failed', error })
    }
  return taken
}

/** The text of a comment that was only an image which is no image. */
const REFUSED_IMAGE = '🖼️'

const onlyMissingImages = () =>
  invalidField({
    code: 'INVALID_VALUE',
    message: 'The comment has nothing but images, and the import does not have them.',
    field: 'text',
    rule: 'words, or an image that the import has',
  })

const unlimited = ({ limits: _limits, ...ctx }: Context): Context => ctx

/** Ids in one query. */
const MOST_IDS = 2000
