import * as Type from 'typebox'
import { BOARD_SORTS, POSTING } from '../core/boardrules.js'
import { changesOf, type Recorded } from '../core/details.js'
import { AppError } from '../core/errors.js'
import { invalidField } from '../core/fields.js'
import { newId } from '../core/ids.js'
import { LENGTHS } from '../core/lengths.js'
import { slugOf } from '../core/slugs.js'
import { counted, searchKey } from '../core/text.js'
import { stateBefore } from '../db/details.js'
import {
  boardsAfter,
  boardTotal,
  deleteBoard,
  heldPostCount,
  findBoard,
  findBoardNamed,
  insertBoard,
  listBoards,
  MOST_NAMED,
  movePosts,
  searchBoards,
  updateBoard,
  type BoardFilter,
} from '../db/boards.js'
import { lock } from '../db/counters.js'
import type { BoardRow } from '../db/tables.js'
import { can, notAllowed, type Actor, type Gated } from './lib/access.js'
import { change, type Change } from './lib/change.js'
import type { CachedContext, Context } from './lib/context.js'
import { named } from './lib/named.js'
import { operation } from './lib/operation.js'
import { alias, pageFields, pageKeys, pageOf, type Listing, type PageInput } from './lib/paging.js'
import { policy, runs } from './lib/policies.js'
import { fields, inPath, oneOf } from './lib/schemas.js'
import { orderFields, periodFields, periodFrom } from './lib/times.js'
import { assertVersion, ifVersion, versionField, versionOf } from './lib/versions.js'

const boardPolicy = policy({
  update: runs((): Gated => update),
  delete: runs((): Gated => remove),
})

const Board = Type.Object({
  boardId: Type.String({ format: 'uuid' }),
  name: Type.String(),
  url: Type.String({ description: 'Slug, unique on the site' }),
  color: Type.String({ description: 'Six hexadecimal digits' }),
  display: Type.Boolean({ description: 'Public; otherwise only with board:read' }),
  view_voters: Type.Boolean({ description: 'Whether visitors see who voted' }),
  description: Type.Optional(Type.String({ description: 'What it is for, in plain text; absent without one' })),
  template: Type.Optional(
    Type.String({ description: 'What a new post begins with on the pages, in Markdown; absent without one' }),
  ),
  posting: Type.Optional(
    oneOf(POSTING, { description: 'team: only who has post:update may post; absent where everyone may' }),
  ),
  sort: Type.Optional(oneOf(BOARD_SORTS, { description: 'The order of its posts on its page; absent: trending' })),
  archived: Type.Optional(
    Type.Boolean({
      description: 'true where it takes no posts, comments and votes, and menus leave it out; otherwise absent',
    }),
  ),
  hides_votes: Type.Optional(
    Type.Boolean({
      description:
        'true where only who voted for a post, or has dashboard:read, sees how many did, and who; otherwise absent',
    }),
  ),
  createdAt: Type.String({ format: 'date-time' }),
  post_count: Type.String({ description: 'Number of posts, as a decimal integer' }),
  may: boardPolicy.field,
})
export type Board = Type.Static<typeof Board>

const noun = named<BoardRow>({
  noun: 'board',
  id: 'boardId',
  createdAt: 'createdAt',
  find: findBoard,
  routes: (): { http: string }[] => [get, search, checkSlug, checkName],
})
const { name, url, color, display, partial, visibility } = noun.fields
export const boardName = name
const viewVoters = Type.Boolean({ description: 'Whether visitors see who voted' })
const order = orderFields('desc')
/** What a board says and takes. */
const rules = {
  description: Type.Optional(
    Type.String({ maxLength: LENGTHS.boardDescription, description: 'What it is for, in plain text' }),
  ),
  template: Type.Optional(
    Type.String({
      maxLength: LENGTHS.boardTemplate,
      description: 'What a new post begins with on the pages, in Markdown',
    }),
  ),
  posting: Type.Optional(
    oneOf(POSTING, { description: 'Who may post: everyone who may at all, or only who has post:update' }),
  ),
  sort: Type.Optional(oneOf(BOARD_SORTS, { description: 'The order of its posts on its page' })),
  archived: Type.Optional(
    Type.Boolean({ description: 'Take no posts, comments and votes any more, and leave it out of menus' }),
  ),
  hides_votes: Type.Optional(
    Type.Boolean({ description: 'Whether only who voted for a post sees how many did, and who' }),
  ),
}
type Rules = Type.Static<Type.TObject<typeof rules>>

