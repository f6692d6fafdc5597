import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { Importer } from './importing.js'
import { importing, OPTIONS, source } from './imports.js'
import type { Body } from './lib/body.js'
import type { Context } from './lib/context.js'
import type { LongBody, Piece } from './lib/download.js'
import { assertNoneRuns } from './lib/importstates.js'
import { boardIdFrom } from './lib/postplaces.js'
import { fields, oneOf } from './lib/schemas.js'
import { upload } from './lib/upload.js'
import { NDJSON, objectIn, withoutHash } from './lib/uploadrows.js'
import { end, importedSite, lineOf } from './siteimports.js'

/** The word for an export of a site. */
export const OWN = 'feedbackctl'

/** What one file may be from. Databases and folders are for the command line, which reads them where they are. */
export const PRODUCTS = [
  OWN,
  'astuto',
  'canny',
  'clearflask',
  'csv',
  'fider',
  'github',
  'quackback',
  'records',
  'uservoice',
] as const
export type Product = (typeof PRODUCTS)[number]

export const BYTES = 'application/octet-stream'
/** Bytes of a file. */
export const MAX_BYTES = 200_000_000

/** The fields of what takes a file. */
export const OF_FILES = {
  product: Type.Optional(
    oneOf(PRODUCTS, { description: 'Product that the file comes from (default: detected from its content)' }),
  ),
  source: Type.Optional({ ...source, description: 'A name that keeps ids apart from those of other imports (default: the product)' }), // prettier-ignore
  ...OPTIONS,
  map: Type.Optional(
    Type.String({
      maxLength: 5000,
      description: 'Headers of CSV by our names of the columns, each on a line: title=Subject',
    }),
  ),
}

export const file = upload({
  id: 'imports.file',
  summary:
    'Import a file of another product, or an export of a site; a dry run keeps the file for an hour, or until your next one',
  http: 'POST /import/file 200',
  access: 'owner',
  errors: ['BOARD_NOT_FOUND', 'IMPORT_RUNNING', 'NOT_FOUND', 'STORAGE_FULL'],
  accepts: [BYTES],
  maxBytes: MAX_BYTES,
  types: [NDJSON],
  input: fields({
    ...OF_FILES,
    kept: Type.Optional(
      Type.String({
        pattern: '^[0-9a-z]{32}$',
        rule: '32 lower-case letters and digits',
        description: 'What a dry run has kept, in place of the body',
      }),
    ),
  }),
  output: Type.String(),
  async run(ctx, { product, source: named, boardId: board, confirmed, map, kept }, { bytes }): Promise<LongBody> {
    if (!ctx.imports)
      throw new AppError('NOT_FOUND', 'Only a server imports a file over HTTP. Use "feedbackctl import".')
    await assertNoneRuns(ctx)
    const boardId = board === undefined ? null : await boardIdFrom(ctx, board)
    const opened = { product, map: mapIn(map ?? '') }
    return { type: NDJSON, pieces: pieces(ctx, { bytes, kept, opened, named, boardId, confirmed }), end }
  },
})

export interface Wanted {
  bytes: Body['bytes']
  kept: string | undefined
  opened: { product: Product | undefined; map: ReadonlyMap<string, string> }
  named: string | undefined
  boardId: string | null
  confirmed: boolean
  /** Called with each refused line. */
  refused?(this: void, row: string, source: string): void
  /** Ends the reading of records. */
  signal?: AbortSignal
}

/** Imports a file, which is sent or kept, and says how far it is and what it has done. */
export async function* pieces(ctx: Context, { bytes, kept, opened, ...options }: Wanted): AsyncGenerator<Piece> {
  const files = ctx.imports?.files
  let [id, stays] = [kept, kept !== undefined]
  let release: (() => void) | undefined
  try {
    if (id === undefined)
      for await (const told of files?.receive(
        bytes,
        ctx.dryRun ? { forPerson: ctx.actor.userId ?? '' } : { untilRemoved: true },
      ) ?? [])
        // prettier-ignore
        if ('id' in told) ({ id } = told)
        else yield { text: lineOf({ result: 'working', step: 'receive', rows: told.received }), rows: 0 }
    release = await files?.hold(id ?? '')
    const found = await files?.open(id ?? '', opened)
    if (!found) return
    const { product, preview } = found
    yield { text: lineOf({ result: 'opened', product, preview, ...(ctx.dryRun && { kept: id }) }), rows: 0 }
    if (product === OWN) yield* importedSite(ctx, found.bytes())
    else yield* imported(ctx, found, options)
    stays = ctx.dryRun
  } finally {
    release?.()
    if (id !== undefined && !stays) await files?.remove(id)
  }
}

type Found = Awaited<ReturnType<NonNullable<Context['imports']>['files']['open']>>

async function* imported(
  ctx: Context,
  { product, source, records }: Found,
  {
    boardId,
    confirmed,
    refused,
    signal,
    ...given
  }: Pick<Wanted, 'named' | 'boardId' | 'confirmed' | 'refused' | 'signal'>,
): AsyncGenerator<Piece> {
  const named = given.named ?? source ?? product
  const open = new Map<number, string>() // records whose answer is still to come, by their line
  const notes: string[] = []
  async function* rows() {
    let number = 0
    signal?.throwIfAborted()
    for await (const text of records((sentence) => void notes.push(sentence), signal)) {
      const values = objectIn(text)
      number += 1
      if (refused && (values instanceof AppError || values.type !== 'image')) open.set(number, text) // nobody edits base64 by hand
      yield { number, name: '', size: text.length, values }
    }
  }
  const importer = new Importer({ source: named, confirmed, boardId })
  for await (const piece of importing(ctx, importer, { source: named, boardId, rows: rows(), signal }).pieces) {
    for (const text of new Set(notes.splice(0))) yield { text: lineOf({ result: 'note', text }), rows: 0 }
    if (refused) forget(open, piece.text, (row) => refused(row, named))
    yield piece
  }
}

/**
 * Returns the lines that an answer refuses, as they were read, but without password hashes in records. Forgets the lines
 * that the answer accepts.
 */
function forget(open: Map<number, string>, text: string, refused: (row: string) => void): void {
  for (const one of text.split('\n').filter(Boolean)) {
    const { result, line = 0, until = 0 } = JSON.parse(one) as { result: string; line?: number; until?: number }
    const row = open.get(line)
    if (result === 'failed' && row !== undefined) refused(withoutHash(row))
    if (result !== 'taken') continue
    for (const each of open.keys()) {
      if (each > until) break
      open.delete(each)
    }
  }
}

export function mapIn(text: string): ReadonlyMap<string, string> {
  const given = text.split('\n').filter((line) => line.trim() !== '')
  return new Map(
    given.map((line): [string, string] => {
      const [, column, header] = /^([^=]+)=(.+)$/.exec(line) ?? []
      if (column === undefined || header === undefined)
        throw new AppError('BAD_REQUEST', `A column is named as in title=Subject; ${JSON.stringify(line.slice(0, 100))} names none.`) // prettier-ignore
      return [column.trim().toLowerCase(), header.trim()]
    }),
  )
}
