import { nameOf, postCells, type ListedPost } from '../service/lib/cells.js'
import type { PostRow } from '../service/lib/postshapes.js'
import type { PostFacets } from '../service/postfacets.js'
import type { Move } from '../service/posthistory.js'
import type { Reported } from '../service/reports.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

const number: Column<{ number: number }> = {
  head: 'NUMBER',
  field: 'number',
  text: (post) => String(post.number),
  shown: (post) => `#${post.number}`,
  drop: 0,
  whole: true,
}

export const columns: Column<ListedPost>[] = [
  number,
  { head: 'TITLE', field: 'title', text: postCells.title, drop: 0 },
  { head: 'BOARD', field: 'board.name', text: postCells['board.name'], drop: 2 },
  { head: 'VOTES', field: 'voters.votesCount', text: postCells['voters.votesCount'], right: true, drop: 0 },
  { head: 'COMMENTS', field: 'commentsCount', text: postCells.commentsCount, right: true },
  {
    head: 'ROADMAP',
    field: 'roadmap.name',
    text: postCells['roadmap.name'],
    shown: ({ roadmap }, paint) => (roadmap ? paint.hex(roadmap.color)(roadmap.name) : ''),
    drop: 1,
  },
  { head: 'AUTHOR', text: postCells.author, drop: 3 },
  {
    head: 'AGE',
    field: 'createdAt',
    text: postCells.createdAt,
    shown: (post, _paint, now) => ago(post.createdAt, now),
    drop: 2,
  },
  { head: 'SLUG', field: 'slug', text: postCells.slug, drop: 4, whole: true },
  { head: 'ID', field: 'postId', text: postCells.postId },
  { head: 'MARKS', text: postCells.marks, drop: 0, ifAny: true },
  { head: 'TAGS', field: 'tags', text: postCells.tags, drop: 2, ifAny: true },
]
export const detailColumns: Column<ListedPost>[] = [
  ...columns,
  { head: 'TEXT', field: 'contentMarkdown', text: (post) => post.contentMarkdown ?? '' },
]

interface FacetRow {
  of: 'board' | 'roadmap'
  name: string
  id: string
  posts: string
}

/** What a facet calls posts without a board or a roadmap, as filters do. */
const NO_PLACE = { id: 'none', name: '(none)' }

export function facetRows({ boards, roadmaps }: PostFacets): FacetRow[] {
  const text = (posts: number, isCapped = false) => (isCapped ? `${posts}+` : String(posts))
  return [
    ...boards.counts.map(({ board, posts }) => {
      const { url: id = NO_PLACE.id, name = NO_PLACE.name } = board ?? {}
      return { of: 'board' as const, name, id, posts: text(posts, boards.is_capped) }
    }),
    ...roadmaps.counts.map(({ roadmap, posts }) => {
      const { url: id = NO_PLACE.id, name = NO_PLACE.name } = roadmap ?? {}
      return { of: 'roadmap' as const, name, id, posts: text(posts, roadmaps.is_capped) }
    }),
  ]
}

export const facetColumns: Column<FacetRow>[] = [
  { head: 'OF', text: (row) => row.of, drop: 0 },
  { head: 'NAME', text: (row) => row.name, drop: 0 },
  { head: 'URL', text: (row) => row.id, drop: 1, whole: true },
  { head: 'POSTS', text: (row) => row.posts, right: true, drop: 0 },
]

export const historyColumns: Column<Move>[] = [
  {
    head: 'WHEN',
    field: 'movedAt',
    text: (move) => move.movedAt,
    shown: (move, _paint, now) => ago(move.movedAt, now),
    drop: 0,
  },
  { head: 'OF', field: 'kind', text: (move) => move.kind, drop: 0 },
  {
    head: 'FROM',
    field: 'from.name',
    text: ({ from, merged }) => (merged ? `#${merged.number}` : (from?.name ?? '')),
    drop: 0,
  },
  { head: 'TO', field: 'to.name', text: (move) => move.to?.name ?? '', drop: 0 },
  { head: 'MESSAGE', field: 'comment_id', text: (move) => move.comment_id ?? '', drop: 1, short: true, ifAny: true },
  {
    head: 'BY',
    field: 'movedBy.username',
    text: (move) => (move.movedBy ? nameOf(move.movedBy) : ''),
    drop: 1,
    ifAny: true,
  },
]

export const reportedColumns: Column<Reported>[] = [
  { head: 'KIND', text: ({ kind }) => kind, drop: 0 },
  { head: 'STATE', text: (row) => (row.is_open ? 'waits' : 'reviewed'), drop: 0 },
  { head: 'ID', text: (row) => row.id, drop: 0, short: true },
]

export const rowColumns: Column<PostRow>[] = [
  number,
  { head: 'TITLE', field: 'title', text: (post) => post.title, drop: 0 },
  { head: 'SLUG', field: 'slug', text: (post) => post.slug, drop: 2, whole: true },
  { head: 'ID', field: 'postId', text: (post) => post.postId, drop: 3, short: true },
]