/** Columns of those that are given. */
const ruled = ({ description, template, posting, sort, archived, hides_votes: hidesVotes }: Rules) => ({
  ...(description !== undefined && { description: description.trim() }),
  ...(template !== undefined && { template }),
  ...(posting !== undefined && { posting }),
  ...(sort !== undefined && { sort }),
  ...(archived !== undefined && { archived: archived ? 1 : 0 }),
  ...(hidesVotes !== undefined && { hides_votes: hidesVotes ? 1 : 0 }),
})
const BOARDS: Listing<BoardRow> = { row: 'board', rows: 'Boards', id: 'boardId', alias: true }
const paged = pageFields(BOARDS)
const boardId = Type.String({ description: 'Id or url of the board', names: 'board' })

/** A board that the actor may read, by its url or id. */
export const { readable } = noun

export const list = operation({
  id: 'boards.list',
  summary: 'List boards, newest first',
  http: 'GET /boards 200',
  access: 'public',
  cache: 'actor',
  errors: [],
  input: fields({
    ...order,
    ...paged,
    visibility,
    query: Type.Optional(
      Type.String({
        maxLength: 500,
        description: `Only boards whose name starts with this text, in any letter case; only the first ${MOST_NAMED} by name count`,
      }),
    ),
    ...periodFields('boards created'),
  }),
  output: Type.Object({
    boards: Type.Array(Board),
    results: alias(Board),
    ...pageKeys,
  }),
  async run(ctx, { created, visibility, query = '', since, until, ...page }) {
    const filter: BoardFilter = {
      created,
      visibility: can(ctx.actor, 'board:read') ? visibility : ['public'],
      prefix: query.trim() === '' ? undefined : searchKey(query.trim()),
      ...periodFrom({ since, until }),
    }
    const { rows: boards, keys } = await pageOfBoards(ctx, filter, page)
    return { boards, ...keys }
  },
})

/** The list of clients before 0.8, which send no token for it. */
export const get = operation({
  id: 'boards.get',
  summary: 'List boards, newest first; private ones need board:read (deprecated: use list)',
  http: 'GET /boards/get 200',
  access: 'public',
  cache: 'actor',
  errors: [],
  input: fields({ ...order, limit: paged.limit, page: paged.page }),
  output: Type.Object({ boards: Type.Array(Board) }),
  async run(ctx, { created, ...page }) {
    const visibility = can(ctx.actor, 'board:read') ? (['public', 'private'] as const) : (['public'] as const)
    const { rows: boards } = await pageOfBoards(ctx, { created, visibility }, page)
    return { boards }
  },
})

export const show = operation({
  id: 'boards.show',
  summary: 'Show a board',
  http: 'GET /boards/:url 200',
  access: 'public',
  cache: 'actor',
  errors: ['BOARD_NOT_FOUND', 'NOT_ENOUGH_PERMISSION'],
  input: fields({ url: inPath('Url or id of the board', 'board') }),
  output: Type.Object({ board: Board, version: versionField }),
  async run(ctx, input) {
    const row = await noun.readable(ctx, input.url)
    return { board: toBoard(ctx.actor, row), version: versionOf(changeable(row)) }
  },
})

export const search = operation({
  id: 'boards.search',
  summary: 'Find boards whose name starts with a text; the first 100 by name',
  http: 'GET /boards/search/:name 200',
  access: 'board:read',
  cache: 'actor',
  errors: [],
  input: fields({ name: inPath('Start of the name, in any letter case') }),
  output: Type.Object({ boards: Type.Array(Board) }),
  async run({ db, actor }, input) {
    const rows = await searchBoards(db, searchKey(input.name), 100)
    return { boards: rows.map((row) => toBoard(actor, row)) }
  },
})

const NEWEST: BoardFilter = { visibility: ['public', 'private'], created: 'desc' }
/** Number of newest boards whose colours a new board avoids. */
const COLORED = 100

