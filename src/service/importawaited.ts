import { recordUses } from '../db/images.js'
import { importedText, replaceImportedText } from '../db/imports.js'
import { withoutHtml } from '../core/markdown/index.js'
import type { ImportedImages } from './importimages.js'
import type { Context } from './lib/context.js'
import type { Known } from './lib/importedrows.js'
import type { Fields, ImportRecord } from './lib/importrecords.js'
import { withShortTitle } from './lib/posttitles.js'

type WithText = Extract<ImportRecord, { type: 'post' | 'comment' }>

const keyOf = ({ type, fields }: WithText): string => `${type} ${fields.sourceId}`

/** Texts that were imported without an image: the file did not have it, or it could not be decoded for a passing reason. */
export class AwaitedImages {
  readonly #known: Known
  readonly #images: ImportedImages

  constructor(known: Known, images: ImportedImages) {
    this.#known = known
    this.#images = images
  }

  /** Remembers which texts lack an image. `rows` has the record and the id here. */
  async remember(ctx: Context, rows: readonly { record: WithText; id: string }[]): Promise<void> {
    await this.#known.remember(ctx, 'awaiting', rows.map(({ record, id }) => [keyOf(record), id])) // prettier-ignore
  }

  /**
   * Puts images that are here now into texts of an earlier import. A text that was changed since stays as it is. Returns
   * the names of the images that are still missing, by the text's `sourceId`.
   */
  async show(ctx: Context, records: readonly ImportRecord[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const missing = new Map<string, readonly string[]>()
    const texts = records.filter((record): record is WithText => record.type === 'post' || record.type === 'comment')
    const named = texts.filter(({ fields }) => fields.text?.includes('(import-image:'))
    if (named.length === 0) return missing
    const awaiting = await this.#known.rows(ctx, 'awaiting', named.map(keyOf))
    const some = named.filter((record) => awaiting.has(keyOf(record)))
    if (some.length === 0) return missing
    const shownIn = await this.#images.shownIn(ctx, some.map(({ fields }) => fields.text)) // prettier-ignore
    const done: [string, string][] = []
    for (const record of some) {
      const id = awaiting.get(keyOf(record)) ?? ''
      const names = await this.#stillMissing(ctx, record, id, shownIn)
      if (names.length > 0) missing.set(record.fields.sourceId, names)
      else done.push([keyOf(record), id])
    }
    await this.#known.forget(ctx, 'awaiting', done)
    return missing
  }

  /** Puts in what is here, and returns the names of the images that the text still lacks. */
  async #stillMissing(
    ctx: Context,
    record: WithText,
    id: string,
    shownIn: Awaited<ReturnType<ImportedImages['shownIn']>>,
  ): Promise<readonly string[]> {
    const there = await importedText(ctx.db, record.type, id)
    // It was deleted, or somebody changed it and may have removed an image
    if (there === undefined || there.isChanged) return []
    const given = record.fields.text ?? ''
    const now = shownIn(given)
    const before = await writtenText(record, shownIn(given, there.imageIds).text)
    const after = await writtenText(record, now.text)
    if (there.text !== before) return []
    const at = new Date(Date.parse(there.updatedAt) + 1).toISOString()
    if (!ctx.dryRun && after !== before && (await replaceImportedText(ctx.db, record.type, id, { before, after, at })))
      await recordUses(ctx.db, record.type === 'post' ? { postId: id, markdown: after } : { commentId: id, markdown: after }, now.imageIds, { isNew: false }) // prettier-ignore
    return now.missing
  }
}

/** The title and the text of a post as they are stored. */
export async function writtenPost(
  { title: given }: Pick<Fields<'post'>, 'title'>,
  withImages: string,
): Promise<{ title: string; text: string | null }> {
  const short = withShortTitle({ title: given, contentMarkdown: withImages })
  const { title, contentMarkdown } = short as { title: string; contentMarkdown: string }
  return { title, text: (await withoutHtml(contentMarkdown)).trim() || null }
}

/** The text of a post or comment as it is stored. */
const writtenText = async (record: WithText, withImages: string): Promise<string | null> =>
  record.type === 'post' ? (await writtenPost(record.fields, withImages)).text : (await withoutHtml(withImages)).trim()
