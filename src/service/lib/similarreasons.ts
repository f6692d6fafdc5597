import * as Type from 'typebox'
import { comparedOf, joined, saidBy, type Part } from '../../core/search/alike.js'
import { stemOf } from '../../core/search/stem.js'
import { indexWords, pairsOf } from '../../core/words.js'
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
  score: Type.Number({
    description: 'How much of the words its title says, rare ones counting more; 1 is all of them',
  }),
  words: Type.Array(Type.String(), { description: 'Words of the title that the post has, or others for them' }),
  merged: mergedReason(
    'Words that only what was merged into it has; absent if there are none',
    `Posts merged into it that have such a word, of the ${MOST_REASONS} merged last`,
  ),
})
export type SimilarReason = Type.Static<typeof SimilarReason>

/** Whether a text has a word, a longer one that begins with it, or another form of it: so the search finds it. */
function finder(text: string): (part: Part) => boolean {
  const words = indexWords(text)
  const stems = new Set(words.map(stemOf))
  const pairs = new Set(pairsOf(text))
  return ({ word, key, isPair }) => (isPair ? pairs.has(key) : stems.has(key) || words.some((each) => each.startsWith(word))) // prettier-ignore
}

/** A title has a word, or another one for it, from this value of `saidBy` on. */
const SAYS = 0.5

/** Like `finder`, and also finds words of the same meaning in the title. */
function finderOf(title: string, text: string): (part: Part) => boolean {
  const [has, compared] = [finder(`${title} ${text}`), comparedOf(title)]
  return (part) => has(part) || saidBy(part, compared) >= SAYS
}

/** Characters of a text that are looked at: the rest of a very long one would hold up other requests. */
const MOST_READ = 8000

/** Why each of these posts is like a title of these words. */
export async function reasonsOf(
  { db, actor }: Pick<CachedContext, 'db' | 'actor'>,
  parts: readonly Part[],
  posts: readonly { row: PostView; score: number }[],
): Promise<SimilarReason[]> {
  const own = posts.map(({ row }) => parts.filter(finderOf(row.title, (row.contentMarkdown ?? '').slice(0, MOST_READ))))
  const asked = posts.filter((_, at) => own[at]?.length !== parts.length).map(({ row }) => row.postId)
  const merged = (await textsMergedInto(db, asked, { hidden: can(actor, 'board:read') })).map((row) => ({
    rootId: row.rootId,
    has: finderOf(row.title, (row.contentMarkdown ?? '').slice(0, MOST_READ)),
  }))
  return posts.map(({ row: { postId }, score }, at) => {
    const has = own[at] ?? []
    const lacking = parts.filter((part) => !has.includes(part))
    const saying = merged.filter((each) => each.rootId === postId && lacking.some(each.has))
    const said = lacking.filter((part) => saying.some((each) => each.has(part)))
    return {
      postId,
      score: Math.round(Math.min(1, score) * 100) / 100,
      words: joined(has),
      ...(said.length > 0 && { merged: { posts: saying.length, words: joined(said) } }),
    }
  })
}
