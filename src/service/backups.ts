import * as Type from 'typebox'
import { AppError } from '../core/errors.js'
import { newId } from '../core/ids.js'
import { quoted } from '../core/text.js'
import { insertTask, listTasks, openTask, type BackupTask } from '../db/backuptasks.js'
import { backupFields, backupPage } from './lib/backuppages.js'
import { change } from './lib/change.js'
import type { BackupFile, Context } from './lib/context.js'
import { operation } from './lib/operation.js'
import { pageKeys } from './lib/paging.js'
import { fields, nullable, oneOf } from './lib/schemas.js'

// The files have the secret of the site, so no operation reads or restores one.

const HOUR_MS = 60 * 60 * 1000
const DAY_MS = 24 * HOUR_MS

/** Milliseconds after which the newest backup is old: two of the schedule, which takes some time itself. `every` is in seconds. */
export const oldAfter = (every: number | null | undefined): number =>
  every == null ? 7 * DAY_MS : 2 * every * 1000 + HOUR_MS

const time = Type.String({ format: 'date-time' })

const Backup = Type.Object({
  file: Type.String({ description: 'Its name in the folder of backups' }),
  bytes: Type.Integer(),
  createdAt: time,
  version: Type.String({ description: 'Of feedbackctl' }),
  schema: Type.String(),
  encrypted: Type.Boolean(),
  redacted: Type.Boolean({ description: 'Whether its secrets were left out, so that it restores no whole site' }),
  rehearsal: Type.Union(
    [Type.Object({ endedAt: time, error: nullable('string', { description: 'Why it failed' }) }), Type.Null()],
    { description: 'The last one that was asked for over HTTP; null without any' },
  ),
})

const Task = Type.Object({
  taskId: Type.String({ format: 'uuid' }),
  kind: oneOf(['create', 'rehearse'], {}),
  file: nullable('string', { description: 'The backup; null before it is made' }),
  state: oneOf(['waiting', 'running', 'done', 'failed'], {}),
  askedAt: time,
  startedAt: nullable('string'),
  endedAt: nullable('string'),
  error: nullable('string', { description: 'Why it failed' }),
})

const stateOf = ({ startedAt, endedAt, error }: BackupTask) =>
  endedAt !== null ? (error === null ? 'done' : 'failed') : startedAt === null ? 'waiting' : 'running'

const toTask = (task: BackupTask): Type.Static<typeof Task> => {
  const { taskId, kind, file, askedAt, startedAt, endedAt, error } = task
  return { taskId, kind, file, state: stateOf(task), askedAt, startedAt, endedAt, error }
}

export const list = operation({
  id: 'backups.list',
  summary: 'List the backups in the folder of the server, and what was last asked for',
  http: 'GET /backups 200',
  access: 'owner',
  errors: [],
  input: backupFields,
  output: Type.Object({
    backups: Type.Array(Backup),
    every: nullable('integer', { description: 'Seconds between scheduled backups; null without a schedule' }),
    is_old: Type.Boolean({
      description: 'Whether the newest is older than twice the schedule, or than a week without one, or there is none',
    }),
    task: Type.Union([Task, Type.Null()], { description: 'What runs, or was done last' }),
    ...pageKeys,
  }),
  async run(ctx, given) {
    const { db, now, backups: folder } = ctx
    const [files, tasks, every] = [(await folder?.list()) ?? [], await listTasks(db), folder?.every ?? null]
    const newest = files.find(({ redacted }) => !redacted)
    const { backups, ...keys } = await backupPage(files, given)
    const [task] = tasks
    return {
      backups: backups.map((file) => toBackup(file, tasks)),
      every,
      is_old: newest === undefined || now().getTime() - Date.parse(newest.createdAt) > oldAfter(every),
      task: task ? toTask(task) : null,
      ...keys,
    }
  },
})

function toBackup(backup: BackupFile, tasks: readonly BackupTask[]): Type.Static<typeof Backup> {
  const { file, bytes, createdAt, version, schema, encrypted, redacted } = backup
  const rehearsed = tasks.find((task) => task.kind === 'rehearse' && task.file === file && task.endedAt !== null)
  return {
    file,
    bytes,
    createdAt,
    version,
    schema,
    encrypted,
    redacted,
    rehearsal: rehearsed?.endedAt ? { endedAt: rehearsed.endedAt, error: rehearsed.error } : null,
  }
}

export const create = operation({
  id: 'backups.create',
  summary: 'Have a backup made in the folder of the server; the list says what becomes of it',
  http: 'POST /backups 202',
  access: 'owner',
  errors: ['BACKUP_RUNNING'],
  input: fields({}),
  output: Type.Object({ task: Task }),
  run: (ctx) => ask(ctx, 'create', null),
})

export const rehearse = operation({
  id: 'backups.rehearse',
  summary: 'Have a backup restored for a trial, and compared; the list says what becomes of it',
  http: 'POST /backups/rehearse 202',
  access: 'owner',
  errors: ['BACKUP_RUNNING', 'BACKUP_NOT_FOUND'],
  input: fields({
    file: Type.Optional(
      Type.String({ description: 'Its name in the list (default: the newest that is not redacted)' }),
    ),
  }),
  output: Type.Object({ task: Task }),
  async run(ctx, { file: given }) {
    const files = (await ctx.backups?.list()) ?? []
    const found = files.find(({ file, redacted }) => (given === undefined ? !redacted : file === given))
    if (!found)
      throw new AppError('BACKUP_NOT_FOUND', given === undefined ? 'There is no backup yet.' : `There is no backup ${quoted(given)}.`) // prettier-ignore
    return ask(ctx, 'rehearse', found.file)
  },
})

const ask = (ctx: Context, kind: BackupTask['kind'], file: string | null) =>
  change(ctx, async ({ db, record }) => {
    const asked = { taskId: newId(), kind, file, askedAt: ctx.now().toISOString() }
    if (!(await insertTask(db, asked)))
      throw new AppError('BACKUP_RUNNING', 'A backup is being made or rehearsed. Try again when it is done.')
    record(kind === 'create' ? 'site.backup_requested' : 'site.rehearsal_requested', 'site', file ?? undefined)
    const task = await openTask(db)
    return { task: toTask(task ?? { ...asked, startedAt: null, endedAt: null, error: null, isOpen: 1 }) }
  })
