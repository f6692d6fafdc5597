import { AppError } from '../core/errors.js'
import { parse } from '../core/fields.js'
import * as boards from './boards.js'
import { change } from './lib/change.js'
import type { Context } from './lib/context.js'
import { idsFor } from './lib/importedrows.js'
import type { ImportRecord } from './lib/importrecords.js'
import { execute } from './lib/operation.js'
import * as roadmaps from './roadmaps.js'
import * as tags from './tags.js'

type Place = Extract<ImportRecord, { type: 'board' | 'status' | 'tag' }>

/** Creates the board, roadmap or tag of a record, and returns its id: that of a board or a roadmap is kept. */
export async function createPlace(ctx: Context, { type, fields }: Place, name: string): Promise<string> {
  const color = /^#?[0-9a-f]{6}$/i.test(fields.color ?? '') ? { color: (fields.color ?? '').replace('#', '') } : {}
  const given = { name, display: fields.isPrivate !== true, ...color }
  if (type === 'tag') return (await execute(tags.create, ctx, given)).tag.tagId
  const id = (await idsFor(ctx, type, [fields.sourceId]))(fields.sourceId)
  // Another place here may have the url, or it may be none that this site takes
  return keepingUrl(fields.url, async (url) => {
    if (type === 'board') {
      const board = { ...given, ...url, view_voters: fields.hidesVoters !== true }
      const insert = await boards.newBoard(ctx, parse(boards.create.input, board), id)
      return change(ctx, async (tx) => (await insert(tx)).boardId)
    }
    const roadmap = { ...given, ...url, ...(fields.kind !== undefined && { kind: fields.kind }) }
    const insert = await roadmaps.newRoadmap(ctx, parse(roadmaps.create.input, roadmap), id)
    return change(ctx, async (tx) => (await insert(tx)).id)
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
