import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { zipped, type FilePiece } from '../core/zip.js'
import type { Context } from './lib/context.js'
import { download, type LongBody, type Piece } from './lib/download.js'
import { fields, oneOf } from './lib/schemas.js'

/** The media types of what a site is taken out as. */
const [LINES, ARCHIVE] = ['application/jsonl', 'application/zip'] as const

export const FORMATS = ['lines', 'csv', 'pages'] as const

export const site = download({
  id: 'exports.site',
  summary: 'Take the site out: all of it as lines of JSON, tables as CSV, or the pages that visitors see',
  http: 'GET /export 200',
  access: 'owner',
  sensitive: true,
  types: [LINES, ARCHIVE],
  errors: ['NOT_FOUND', 'STORAGE_FULL', 'BOARD_NOT_FOUND'],
  input: fields({
    format: oneOf([...FORMATS], {
      default: 'lines',
      description:
        'lines: what "feedbackctl import" takes, without passwords; csv: a ZIP archive of tables for spreadsheets; pages: a ZIP archive of pages that need no server',
    }),
    board: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        maxItems: 50,
        rule: 'a list of 1 to 50 board ids or urls',
        description: 'Only these boards, with their posts and what belongs to them: ids or urls. With lines alone',
        names: 'board',
        early: true,
      }),
    ),
    bom: Type.Boolean({
      default: false,
      description: 'Whether each CSV begins with a mark by which Excel reads UTF-8',
    }),
  }),
  output: Type.String(),
  async rows(ctx, { format, board, bom }): Promise<LongBody & { file: string }> {
    const { exports, now } = ctx
    if (!exports) throw new AppError('NOT_FOUND', 'Only a server takes a site out over HTTP. Use "feedbackctl export".')
    if (board && format !== 'lines')
      throw invalidField({ code: 'INVALID_VALUE', message: 'board works with the format lines only.', field: 'board', rule: 'left out for other formats' }) // prettier-ignore
    const at = now()
    const day = at.toISOString().slice(0, 10)
    if (format === 'lines')
      return { file: `${board ? 'boards' : 'site'}-${day}.jsonl`, type: LINES, pieces: exports.spooled(exports.lines({ boards: board })) } // prettier-ignore
    // Pages are made as they are taken: they hold no transaction
    const pieces = format === 'csv' ? exports.spooled(archived(exports.sheets({ bom }), ctx)) : archived(exports.pages(at), ctx) // prettier-ignore
    return { file: `${format}-${day}.zip`, type: ARCHIVE, pieces }
  },
})

async function* archived(files: AsyncIterable<FilePiece>, { now }: Pick<Context, 'now'>): AsyncGenerator<Piece> {
  for await (const { bytes, rows } of zipped(files, now())) yield { text: '', bytes, rows }
}