export const create = operation({
  id: 'boards.create',
  summary: 'Create a board',
  http: 'POST /boards 201',
  access: 'board:create',
  errors: ['BOARD_URL_EXISTS'],
  input: fields({
    name: Type.Optional({ ...name, default: 'new board' }),
    color: Type.Optional({ ...color, description: 'Six hexadecimal digits (default: the next of a readable palette)' }),
    url: Type.Optional({ ...url, description: 'Slug in the address (default: derived from the name)' }),
    display: Type.Optional({ ...display, default: true }),
    view_voters: Type.Optional({ ...viewVoters, default: true }),
    ...rules,
  }),
  output: Type.Object({ board: Board }),
  async run(ctx, input) {
    const insert = await newBoard(ctx, input)
    return change(ctx, async (tx) => ({ board: toBoard(ctx.actor, await insert(tx)) }))
  },
})

/**
 * Makes the address of a new board, which takes time. What it returns writes the board in a transaction. An import may give
 * it the id that it had.
 */
export async function newBoard({ now }: Pick<Context, 'now'>, input: NewBoard, id = newId()) {
  const createdAt = now().toISOString()
  const row = {
    boardId: id,
    view_voters: input.view_voters ? 1 : 0,
    ...ruled(input),
    createdAt,
    updatedAt: createdAt,
  }
  const slug = await noun.slugOfNew(input)
  return async (tx: Change): Promise<BoardRow> => {
    const others = await listBoards(tx.db, NEWEST, { limit: COLORED })
    const columns = { ...row, ...noun.columns(input, others) }
    const board = await noun.insert(tx, slug, input, (url) => insertBoard(tx.db, { ...columns, url }))
    tx.record('board.created', board.boardId, board.name)
    return board
  }
}
type NewBoard = Type.Static<typeof create.input>

export const update = operation({
  id: 'boards.update',
  summary: 'Change a board',
  http: 'PATCH /boards 200',
  access: 'board:update',
  errors: ['BOARD_ID_OR_URL_MISSING', 'BOARD_NOT_FOUND', 'BOARD_URL_EXISTS', 'CONTENT_CHANGED'],
  input: fields(
    {
      boardId,
      name: Type.Optional(name),
      url: Type.Optional(url),
      color: Type.Optional(color),
      view_voters: Type.Optional(viewVoters),
      display: Type.Optional(display),
      ...rules,
      partial,
      ifVersion,
    },
    ['createdAt', 'updatedAt', 'post_count', 'may'],
  ),
  output: Type.Object({ board: Board }),
  subject: noun.subject,
  async run(ctx, input, subject) {
    const slug = await noun.slugOfChanged(input, subject)
    return change(ctx, async (tx) => {
      if (input.display !== undefined) await lock(tx.db, 'post_counts') // posts are as private as their board
      const before = await stateBefore(tx.db, 'board', subject.boardId)
      if (before) assertVersion(input.ifVersion, changeable(before))
      const outcome = await updateBoard(tx.db, subject.boardId, {
        ...noun.changes(input, slug),
        ...(input.view_voters !== undefined && { view_voters: input.view_voters ? 1 : 0 }),
        ...ruled(input),
        updatedAt: ctx.now().toISOString(),
      })
      const board = await noun.updated(tx, slug, input.boardId, outcome)
      tx.record('board.updated', board.boardId, board.name, undefined, before && changesOf('board', before, board))
      return { board: toBoard(ctx.actor, board) }
    })
  },
})

/** What `update` sets. */
const changeable = (row: Recorded<'board'>) => [
  row.name,
  row.url,
  row.color,
  row.display,
  row.view_voters,
  row.description,
  row.template,
  row.posting,
  row.sort,
  row.archived,
  row.hides_votes,
]

