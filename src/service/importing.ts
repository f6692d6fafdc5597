import type { ImportedKind } from '../core/importedkinds.js'
import { LENGTHS } from '../core/lengths.js'
import { NO_ADDRESS } from '../core/placeholders.js'
import { randomWord } from '../core/ids.js'
import { searchKey } from '../core/text.js'
import { placeNamed, usersByEmail } from '../db/imports.js'
import { AwaitedImages } from './importawaited.js'
import { ImportedImages, assertBase64 } from './importimages.js'
import { createPlace } from './importplaces.js'
import { importComments, importMerges, importPosts, importVotes, type Importing } from './importposts.js'
import { isBcryptHash } from './lib/bcrypt.js'
import type { Context } from './lib/context.js'
import { idsFor, Known, pretended, referred } from './lib/importedrows.js'
import { shortened, timeOf, type Fields, type RecordType } from './lib/importrecords.js'
import { each, idOf, unlimited, type Given, type Taken, type Wanted } from './lib/importtaken.js'
import { assertEmail } from './lib/emails.js'
import { insertPeople, newUser } from './lib/people.js'

interface Options {
  source: string
  /** Whether the addresses of people count as confirmed, so that they can be mailed. */
  confirmed: boolean
  /** The board for posts that name none. */
  boardId: string | null
}

type Kinds = { [T in RecordType]: ImportedKind }
const KIND: Kinds = { board: 'board', status: 'status', tag: 'tag', person: 'person', image: 'image', post: 'post', vote: 'vote', comment: 'comment', merge: 'merge' } // prettier-ignore

/** Writes what another product had. It tells nobody, and it counts for no limit. */
export class Importer {
  readonly #known: Known
  readonly #options: Options
  readonly #images: ImportedImages
  readonly #awaited: AwaitedImages
  readonly #importing: Importing
  /** What a dry run would create, by type and name. */
  readonly #pretendedPlaces = new Map<string, string>()

  constructor(options: Options) {
    this.#options = options
    this.#known = new Known(options.source)
    this.#images = new ImportedImages(this.#known)
    this.#awaited = new AwaitedImages(this.#known, this.#images)
    this.#importing = {
      known: this.#known,
      images: this.#images,
      awaited: this.#awaited,
      boardId: options.boardId,
      votesOfDryRun: new Set(),
    }
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
    const missing = await this.#awaited.show(ctx, given.flatMap(({ record }) => (before.has(idOf(record)) ? [record] : []))) // prettier-ignore
    for (const each of given) {
      const { line, record } = each
      const id = idOf(record)
      if (before.has(id) || seen.has(id)) taken.set(line, { line, outcome: 'existing', missing: missing.get(id) ?? [] })
      else wanted.push(each)
      seen.add(id)
    }
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
        return importPosts(this.#importing, ctx, of('post'))
      case 'vote':
        return importVotes(this.#importing, ctx, of('vote'))
      case 'comment':
        return importComments(this.#importing, ctx, of('comment'))
      case 'merge':
        return importMerges(this.#importing, ctx, of('merge'))
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
}

/** Ids in one query. */
const MOST_IDS = 2000
