import * as Type from 'typebox'
import { stemOf } from '../../core/search/stem.js'
import { indexWords } from '../../core/words.js'
import { MOST_REASONS, textsMergedInto } from '../../db/merges.js'
import type { PostView } from '../../db/posts/row.js'
import { can } from './access.js'
import type { CachedContext } from './context.js'

/** What was merged into a post says words that the post itself does not have. */
export const mergedReason = (description: string, posts: string) =>
  Type.Optional(
    Type.Object({ posts: Type.Integer({ description: posts }), words: Type.Array(Type.String()) }, { description }),
  )

export const SimilarReason = Type.Object({
  postId: Type.String({ format: 'uuid' }),
  words: Type.Array(Type.String(), { description: 'Words of the title that the post has, or forms of them' }),
  merged: mergedReason(
    'Words that only what was merged into it has; absent if there are none',
    `Posts merged into it that have such a word, of the ${MOST_REASONS} merged last`,
  ),
})
export type SimilarReason = Type.Static<typeof SimilarReason>

/** Whether a text has a word, a longer one that begins with it, or another form of it: so the search finds it. */
function finder(text: string): (word: string) => boolean {
  const words = indexWords(text)
  const stems = new Set(words.map(stemOf))
  return (word) => stems.has(stemOf(word)) || words.some((each) => each.startsWith(word))
}

/** Characters of a text that are looked at: the rest of a very long one would hold up other requests. */
const MOST_READ = 8000

const textOf = ({ title, contentMarkdown }: { title: string; contentMarkdown: string | null }) =>
  `${title} ${(contentMarkdown ?? '').slice(0, MOST_READ)}`

/** Why each of these posts is like a title of these words. */
export async function reasonsOf(
  { db, actor }: Pick<CachedContext, 'db' | 'actor'>,
  words: readonly string[],
  posts: readonly PostView[],
): Promise<SimilarReason[]> {
  const own = posts.map((post) => words.filter(finder(textOf(post))))
  const asked = posts.filter((_, at) => own[at]?.length !== words.length).map(({ postId }) => postId)
  const merged = (await textsMergedInto(db, asked, { hidden: can(actor, 'board:read') })).map((row) => ({
    rootId: row.rootId,
    has: finder(textOf(row)),
  }))
  return posts.map(({ postId }, at) => {
    const has = own[at] ?? []
    const lacking = words.filter((word) => !has.includes(word))
    const saying = merged.filter((each) => each.rootId === postId && lacking.some(each.has))
    const said = lacking.filter((word) => saying.some((each) => each.has(word)))
    return {
      postId,
      words: has,
      ...(said.length > 0 && { merged: { posts: saying.length, words: said } }),
    }
  })
}
