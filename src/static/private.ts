import { list } from '../service/boards.js'
import type { Call } from '../service/lib/operation.js'

/** How many posts are in private boards, which no copy has. */
export async function privatePosts(call: Call): Promise<number> {
  let posts = 0
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { boards, total_pages: all } = await call(list, { limit: 100, page, visibility: ['private'] })
    pages = all
    posts += boards.reduce((sum, { post_count: count }) => sum + Number(count), 0)
  }
  return posts
}
