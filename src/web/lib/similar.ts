import { searchWords } from '../../core/words.js'
import type { Post } from '../../service/lib/postshapes.js'
import * as posts from '../../service/posts.js'
import type { LiveView } from './page.js'

/** Posts shown beside a new one. */
const MAX_SIMILAR = 5
/** Shorter words say little, in scripts that have them. */
const MIN_LENGTH = 3
/** Words that are looked for, the longest. */
const MAX_WORDS = 5

/** Posts that share words with a title, those with the most of them first. */
export async function similarTo(view: LiveView, title: string): Promise<Post[]> {
  const words = searchWords(title.slice(0, 200))
    .filter((word) => word.length >= MIN_LENGTH || /\p{Lo}/u.test(word))
    .toSorted((one, other) => other.length - one.length)
    .slice(0, MAX_WORDS)
  const found = new Map<string, { post: Post; shared: number }>()
  for (const search of new Set([words.join(' '), ...words])) {
    if (search === '') continue
    const { posts: rows } = await view.call(posts.search, { words: search, limit: MAX_SIMILAR, votes: false })
    for (const post of rows) {
      const entry = found.get(post.postId)
      if (entry) entry.shared++
      else found.set(post.postId, { post, shared: 1 })
    }
  }
  const ranked = Array.from(found.values()).toSorted((one, other) => other.shared - one.shared)
  return ranked.slice(0, MAX_SIMILAR).map(({ post }) => post)
}