export const remove = operation({
  id: 'boards.delete',
  summary: 'Delete a board; its posts stay, on another board or without one, where everyone sees them',
  http: 'DELETE /boards 204',
  access: 'board:destroy',
  errors: ['BOARD_ID_OR_URL_MISSING', 'BOARD_NOT_FOUND', 'CONTENT_CHANGED'],
  input: fields({
    boardId,
    ifPosts: Type.Optional(
      Type.Integer({ minimum: 0, description: 'post_count as you read it; CONTENT_CHANGED if it is another by now' }),
    ),
    moveTo: Type.Optional(
      Type.String({ description: 'Id or url of the board that gets its posts; needs post:update', names: 'board' }),
    ),
  }),
  output: Type.Undefined(),
  subject: noun.subject,
  run: (ctx, input, subject) =>
    change(ctx, async (tx) => {
      const { db, record } = tx
      await lock(db, 'post_counts')
      const count = input.ifPosts === undefined ? undefined : await heldPostCount(db, subject.boardId)
      if (count !== input.ifPosts) throw new AppError('CONTENT_CHANGED', `The board has ${counted(count ?? 0, 'post')} by now, and not ${input.ifPosts}.`) // prettier-ignore
      if (input.moveTo !== undefined) {
        if (!can(ctx.actor, 'post:update')) throw notAllowed(['post:update'])
        const other = await noun.readable(tx, input.moveTo)
        if (other.boardId === subject.boardId) throw sameBoard(input.moveTo)
        await movePosts(db, subject.boardId, other.boardId)
      }
      if (!(await deleteBoard(db, subject.boardId))) throw noun.notFound(input.boardId)
      record('board.deleted', subject.boardId, subject.name)
      return undefined
    }),
})

const sameBoard = (value: string) =>
  invalidField({
    code: 'SAME_BOARD',
    message: 'moveTo must be another board than the one that is deleted.',
    field: 'moveTo',
    rule: 'another board than the one that is deleted',
    value,
  })

export const checkSlug = operation({
  id: 'boards.checkSlug',
  summary: 'Check whether a url is free for a board',
  http: 'POST /boards/check-slug 200',
  access: ['board:create', 'board:update'],
  errors: ['BOARD_URL_MISSING'],
  input: fields({ url: Type.Optional({ ...url, minLength: 0 }) }),
  output: Type.Object({ available: Type.Boolean() }),
  async run({ db }, input) {
    if (!input.url) throw new AppError('BOARD_URL_MISSING', 'A url is needed.')
    const slug = await slugOf(input.url)
    return { available: slug !== '' && !noun.isReserved(slug) && (await findBoard(db, slug)) === undefined }
  },
})

/** Advice only, as names need not be unique. Letter case and a leading emoji do not count. */
export const checkName = operation({
  id: 'boards.checkName',
  summary: 'Check whether a board name is unused (deprecated: boards may share a name)',
  http: 'POST /boards/check-name 200',
  access: 'board:create',
  errors: ['BOARD_NAME_MISSING'],
  input: fields({ name: Type.Optional({ ...name, minLength: 0 }) }),
  output: Type.Object({ available: Type.Boolean() }),
  async run({ db }, input) {
    const issue = {
      code: 'BOARD_NAME_MISSING',
      message: 'A name is needed.',
      field: 'name',
      rule: 'text of 1 to 50 characters',
    }
    if (!input.name) throw new AppError('BOARD_NAME_MISSING', issue.message, { errors: [issue] })
    return { available: (await findBoardNamed(db, searchKey(input.name))) === undefined }
  },
})

const pageOfBoards = async ({ db, actor }: CachedContext, filter: BoardFilter, page: PageInput) =>
  pageOf(BOARDS, page, {
    total: await boardTotal(db, filter),
    find: (after) => noun.atCursor(db, filter, after),
    countAfter: (cursor) => boardsAfter(db, filter, cursor),
    read: (slice) => listBoards(db, filter, slice),
    show: (rows) => rows.map((row) => toBoard(actor, row)),
  })

const toBoard = (actor: Actor, { boardId: id, ...row }: BoardRow): Board => ({
  boardId: id,
  name: row.name,
  url: row.url,
  color: row.color,
  display: row.display === 1,
  view_voters: row.view_voters === 1,
  createdAt: row.createdAt,
  post_count: String(row.post_count),
  may: boardPolicy.may(actor, row),
  ...(row.description !== '' && { description: row.description }),
  ...(row.template !== '' && { template: row.template }),
  ...(row.posting !== 'everyone' && { posting: row.posting }),
  ...(row.sort !== 'trending' && { sort: row.sort }),
  ...(row.archived === 1 && { archived: true }),
  ...(row.hides_votes === 1 && { hides_votes: true }),
})
