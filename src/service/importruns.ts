import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { newId } from '../core/ids.js'
import {
  cancelRun,
  deleteRun,
  findRun,
  insertRun,
  listRuns,
  openRun,
  readRefusals,
  setProgress,
  type ImportRun,
} from '../db/importruns.js'
import { findUser } from '../db/users.js'
import { BYTES, MAX_BYTES, mapIn, OF_FILES } from './importfiles.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { download, type Piece } from './lib/download.js'
import { recordCancel } from './lib/importevents.js'
import { isKept, progressOf, refusedOf, running, stateOf, STATES, type Progress } from './lib/importstates.js'
import { operation } from './lib/operation.js'
import { boardIdFrom } from './lib/postplaces.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { upload } from './lib/upload.js'
import { NDJSON } from './lib/uploadrows.js'

// A server does these imports in the background: a job begins what is asked for here.

const LISTED = {
  runId: Type.String({ format: 'uuid' }),
  state: oneOf(STATES, {
    description: '"checked" is the end of a check; "stopped" is an import whose server has ended',
  }),
  isCheck: Type.Boolean({ description: 'Whether it says only what would come of the file' }),
  name: Type.String({ description: 'Of the file' }),
  by: nullable('string', { description: 'Name of the person who started it; null if the account was deleted' }),
  askedAt: Type.String(),
  startedAt: nullable('string'),
  endedAt: nullable('string'),
  isCancelled: Type.Boolean({ description: 'Whether somebody has asked for its end' }),
  isKept: Type.Boolean({ description: 'Whether the file of a check is still there to be imported' }),
  done: Type.Array(
    Type.Object({
      type: Type.String(),
      done: Type.Integer(),
      found: nullable('integer', { description: 'How many there are; null where no check has counted them' }),
    }),
    { description: 'The records that are done, by their type' },
  ),
  refused: Type.Integer({ description: 'Records that were refused and can be downloaded' }),
  refusedLeftOut: Type.Integer({ description: 'Refused records that are not in the file, because it is limited to 50 MB' }), // prettier-ignore
  error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()], {
    description: 'Why it failed',
  }),
}
const Listed = Type.Object(LISTED)
const Run = Type.Object({
  ...LISTED,
  result: Type.Unknown({ description: 'The last line of the answer of POST /import/file, with product, preview and notes; null before the end' }), // prettier-ignore
})
export type ListedRun = Type.Static<typeof Listed>

const toRun = async (ctx: Context, run: ImportRun): Promise<Type.Static<typeof Run>> => ({
  ...(await toListed(ctx, run)),
  result: run.result === null ? null : (JSON.parse(run.result) as unknown),
})

async function toListed(ctx: Context, run: ImportRun): Promise<ListedRun> {
  const { runId, name, isCheck, askedAt, startedAt, endedAt, isCancelled, error } = run
  const { done, refusedLeftOut } = progressOf(run)
  return {
    runId,
    state: stateOf(run),
    isCheck: isCheck === 1,
    name,
    by: (await findUser(ctx.db, run.userId))?.name ?? null,
    askedAt,
    startedAt,
    endedAt,
    isCancelled: isCancelled === 1,
    isKept: isKept(run, ctx.now()),
    done,
    refused: refusedOf(run, ctx.now()),
    refusedLeftOut,
    error: error === null ? null : (JSON.parse(error) as { code: string; message: string }),
  }
}

const runId = Type.String({ format: 'uuid' })

export const start = upload({
  id: 'imports.startRun',
  summary: 'Import a file in the background, or only check it',
  http: 'POST /import/runs 201',
  access: 'owner',
  errors: ['BOARD_NOT_FOUND', 'IMPORT_RUNNING', 'NOT_FOUND', 'STORAGE_FULL'],
  accepts: [BYTES],
  maxBytes: MAX_BYTES,
  input: fields({
    ...OF_FILES,
    name: Type.Optional(Type.String({ maxLength: 200, description: 'Of the file' })),
    isCheck: Type.Boolean({ default: false, description: 'Only check the file, and keep it for an hour or until your next check' }), // prettier-ignore
  }),
  output: Type.Object({ run: Run }),
  async run(ctx, { name = '', isCheck, boardId: board, ...options }, { bytes }) {
    const { files } = ctx.imports ?? {}
    if (!files) throw new AppError('NOT_FOUND', 'Only a server imports in the background. Use "feedbackctl import".')
    mapIn(options.map ?? '')
    const boardId = board === undefined ? null : await boardIdFrom(ctx, board)
    if (await openRun(ctx.db)) throw running()
    let file: string | undefined
    for await (const told of files.receive(bytes, { untilRemoved: true })) if ('id' in told) file = told.id
    try {
      const { run, replaced } = await asked(ctx, {
        name,
        file: file ?? '',
        options: JSON.stringify({ ...options, boardId }),
        isCheck: isCheck ? 1 : 0,
        progress: null,
      })
      if (!ctx.dryRun) {
        file = undefined // a job has it now
        for (const id of replaced) await files.remove(id)
      }
      return { run }
    } finally {
      if (file !== undefined) await files.remove(file)
    }
  },
})

type Wanted = Pick<ImportRun, 'name' | 'file' | 'options' | 'isCheck' | 'progress'>

