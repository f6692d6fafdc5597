import { countSiteComments, type SiteCommentFilter } from './commentlists.js'
import type { PostFilter } from './posts/filter.js'
import { postList } from './posts/list.js'
import type { Db, UserRow } from './tables.js'

/** Of the comments of a person, so many of the newest are looked at. */
const NEWEST_COMMENTS = 1000

const posts = { boards: [], roadmaps: undefined, author: undefined, since: undefined, until: undefined } as const

/** The posts that a person wrote. `hidden` says whether those of private boards are among them. */
const authoredBy = ({ userId: author }: UserRow, hidden: boolean): PostFilter => ({ ...posts, author, hidden })

/** The posts that a person voted for, without those that hide who did, unless `all`. */
export const votedBy = ({ userId: voter }: UserRow, hidden: boolean, all: boolean): PostFilter => ({
  ...posts,
  hidden,
  voter,
  ...(!all && { showsVoters: true }),
})

/** The comments of a person that all readers of their posts see. */
export const commentsBy = ({ userId: author }: UserRow, hidden: boolean): SiteCommentFilter => ({
  visibility: ['public'],
  spam: false,
  isSpam: false,
  viewer: null,
  author,
  period: {},
  privatePosts: hidden,
  newest: NEWEST_COMMENTS,
})

export interface ProfileCounts {
  posts: number
  votes: number
  comments: number
}

/** How many of each a reader finds on the profile. Votes end at those that a list of posts finds by another table. */
export const profileCounts = async (
  db: Db,
  user: UserRow,
  { hidden, all }: { hidden: boolean; all: boolean },
): Promise<ProfileCounts> => ({
  posts: (await postList(db, authoredBy(user, hidden), 'newest').count()).total,
  votes: (await postList(db, votedBy(user, hidden, all), 'newest').count()).total,
  comments: await countSiteComments(db, commentsBy(user, hidden)),
})
