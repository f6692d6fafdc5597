import type { Target } from './target.js'

/** What the triggers would have counted. */
export async function writeCounts(target: Target, weight: (time: string) => string): Promise<void> {
  const counted = (board: string, roadmap: string) =>
    `insert into post_counts (board, roadmap, display, value) select ${board}, ${roadmap}, case when is_spam = 1 then 3 else display end, count(*) from posts group by 1, 2, 3`
  const [board, roadmap] = [`coalesce("boardId", '')`, "coalesce(roadmap_id, '')"]
  for (const [b, r] of [[board, roadmap], [board, `'*'`], [`'*'`, roadmap], [`'*'`, `'*'`]] as const) await target.run(counted(b, r)) // prettier-ignore
  await target.run(
    `update boards set post_count = coalesce((select sum(value) from post_counts where board = "boardId" and roadmap = '*'), 0)`,
  )
  await target.run(`create table counted as select "userId" as person, count(*) as value from posts group by 1`)
  await target.run(`create unique index counted_person on counted (person)`)
  await target.run(`update users set post_count = coalesce((select value from counted where person = "userId"), 0)`)
  await target.run('drop table counted')
  await target.run(`create table counted as select "userId" as person, count(*) as value from votes group by 1`)
  await target.run(`create unique index counted_person on counted (person)`)
  await target.run(`update users set vote_count = coalesce((select value from counted where person = "userId"), 0)`)
  await target.run('drop table counted')
  await target.run(`create table weighed as select "postId" as post, sum(${weight('votes."createdAt"')}) as value from votes group by 1`) // prettier-ignore
  await target.run(`create unique index weighed_post on weighed (post)`)
  await target.run(
    `update posts set trending = ${weight('posts."createdAt"')} + coalesce((select value from weighed where post = "postId"), 0)`,
  )
  await target.run('drop table weighed')
  await target.run(`update counters set value = (select count(*) from boards) where name = 'boards'`)
  await target.run(
    `update counters set value = (select coalesce(sum(display), 0) from boards) where name = 'boards.public'`,
  )
  await target.run(`update counters set value = (select count(*) from users) where name = 'users'`)
  await target.run(`update counters set value = (select count(*) from roadmaps) where name in ('roadmaps', 'roadmaps.public')`) // prettier-ignore
  await target.run(`update counters set value = (select coalesce(max(number), 0) from posts) where name = 'post_numbers'`) // prettier-ignore
}
