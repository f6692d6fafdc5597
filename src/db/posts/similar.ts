import { sql } from 'kysely'
import { compiled } from '../cache/compiled.js'
import type { Db } from '../tables.js'
import { conditionsOf, type PostFilter } from './filter.js'
import { ledBy, MOST_SEARCHED } from './read.js'
import { NAMES, OTHERS, type PostView } from './row.js'

/**
 * Posts that several searches find, of each so many of the newest: first those that most searches find, then those of
 * the first search.
 */
export async function similarPosts(
  db: Db,
  filter: PostFilter,
  searches: readonly (readonly string[])[],
  limit: number,
): Promise<PostView[]> {
  const all = searches.map((words) => conditionsOf(db, { ...filter, words }))
  const [first] = all
  if (!first) return []
  const given = { ...first, words: all.flatMap((conditions) => conditions?.words ?? []), limit }
  return compiled(db, 'similarPosts', given, ({ limit: most, words, ...others }) => {
    const slice = { created: 'desc', most: MOST_SEARCHED } as const
    const parts = words.map(
      (word, search) =>
        sql`select * from (select posts.number, ${sql.lit(search)} as search from ${ledBy(db, { ...others, words: [word] }, slice)} order by found.post desc limit ${most}) as part`,
    )
    const best = sql`select number, count(*) as shared, min(search) as search from (${sql.join(parts, sql` union all `)}) as parts
      group by number order by shared desc, search, number desc limit ${most}`
    return {
      compile: () =>
        sql<PostView>`${NAMES} from (${best}) as best cross join posts ${OTHERS} where posts.number = best.number
          order by best.shared desc, best.search, posts.number desc limit ${most}`.compile(db),
    }
  })
}
