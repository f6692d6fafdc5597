import { invalidField } from '../../core/fields.js'
import { asStored, isId, newId } from '../../core/ids.js'
import type { ImportedKind } from '../../core/importedkinds.js'
import { forgetImported, importedRows, presentIds, rememberImported } from '../../db/imports.js'
import type { Context } from './context.js'

/** Maps ids of a source to rows here. In a dry run, rows that would be created have placeholder ids. */
export class Known {
  readonly #pretended = new Map<string, string>()

  constructor(readonly source: string) {}

  async rows(
    ctx: Context,
    kind: ImportedKind,
    ids: readonly (string | null | undefined)[],
  ): Promise<Map<string, string>> {
    const wanted = ids.filter((id): id is string => typeof id === 'string')
    const found = await importedRows(ctx.db, this.source, kind, wanted)
    for (const id of wanted) {
      const pretended = this.#pretended.get(`${kind} ${id}`)
      if (pretended !== undefined) found.set(id, pretended)
    }
    return found
  }

  /** The same without those that are deleted since. */
  async present(
    ctx: Context,
    kind: 'board' | 'status' | 'tag' | 'person' | 'post' | 'comment',
    ids: readonly (string | null | undefined)[],
  ): Promise<Map<string, string>> {
    const found = await this.rows(ctx, kind, ids)
    const there = await presentIds(ctx.db, kind, [...found.values()])
    return new Map([...found].filter(([, id]) => there.has(id) || id.startsWith(PRETENDED)))
  }

  /** Forgets deleted rows before they are imported again. */
  async forget(ctx: Context, kind: ImportedKind, made: readonly (readonly [string, string])[]): Promise<void> {
    if (!ctx.dryRun) await forgetImported(ctx.db, this.source, kind, made.map(([sourceId]) => sourceId)) // prettier-ignore
  }

  async remember(ctx: Context, kind: ImportedKind, made: readonly (readonly [string, string])[]): Promise<void> {
    if (ctx.dryRun) for (const [id, row] of made) this.#pretended.set(`${kind} ${id}`, row)
    else
      await rememberImported(
        ctx.db,
        made.map(([sourceId, rowId]) => ({ source: this.source, kind, sourceId, rowId })),
      )
  }
}

/** Begins the ids of what a dry run would make. */
export const PRETENDED = 'new '

let pretendedCount = 0
export const pretended = (): string => `${PRETENDED}${(pretendedCount += 1)}`

export function required(field: string, given: string, known: ReadonlyMap<string, string>): string {
  const found = known.get(given)
  if (found !== undefined) return found
  throw invalidField({
    code: 'UNKNOWN_REFERENCE',
    message: `${field} names something that no line before it has: ${JSON.stringify(given.slice(0, 100))}.`,
    field,
    rule: 'the sourceId of a line before it',
  })
}

export const referred = (
  field: string,
  given: string | null | undefined,
  known: ReadonlyMap<string, string>,
): string | null => (given === null || given === undefined ? null : required(field, given, known))

/** Ids for new rows: what the source calls them where that is an id that no row here has, so that links and clients go on. */
export async function idsFor(
  { db }: Context,
  kind: 'board' | 'status' | 'person' | 'post' | 'comment',
  sourceIds: readonly string[],
): Promise<(sourceId: string) => string> {
  const taken = await presentIds(db, kind, sourceIds.filter(isId).map(asStored))
  return (sourceId) => {
    const own = asStored(sourceId)
    if (!isId(own) || taken.has(own)) return newId()
    taken.add(own)
    return own
  }
}
