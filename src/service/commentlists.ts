import * as Type from 'typebox'
import type { Permission } from '../core/permissions.js'
import {
  findSiteComment,
  listSiteComments,
  MOST_READ,
  searchSiteComments,
  type SiteComment,
  type SiteCommentFilter,
} from '../db/commentlists.js'
import type { Sorting } from '../db/paging.js'
import { can } from './lib/access.js'
import { commentCells } from './lib/cells.js'
import { activitiesOf, Activity } from './lib/commentshapes.js'
import type { CachedContext } from './lib/context.js'
import { csvOf } from './lib/csvof.js'
import { operation } from './lib/operation.js'
import { pageFields, uncountedKeys, uncountedPage, type Listing } from './lib/paging.js'
import { authorIdFrom } from './lib/postplaces.js'
import { fields, someOf } from './lib/schemas.js'
import { viewerOf } from './lib/sessions.js'
import { textField, textMatcher } from './lib/textsearch.js'
import { orderFields, periodFields, periodFrom } from './lib/times.js'
import { visiblePost } from './lib/whichpost.js'

/** Whoever looks after the site. A list for visitors could read all comments of private boards to find a public one. */
const TEAM = [
  'dashboard:read',
  'comment:view_internal',
  'comment:update:any',
  'comment:delete:any',
] as const satisfies Permission[]

const COMMENTS: Listing<SiteComment> = { row: 'comment', rows: 'Comments', id: 'id', pages: 1000 }

/** A comment with its post. */
export const SiteActivity = Type.Object({
  ...Activity.properties,
  post: Type.Object({
    postId: Type.String({ format: 'uuid' }),
    number: Type.Integer(),
    title: Type.String(),
    slug: Type.String(),
  }),
})
export type SiteActivity = Type.Static<typeof SiteActivity>

export const listAll = operation({
  id: 'comments.listAll',
  summary: 'List the comments on all posts that you may see, newest first; for the team',
  http: 'GET /comments 200',
  access: TEAM,
  errors: ['POST_NOT_FOUND'],
  input: fields({
    ...orderFields('desc'),
    ...pageFields(COMMENTS),
    visibility: someOf(['public', 'internal'], {
      default: ['public', 'internal'],
      description: 'Which comments; internal ones need comment:view_internal',
    }),
    spam: Type.Optional(
      Type.Boolean({
        description:
          'Only comments hidden as spam, or only others; hidden ones need comment:update:any, except your own',
      }),
    ),
    authorId: Type.Optional(Type.String({ description: 'Only by this user: id or user name', names: 'user' })),
    post_id: Type.Optional(Type.String({ description: 'Only on this post: id, slug or number', names: 'post' })),
    query: textField('comments', { most: MOST_READ }),
    ...periodFields('comments written'),
  }),
  output: Type.Object({
    activity: Type.Array(SiteActivity),
    ...uncountedKeys,
  }),
  async run(ctx, { visibility, spam, authorId, post_id: post, query, created, since, until, ...page }) {
    const { db, actor } = ctx
    const filter: SiteCommentFilter & Sorting = {
      created,
      visibility: can(actor, 'comment:view_internal') ? visibility : visibility.filter((word) => word === 'public'),
      spam: can(actor, 'comment:update:any'),
      isSpam: spam,
      privatePosts: can(actor, 'board:read'),
      viewer: await viewerOf(ctx),
      author: await authorIdFrom(ctx, authorId),
      post: post === undefined ? undefined : (await visiblePost(ctx, post)).postId,
      period: periodFrom({ since, until }),
    }
    const hasText = textMatcher(query)
    const { rows: activity, keys } = await uncountedPage(COMMENTS, page, {
      find: (after) => findSiteComment(db, filter, after),
      read: (slice) =>
        hasText
          ? searchSiteComments(db, filter, slice, ({ body }) => hasText(body))
          : listSiteComments(db, filter, slice),
      show: (rows) => activitiesShown(ctx, rows),
    })
    return { activity, ...keys }
  },
})

/** Comments with their posts, in the order given. */
export async function activitiesShown(ctx: CachedContext, rows: readonly SiteComment[]): Promise<SiteActivity[]> {
  const shown = await activitiesOf(ctx, rows)
  return rows.map(({ post_id: postId, postNumber: number, postTitle: title, postSlug: slug }, index) => ({
    ...(shown[index] as Activity), // one for each row
    post: { postId, number, title, slug },
  }))
}

export const downloadAll = csvOf(listAll, {
  id: 'comments.download',
  summary: 'Download the comments on all posts as CSV or JSON lines; for the team',
  http: 'GET /export/comments 200',
  file: 'comments',
  rows: ({ activity }) => activity,
  cells: commentCells,
  fixed: { query: '' }, // a search reads only the first comments
})
