import * as Type from 'typebox'
import { boardsWithIds } from '../db/boards.js'
import { MOST_BOARDS, postFacets, type Facet } from '../db/posts/facets.js'
import { MOST_FOUND } from '../db/posts/read.js'
import { listRoadmaps } from '../db/roadmaps.js'
import { can, SIGN_IN_ERRORS } from './lib/access.js'
import { operation } from './lib/operation.js'
import { filterFields, queryField } from './lib/postfilter.js'
import { filterAsked } from './lib/searchquery.js'
import { Place } from './lib/postshapes.js'
import { fields } from './lib/schemas.js'
import { viewField, withView } from './lib/views.js'

/** Roadmaps that are counted, in their order. */
const MOST_ROADMAPS = 100

const counted = <T extends Type.TProperties>(place: T, description: string) =>
  Type.Object({
    counts: Type.Array(Type.Object({ ...place, posts: Type.Integer() }), { description }),
    is_capped: Type.Optional(
      Type.Boolean({
        description: `true if there are at least so many: only the newest ${MOST_FOUND} posts were counted; otherwise absent`,
      }),
    ),
  })

const PostFacets = Type.Object({
  boards: counted(
    { board: Type.Union([Place.board, Type.Null()]) },
    `As if no board was chosen; of the ${MOST_BOARDS} boards with the most posts those that have any, the boards of the filter, and null: no board`,
  ),
  roadmaps: counted(
    { roadmap: Type.Union([Place.roadmap, Type.Null()]) },
    'As if no roadmap was chosen, in their order; null is no roadmap, which needs roadmap:read',
  ),
})
export type PostFacets = Type.Static<typeof PostFacets>

export const facets = operation({
  id: 'posts.facets',
  summary: 'Count the posts of each board and of each roadmap that a filter passes',
  http: 'GET /posts/facets 200',
  access: 'public',
  cache: 'actor',
  errors: [...SIGN_IN_ERRORS, 'NOT_ENOUGH_PERMISSION', 'VIEW_NOT_FOUND'],
  input: fields({ ...filterFields, query: queryField, view: viewField }),
  output: PostFacets,
  async run(ctx, input) {
    const { db, actor } = ctx
    const { input: asked, isNothing } = await withView(ctx, input)
    const filter = await filterAsked(ctx, asked, { isNothing })
    const { boards, roadmaps } = await postFacets(db, filter)
    const ids = [...new Set([...most(boards.posts), ...filter.boards])].filter((id) => id !== null)
    const known = (await boardsWithIds(db, ids)).filter(({ display }) => display === 1 || filter.hidden)
    const ofBoard = (id: string | null) => boards.posts.get(id) ?? 0
    const isReader = can(actor, 'roadmap:read')
    const all = await listRoadmaps(db, { visibility: isReader ? ['public', 'private'] : ['public'] }, { limit: MOST_ROADMAPS }) // prettier-ignore
    const ofRoadmap = (id: string | null) => roadmaps.posts.get(id) ?? 0
    return {
      boards: {
        counts: [
          ...known
            .map(({ boardId, name, url, color, createdAt }) => ({
              board: { boardId, name, url, color, createdAt },
              posts: ofBoard(boardId),
            }))
            .toSorted((one, other) => other.posts - one.posts || (one.board.name < other.board.name ? -1 : 1)),
          { board: null, posts: ofBoard(null) },
        ],
        ...cappedOf(boards),
      },
      roadmaps: {
        counts: [
          ...all.map(({ id, name, url, color, kind }) => ({
            roadmap: { id, name, url, color, kind },
            posts: ofRoadmap(id),
          })),
          // A post of a private roadmap would be among them
          ...(isReader ? [{ roadmap: null, posts: ofRoadmap(null) }] : []),
        ],
        ...cappedOf(roadmaps),
      },
    }
  },
})

const cappedOf = ({ isCapped }: Facet) => (isCapped ? { is_capped: true } : {})

/** The boards that have the most posts. */
const most = (posts: Facet['posts']): (string | null)[] =>
  [...posts]
    .filter(([, count]) => count > 0)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, MOST_BOARDS)
    .map(([id]) => id)
