import { NIL } from 'uuid'
import { AppError } from '../../core/errors.js'
import { links } from '../../core/pagelinks.js'
import { audience } from '../../service/audience.js'
import * as comments from '../../service/comments.js'
import * as events from '../../service/events.js'
import * as labs from '../../service/labs.js'
import * as moderation from '../../service/moderation.js'
import { history } from '../../service/posthistory.js'
import * as lists from '../../service/postlists.js'
import { move as movePosts } from '../../service/postmoves.js'
import * as posts from '../../service/posts.js'
import { tag as tagPosts } from '../../service/posttags.js'
import { reported } from '../../service/reports.js'
import { told } from '../../service/told.js'
import * as users from '../../service/users.js'
import * as votes from '../../service/votes.js'
import { segments } from '../../service/votesegments.js'
import { pageNumber, within, withParameters } from '../kit/addresses.js'
import { Redirect, type LiveView, type View } from '../kit/page.js'
import { boardsWith, roadmapsWith, tagsOffered } from '../parts/lists.js'
import { askedOf, listedInTable } from '../parts/postquery.js'
import { COMMENTS } from '../parts/wholepost.js'
import { HOME as LIST } from './posts.js'
import { SIZE } from './posttabledata.js'

/** Events of the log that are shown. */
const EVENTS = 10
/** Domains, roles and tags of voters that are shown. */
const SEGMENTS = 10
/** Voters that are shown. */
const VOTERS = 10

/** The page of the dashboard that led here: a list of posts with its filter, or the inbox. */
export const cameFromList = ({ query }: Pick<View, 'query'>): string | undefined => {
  const from = within(query.from)
  return from !== undefined && /^\/dashboard(\/posts)?([?#]|$)/.test(from) ? from : undefined
}

/** A page or form of this post, with the list it belongs to. */
export const linkWithList = (view: Pick<View, 'url' | 'path'>, slug: string, verb = ''): string =>
  withParameters(links.teamPost(slug) + verb + view.url.slice(view.path.length), {})

/** The posts before and after this one, where it was opened from a list. One that has left the filter keeps its place. */
async function neighboursOf(view: LiveView, postId: string) {
  const from = cameFromList(view)
  if (!from?.startsWith(LIST)) return {}
  const { searchParams } = new URL(from, 'http://site.invalid')
  const query = Object.fromEntries(searchParams)
  const asked = askedOf({ query, queried: (name) => searchParams.getAll(name) })
  const rows = await view
    .call(lists.list, { ...listedInTable(asked), page: pageNumber({ query }), limit: SIZE, votes: false })
    .then((list) => list.posts)
    .catch((error: unknown) => {
      if (error instanceof AppError && error.status < 500) return []
      throw error
    })
  const found = rows.findIndex((row) => row.postId === postId)
  const place = found < 0 ? Number(view.query.row) : found
  const at = (row: number) => {
    const slug = rows[row]?.slug
    return slug === undefined ? undefined : withParameters(links.teamPost(slug) + view.url.slice(view.path.length), { row, page: undefined, at: undefined }) // prettier-ignore
  }
  return { previous: at(place - 1), next: at(found < 0 ? place : place + 1) }
}

/** What the page of one post shows, as far as the person may read it. */
export async function load(view: LiveView) {
  const { slug = '' } = view.params
  const { post } = await view.call(posts.show, { id: slug })
  if (post.slug !== slug && !view.form.error)
    throw new Redirect(view.url.replace(/^\/dashboard\/posts\/[^/?]+/i, () => links.teamPost(post.slug)))
  const named = { post_id: post.postId }
  const list = await view.call(comments.list, { ...named, page: pageNumber(view), limit: COMMENTS })
  if (list.total_count > 0 && pageNumber(view) > list.total_pages)
    throw new Redirect(withParameters(view.url, { page: list.total_pages > 1 ? list.total_pages : undefined }))
  const places = view.may(movePosts)
    ? { boards: await boardsWith(view, post.board?.url), stages: (await roadmapsWith(view, post.roadmap?.url)).rows }
    : undefined
  const reads = { person: view.may(users.show) && post.author.userId !== NIL, log: view.may(events.list) }
  return {
    post,
    list,
    places,
    tags: view.may(tagPosts) ? (await tagsOffered(view)).rows : undefined,
    audience: places && places.stages.length > 0 ? (await view.call(audience, named)).audience : undefined,
    moves: (await view.call(history, named)).history,
    own: (await view.call(reported, named)).reported,
    item: post.may.includes('spam') ? (await view.call(moderation.show, { id: post.postId })).item : undefined,
    person: reads.person ? (await view.call(users.show, { user: post.author.userId })).user : undefined,
    voters: (await view.call(votes.list, { ...named, limit: VOTERS })).votes,
    segments: view.may(segments) && post.voters.votesCount > 0 ? await view.call(segments, { ...named, limit: SEGMENTS }) : undefined, // prettier-ignore
    isOnBehalf: (await view.call(labs.show, {})).labs.voteOnBehalf,
    log: reads.log ? (await view.call(events.list, { subject: post.postId, created: 'desc', limit: EVENTS })).events : undefined, // prettier-ignore
    told: view.may(told) ? (await view.call(told, named)).told : undefined,
    ...(await neighboursOf(view, post.postId)),
  }
}

export type Data = Awaited<ReturnType<typeof load>>
