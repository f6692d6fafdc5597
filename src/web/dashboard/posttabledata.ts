import { AppError } from '../../core/errors.js'
import type { ViewInput } from '../../service/lib/views.js'
import { facets as postFacets } from '../../service/postfacets.js'
import * as posts from '../../service/postlists.js'
import { move as movePosts } from '../../service/postmoves.js'
import * as views from '../../service/views.js'
import { pageNumber, withParameters } from '../kit/addresses.js'
import { Redirect, type LiveView, type View } from '../kit/page.js'
import { nameStanding } from '../parts/mergetarget.js'
import { assertTidy, boardsWith, roadmapsWith, tagsOffered } from '../parts/lists.js'
import { nobodyIn, unclearPerson, type Unclear } from '../parts/personfilter.js'
import { askedOf, inTable, listedInTable } from '../parts/postquery.js'

/** Posts on a page. One bulk change takes up to 100. */
export const SIZE = 50

const NOTHING = { posts: [], total_count: 0, total_pages: 0 }

const shownOf = ({ posts: rows, total_count: total, total_pages: pages, is_capped: isCapped }: Listed) => ({
  rows,
  total,
  pages,
  isCapped,
})
type Listed = Pick<Awaited<ReturnType<typeof posts.list.run>>, 'posts' | 'total_count' | 'total_pages' | 'is_capped'>

/** What the table of posts shows. */
export async function load(view: LiveView) {
  assertTidy(view)
  await nameStanding(view, 'mergedStays')
  const asked = askedOf(view)
  const { sort: _order, ...filter } = inTable(asked)
  const { views: saved } = await view.call(views.list, {})
  const { rows: tags } = await tagsOffered(view)
  const unclear = await unclearPerson(view, 'author')
  const nothing = async (about: Unclear | undefined, error?: AppError) => ({
    ...shownOf(NOTHING),
    saved,
    tags,
    opened: undefined,
    spam: undefined,
    places: undefined,
    unclear: about,
    error,
    filter: asked as ViewInput,
    facets: await view.call(postFacets, {}),
  })
  if (unclear) return nothing(unclear)
  try {
    const list = await view.call(posts.list, {
      ...listedInTable(asked),
      page: pageNumber(view),
      limit: SIZE,
      votes: false,
    })
    if (list.total_count > 0 && pageNumber(view) > list.total_pages)
      throw new Redirect(withParameters(view.url, { page: list.total_pages }))
    const opened = saved.find(({ viewId }) => viewId === list.view?.viewId)
    const shown: ViewInput = { ...opened?.filter, ...asked }
    const places = view.may(movePosts) && list.posts.length > 0 ? await placesOf(view) : undefined
    return {
      ...shownOf(list),
      saved,
      tags,
      opened,
      places,
      unclear: undefined,
      error: undefined,
      spam: shown.spam || !view.can('board:read') ? undefined : await spamIn(view, asked),
      filter: shown,
      facets: await view.call(postFacets, filter),
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error
    return nothing(nobodyIn(view, 'author', error), error)
  }
}

/** How many posts that the table leaves out pass the filter. */
async function spamIn(view: LiveView, asked: ReturnType<typeof askedOf>) {
  const found = await view.call(posts.list, { ...asked, spam: true, limit: 1, votes: false })
  const count = view.words.number(found.total_count)
  return found.total_count === 0 ? undefined : found.is_capped ? `${count}+` : count
}

const placesOf = async (view: View) => ({
  boards: (await boardsWith(view)).rows,
  roadmaps: (await roadmapsWith(view)).rows,
})