const asked = (ctx: Context, wanted: Wanted, inPlaceOf?: string) =>
  change(ctx, async ({ db }) => {
    const userId = ctx.actor.userId ?? ''
    const run = { runId: newId(), userId, askedAt: ctx.now().toISOString(), ...wanted }
    if (!(await insertRun(db, run))) throw running()
    if (inPlaceOf !== undefined) await deleteRun(db, inPlaceOf)
    const replaced = wanted.isCheck === 1 ? await giveUpChecks({ ...ctx, db }, userId) : []
    return { run: await toRun({ ...ctx, db }, (await findRun(db, run.runId)) ?? never()), replaced }
  })

/** Each person keeps the file of one check. Returns the earlier files on this server; other servers remove their own. */
async function giveUpChecks({ db, now }: Context, userId: string): Promise<string[]> {
  const kept = (await listRuns(db)).filter((run) => run.userId === userId && isKept(run, now()))
  for (const run of kept)
    await setProgress(db, run.runId, JSON.stringify({ ...progressOf(run), isReplaced: true } satisfies Progress))
  return kept.map(({ file }) => file)
}

export const confirm = operation({
  id: 'imports.confirmRun',
  summary: 'Import the file of a check in the background',
  http: 'POST /import/runs/confirm 202',
  access: 'owner',
  errors: ['IMPORT_NOT_FOUND', 'IMPORT_RUNNING'],
  input: fields({ runId }),
  output: Type.Object({ run: Run }),
  subject: (ctx, { runId: id }) => theRun(ctx, id),
  async run(ctx, _input, checked) {
    if (!isKept(checked, ctx.now()))
      throw new AppError('IMPORT_NOT_FOUND', 'The file is not here any more. Send it again.')
    const { name, file, options } = checked
    const found = progressOf(checked).done.map(({ type, done }) => ({ type, done: 0, found: done }))
    const progress = JSON.stringify({ done: found })
    const { run } = await asked(ctx, { name, file, options, isCheck: 0, progress }, checked.runId)
    return { run }
  },
})

export const list = operation({
  id: 'imports.listRuns',
  summary: 'List the last imports in the background, newest first',
  http: 'GET /import/runs/list 200',
  access: 'owner',
  errors: [],
  input: fields({}),
  output: Type.Object({ runs: Type.Array(Listed) }),
  async run(ctx) {
    const runs: ListedRun[] = []
    for (const run of await listRuns(ctx.db)) runs.push(await toListed(ctx, run))
    return { runs }
  },
})

export const show = operation({
  id: 'imports.showRun',
  summary: 'Show how far an import in the background is, or what it has done',
  http: 'GET /import/runs 200',
  access: 'owner',
  errors: ['IMPORT_NOT_FOUND'],
  input: fields({ runId: Type.Optional({ ...runId, description: 'Default: the newest' }) }),
  output: Type.Object({ run: Type.Union([Run, Type.Null()]) }),
  async run(ctx, { runId: id }) {
    const run = id === undefined ? (await listRuns(ctx.db))[0] : await theRun(ctx, id)
    return { run: run ? await toRun(ctx, run) : null }
  },
})

export const cancel = operation({
  id: 'imports.cancelRun',
  summary: 'End an import in the background; what it has imported stays',
  http: 'POST /import/runs/cancel 202',
  access: 'owner',
  errors: ['IMPORT_NOT_FOUND'],
  input: fields({ runId }),
  output: Type.Object({ run: Run }),
  subject: (ctx, { runId: id }) => theRun(ctx, id),
  run: (ctx, { runId: id }, found) =>
    change(ctx, async (tx) => {
      const cancelled = await cancelRun(tx.db, id)
      if (cancelled) recordCancel(tx, cancelled)
      return { run: await toRun({ ...ctx, db: tx.db }, cancelled ?? found) }
    }),
})

export const refused = download({
  id: 'imports.refused',
  summary: 'Download the records that an import refused, so that you can fix and import them',
  http: 'GET /import/runs/refused 200',
  access: 'owner',
  sensitive: true,
  errors: ['IMPORT_NOT_FOUND'],
  types: [NDJSON],
  input: fields({ runId }),
  output: Type.String(),
  async rows(ctx, { runId: id }) {
    await theRun(ctx, id)
    const first = await readRefusals(ctx.db, id, 0)
    if (first === undefined)
      throw new AppError(
        'IMPORT_NOT_FOUND',
        'This import has no refused records, or they were deleted after seven days.',
      )
    async function* pieces(): AsyncGenerator<Piece> {
      let [part, text]: [number, string | undefined] = [0, first]
      for (; text !== undefined; text = await readRefusals(ctx.db, id, (part += 1))) yield { text, rows: 1 }
    }
    return { file: 'refused.jsonl', type: NDJSON, pieces: pieces() }
  },
})

async function theRun({ db }: Context, id: unknown): Promise<ImportRun> {
  const run = typeof id === 'string' ? await findRun(db, id) : undefined
  if (!run) throw new AppError('IMPORT_NOT_FOUND', 'There is no such import, or it is forgotten.')
  return run
}

function never(): never {
  throw new Error('A row that was just inserted is gone.')
}
