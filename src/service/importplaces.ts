import { AppError } from '../core/errors.js'
import * as boards from './boards.js'
import type { Context } from './lib/context.js'
import type { ImportRecord } from './lib/importrecords.js'
import { execute } from './lib/operation.js'
import * as roadmaps from './roadmaps.js'
import * as tags from './tags.js'

type Place = Extract<ImportRecord, { type: 'board' | 'status' | 'tag' }>

/** Creates the board, roadmap or tag of a record, and returns its id. */
export async function createPlace(ctx: Context, { type, fields }: Place, name: string): Promise<string> {
  const color = /^#?[0-9a-f]{6}$/i.test(fields.color ?? '') ? { color: (fields.color ?? '').replace('#', '') } : {}
  const given = { name, display: fields.isPrivate !== true, ...color }
  const own = ctx
  if (type === 'tag') return (await execute(tags.create, own, given)).tag.tagId
  // Another place here may have the url, or it may be none that this site takes
  return keepingUrl(fields.url, async (url) => {
    if (type === 'board')
      return (await execute(boards.create, own, { ...given, ...url, view_voters: fields.hidesVoters !== true })).board
        .boardId
    const kind = fields.kind === undefined ? {} : { kind: fields.kind }
    return (await execute(roadmaps.create, own, { ...given, ...url, ...kind })).roadmap.id
  })
}

async function keepingUrl(
  url: string | null | undefined,
  make: (url: { url?: string }) => Promise<string>,
): Promise<string> {
  if (!url) return make({})
  try {
    return await make({ url })
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return make({})
    throw error
  }
}
