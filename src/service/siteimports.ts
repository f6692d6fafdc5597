import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import type { TotpRow } from '../db/tables.js'
import type { Body } from './lib/body.js'
import type { Context } from './lib/context.js'
import { assertStill, type LongBody, type Piece } from './lib/download.js'
import { assertNoneRuns } from './lib/importstates.js'
import { fields } from './lib/schemas.js'
import { encryptedAnew } from './lib/totp.js'
import { upload } from './lib/upload.js'
import { NDJSON } from './lib/uploadrows.js'

/** The type of what "feedbackctl export" writes. */
export const LINES = 'application/jsonl'
const MAX_BYTES = 400_000_000_000

export const site = upload({
  id: 'imports.site',
  summary: 'Import an export of a site into the empty site here, all of it or nothing',
  http: 'POST /import/site 200',
  access: 'owner',
  errors: ['IMPORT_RUNNING', 'NOT_FOUND', 'STORAGE_FULL'],
  accepts: [LINES, NDJSON],
  maxBytes: MAX_BYTES,
  types: [NDJSON],
  input: fields({}),
  output: Type.String(),
  async run(ctx, _input, { bytes }): Promise<LongBody> {
    if (!ctx.imports)
      throw new AppError('NOT_FOUND', 'Only a server imports a site over HTTP. Use "feedbackctl import".')
    await assertNoneRuns(ctx)
    return { type: NDJSON, pieces: importedSite(ctx, bytes), end }
  },
})

/** Imports an export, and says how far it is and what it has done. */
export async function* importedSite(ctx: Context, bytes: Body['bytes']): AsyncGenerator<Piece> {
  const { imports, dryRun, mail } = ctx
  const encryptedFor = (totp: TotpRow, userId: string) => encryptedAnew(ctx, totp, userId)
  const mayGoOn = () => assertStill({ access: 'owner' }, ctx, 'upload')
  for await (const told of imports?.lines(bytes, { dryRun, sendsMail: mail !== null, mayGoOn, encryptedFor }) ?? [])
    yield 'done' in told
      ? { text: lineOf({ result: 'complete', ...told.done, dry_run: dryRun }), rows: 1 }
      : { text: lineOf({ result: 'working', ...told }), rows: 0 }
}

export const end = (error: AppError): Piece => ({
  text: lineOf({ result: 'incomplete', error: said(error).body }),
  rows: 0,
})

/** A file that is wrong is a request that is. */
const said = (error: AppError): AppError =>
  error.code === 'USAGE' ? new AppError('BAD_REQUEST', error.message) : error

export const lineOf = (line: object): string => `${JSON.stringify(line)}\n`
