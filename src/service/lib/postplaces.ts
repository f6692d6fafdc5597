import { invalidField } from '../../core/fields.js'
import { findBoard } from '../../db/boards.js'
import { findRoadmap } from '../../db/roadmaps.js'
import type { BoardRow } from '../../db/tables.js'
import { can } from './access.js'
import type { Context } from './context.js'
import { findPerson } from './people.js'

type Asking = Pick<Context, 'db' | 'actor'>

/** A board by id or url; a private one is unknown to whoever may not read it. Throws a VALIDATION_ERROR. */
export async function visibleBoard({ db, actor }: Asking, given: string): Promise<BoardRow> {
  const board = await findBoard(db, given)
  if (board && (board.display === 1 || can(actor, 'board:read'))) return board
  throw unknown('boardId', 'board', given)
}

/** The id of a board that a post is put on: null for none. The one it is on already may stay, whoever may read it. */
export async function boardIdFrom(
  ctx: Asking,
  given: string | null | undefined,
  present: string | null = null,
): Promise<string | null> {
  if (!given || given === present) return given || null
  return (await visibleBoard(ctx, given)).boardId
}

/** The same for a roadmap. */
export async function roadmapIdFrom(
  { db, actor }: Asking,
  given: string | null | undefined,
  present: string | null = null,
): Promise<string | null> {
  if (!given || given === present) return given || null
  const roadmap = await findRoadmap(db, given)
  if (roadmap && (roadmap.display === 1 || can(actor, 'roadmap:read'))) return roadmap.id
  throw unknown('roadmapId', 'roadmap', given)
}

/** The id of an author. */
export async function authorIdFrom(ctx: Asking, given: string | undefined): Promise<string | undefined> {
  if (given === undefined || given === '') return undefined
  const user = await findPerson(ctx, given)
  if (!user) throw unknown('authorId', 'person', given)
  return user.userId
}

const unknown = (field: string, noun: string, given: string) => {
  const [value, rule] = [
    given.slice(0, 100).toWellFormed(),
    `the id or ${noun === 'person' ? 'user name' : 'url'} of a ${noun}`,
  ]
  return invalidField({
    code: `UNKNOWN_${noun.toUpperCase()}`,
    message: `${field} must be ${rule}; ${JSON.stringify(value)} is not.`,
    field,
    rule,
    value,
  })
}
