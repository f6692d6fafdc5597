import { COUNTED_AS_SPAM, SPAM } from '../../core/hidden.js'
import type { Trigger } from '../dialect.js'

type Engine = 'sqlite' | 'postgres'
type Row = 'new' | 'old'

const ofTotal = (name: string, by: string) => `update counters set value = value + (${by}) where name = '${name}'`
/** Hidden posts do not count: nobody else learns of them. */
const ofBoard = (row: Row, by: string) =>
  `update boards set post_count = post_count ${by} where "boardId" = ${row}."boardId" and ${row}.is_spam = 0`
const ofAuthor = (row: Row, column: 'post_count' | 'vote_count', by: string) =>
  `update users set ${column} = ${column} ${by} where "userId" = ${row}."userId"`
const ofPost = (row: Row, set: string) => `update posts set ${set} where "postId" = ${row}."postId"`

/** The rows of a table whose rows may be private, counted twice: all of them, and the public ones. */
const totals = (table: 'boards' | 'roadmaps'): Trigger[] => [
  {
    name: `${table}_added`,
    on: table,
    after: 'insert',
    run: `${ofTotal(table, '1')}; ${ofTotal(`${table}.public`, 'new.display')}`,
  },
  {
    name: `${table}_removed`,
    on: table,
    after: 'delete',
    run: `${ofTotal(table, '-1')}; ${ofTotal(`${table}.public`, '-old.display')}`,
  },
  {
    name: `${table}_shown`,
    on: table,
    after: 'update',
    when: 'new.display <> old.display',
    run: ofTotal(`${table}.public`, 'new.display - old.display'),
  },
]

/** Posts by board and roadmap: '' stands for none, '*' for all. */
function ofList(row: Row, by: 1 | -1): string {
  const display = `case when ${row}.is_spam = ${SPAM} then ${COUNTED_AS_SPAM} else ${row}.display end`
  const [board, roadmap] = [`coalesce(${row}."boardId", '')`, `coalesce(${row}.roadmap_id, '')`]
  const rows = [board, `'*'`].flatMap((b) => [roadmap, `'*'`].map((r) => `(${b}, ${r}, ${display}, ${by})`))
  return `insert into post_counts (board, roadmap, display, value) values ${rows.join(', ')} on conflict (board, roadmap, display) do update set value = post_counts.value + excluded.value`
}

/** Removes posts from the full-text index. `which` is a condition on the posts that were merged into them. */
const unsearched = (engine: Engine, which: string) =>
  `delete from post_search where ${searchKey(engine)} in (select root.number from merges inner join posts on posts."postId" = merges."postId" inner join posts as root on root."postId" = merges."rootId" where ${which})`

const differs = (column: string) => `coalesce(new.${column}, '') <> coalesce(old.${column}, '')`
/** The statement before it locks the row of the board, so its `display` cannot change before the transaction ends. */
const boardDisplay = `(select display from boards where "boardId" = new."boardId")`

/** Added to `posts.trending`: 1 at the start of 2036, and twice as much for every week after that. */
function weight(engine: Engine, time: string): string {
  const weeks =
    engine === 'postgres'
      ? `case when ${time} like '____-__-__T%' then extract(epoch from ${time}::timestamptz - timestamptz '2036-01-01T00:00:00Z') / 604800 else -1000 end`
      : `coalesce((julianday(${time}) - julianday('2036-01-01')) / 7, -1000)`
  // A number with 11 bits of exponent goes that far
  return engine === 'postgres'
    ? `power(2::float8, least(900, greatest(-1000, ${weeks}))::float8)`
    : `pow(2.0, min(900, max(-1000, ${weeks})))`
}

const people: Trigger[] = [
  { name: 'users_added', on: 'users', after: 'insert', run: `update counters set value = value + 1 where name = 'users'` }, // prettier-ignore
  { name: 'users_removed', on: 'users', after: 'delete', run: `update counters set value = value - 1 where name = 'users'` }, // prettier-ignore
]

const posts = (engine: Engine): Trigger[] => [
  {
    name: 'posts_added',
    on: 'posts',
    after: 'insert',
    run: [
      ofList('new', 1),
      ofBoard('new', '+ 1'),
      ofAuthor('new', 'post_count', '+ 1'),
      ofPost('new', `display = ${boardDisplay}`) + ` and is_spam = 0 and display <> ${boardDisplay}`,
    ].join('; '),
  },
  {
    name: 'posts_removed',
    on: 'posts',
    after: 'delete',
    run: [ofList('old', -1), ofBoard('old', '- 1'), ofAuthor('old', 'post_count', '- 1')].join('; '),
  },
  {
    name: 'posts_recounted',
    on: 'posts',
    after: 'update',
    when: `${differs('"boardId"')} or ${differs('roadmap_id')} or new.display <> old.display or (new.is_spam = ${SPAM}) <> (old.is_spam = ${SPAM})`,
    run: [ofList('old', -1), ofList('new', 1)].join('; '),
  },
  {
    name: 'posts_moved',
    on: 'posts',
    after: 'update',
    when: `${differs('"boardId"')} or (new.is_spam = 0) <> (old.is_spam = 0)`,
    run: [
      ofBoard('old', '- 1'),
      ofBoard('new', '+ 1'),
      ofPost('new', `display = ${boardDisplay}`) + ` and is_spam = 0 and display <> ${boardDisplay}`,
    ].join('; '),
  },
  {
    name: 'posts_reassigned',
    on: 'posts',
    after: 'update of "userId"',
    when: differs('"userId"'),
    run: [ofAuthor('old', 'post_count', '- 1'), ofAuthor('new', 'post_count', '+ 1')].join('; '),
  },
  {
    name: 'boards_hidden',
    on: 'boards',
    after: 'update',
    when: 'new.display <> old.display',
    run: 'update posts set display = new.display where "boardId" = new."boardId" and is_spam = 0',
  },
  // The index entry of a post includes the words of merged posts. This program rewrites the entry afterwards. If another
  // program made the change, `doctor search` reports the missing entry.
  {
    name: 'boards_unsearched',
    on: 'boards',
    after: 'update',
    when: 'new.display < old.display',
    run: unsearched(engine, 'posts."boardId" = new."boardId"'),
  },
  {
    name: 'posts_unsearched',
    on: 'posts',
    after: 'delete',
    run: `delete from post_search where ${searchKey(engine)} = old.number`,
  },
  // Another writer than this program does not know the words: search must not find what was there before
  {
    name: 'posts_reworded',
    on: 'posts',
    after: 'update of title, "contentMarkdown"',
    when: `new.title <> old.title or ${differs('"contentMarkdown"')}`,
    run: `delete from post_search where ${searchKey(engine)} = new.number; ${unsearched(engine, 'posts."postId" = new."postId"')}`,
  },
  // A trigger numbers new posts, so that no writer can forget to. A number is never used again.
  {
    name: 'posts_numbered',
    on: 'posts',
    after: 'insert',
    when: 'new.number is null',
    run: [
      `update counters set value = value + 1 where name = 'post_numbers'`,
      ofPost(
        'new',
        `number = (select value from counters where name = 'post_numbers'), trending = ${weight(engine, 'new."createdAt"')}`,
      ),
    ].join('; '),
  },
  {
    name: 'posts_trended',
    on: 'posts',
    after: 'insert',
    when: 'new.number is not null',
    run: ofPost('new', `trending = ${weight(engine, 'new."createdAt"')}`),
  },
  {
    name: 'posts_imported',
    on: 'posts',
    after: 'insert',
    when: 'new."importedVotes" <> 0',
    run: ofPost('new', `"votesCount" = "votesCount" + new."importedVotes"`),
  },
  {
    name: 'posts_import_changed',
    on: 'posts',
    after: 'update',
    when: 'new."importedVotes" <> old."importedVotes"',
    run: ofPost('new', `"votesCount" = "votesCount" + new."importedVotes" - old."importedVotes"`),
  },
]

/** A merge changes the post of a vote, or its person, but never its time. A difference of numbers may be a little too small. */
const votes = (): Trigger[] => {
  const add = ofPost('new', `"votesCount" = "votesCount" + 1, trending = trending + ${weight('sqlite', 'new."createdAt"')}`) // prettier-ignore
  const remove = ofPost('old', `"votesCount" = "votesCount" - 1, trending = max(trending - ${weight('sqlite', 'old."createdAt"')}, ${weight('sqlite', 'posts."createdAt"')})`) // prettier-ignore
  const on = 'votes'
  return [
    { name: 'votes_added', on, after: 'insert', run: [add, ofAuthor('new', 'vote_count', '+ 1')].join('; ') },
    { name: 'votes_removed', on, after: 'delete', run: [remove, ofAuthor('old', 'vote_count', '- 1')].join('; ') },
    { name: 'votes_moved', on, after: 'update', when: 'new."postId" <> old."postId"', run: [remove, add].join('; ') },
    { name: 'votes_reassigned', on, after: 'update', when: 'new."userId" <> old."userId"', run: [ofAuthor('old', 'vote_count', '- 1'), ofAuthor('new', 'vote_count', '+ 1')].join('; ') }, // prettier-ignore
  ]
}

/**
 * The same by statement. PostgreSQL keeps each version of a row until the transaction ends, and reads them all for the
 * next: thousands of votes for one post have to be one update of the post.
 */
const votesByStatement = (): Trigger[] => {
  const on = 'votes'
  const rows = (table: string, value: string) =>
    `select "postId", "userId", ${value} as value, ${value} * ${weight('postgres', '"createdAt"')} as trend from ${table}`
  const ofPosts = (from: string) =>
    `update posts set "votesCount" = "votesCount" + sums.value, trending = greatest(trending + sums.trend, ${weight('postgres', 'posts."createdAt"')}) from (select "postId", sum(value) as value, sum(trend) as trend from (${from}) as changed group by "postId" having sum(value) <> 0 or sum(trend) <> 0) as sums where posts."postId" = sums."postId"`
  const ofPeople = (from: string) =>
    `update users set vote_count = vote_count + sums.value from (select "userId", sum(value) as value from (${from}) as changed group by "userId" having sum(value) <> 0) as sums where users."userId" = sums."userId"`
  const [added, removed] = [rows('added', '1'), rows('removed', '-1')]
  return [
    { name: 'votes_added', on, after: 'insert', referencing: 'new table as added', run: [ofPosts(added), ofPeople(added)].join('; ') }, // prettier-ignore
    { name: 'votes_removed', on, after: 'delete', referencing: 'old table as removed', run: [ofPosts(removed), ofPeople(removed)].join('; ') }, // prettier-ignore
    { name: 'votes_moved', on, after: 'update', referencing: 'old table as removed new table as added', run: [ofPosts, ofPeople].map((count) => count(`${removed} union all ${added}`)).join('; ') }, // prettier-ignore
  ]
}

/** The comments that everybody sees. */
const comments = (): Trigger[] => {
  const isShown = (row: Row) => `${row}.is_internal = 0 and ${row}.is_spam = 0`
  const add = (row: Row, by: string) =>
    `update posts set "commentsCount" = "commentsCount" ${by} where "postId" = ${row}.post_id`
  const moved = 'new.post_id <> old.post_id'
  return [
    { name: 'comments_added', on: 'comments', after: 'insert', when: isShown('new'), run: add('new', '+ 1') },
    { name: 'comments_removed', on: 'comments', after: 'delete', when: isShown('old'), run: add('old', '- 1') },
    { name: 'comments_shown', on: 'comments', after: 'update', when: `${isShown('new')} and not (${isShown('old')})`, run: add('new', '+ 1') }, // prettier-ignore
    { name: 'comments_hidden', on: 'comments', after: 'update', when: `${isShown('old')} and not (${isShown('new')})`, run: add('new', '- 1') }, // prettier-ignore
    { name: 'comments_moved', on: 'comments', after: 'update', when: `${moved} and ${isShown('old')} and ${isShown('new')}`, run: [add('old', '- 1'), add('new', '+ 1')].join('; ') }, // prettier-ignore
  ]
}

/** The same by statement, as for votes. */
const commentsByStatement = (): Trigger[] => {
  const rows = (table: string, value: string) =>
    `select post_id, ${value} as value from ${table} where is_internal = 0 and is_spam = 0`
  const sum = (from: string) =>
    `update posts set "commentsCount" = "commentsCount" + sums.value from (select post_id, sum(value) as value from (${from}) as changed group by post_id having sum(value) <> 0) as sums where posts."postId" = sums.post_id`
  const on = 'comments'
  return [
    { name: 'comments_added', on, after: 'insert', referencing: 'new table as added', run: sum(rows('added', '1')) },
    { name: 'comments_removed', on, after: 'delete', referencing: 'old table as removed', run: sum(rows('removed', '-1')) }, // prettier-ignore
    { name: 'comments_shown', on, after: 'update', referencing: 'old table as removed new table as added', run: sum(`${rows('removed', '-1')} union all ${rows('added', '1')}`) }, // prettier-ignore
  ]
}

const searchKey = (engine: Engine) => (engine === 'postgres' ? 'number' : 'rowid')

/** The same of comments as of posts: what is gone or was changed by another writer is not found. */
const searched = (engine: Engine): Trigger[] => {
  const unindexed = (row: Row) =>
    engine === 'postgres'
      ? `delete from comment_search where number = (select number from indexed_comments where comment_id = ${row}.id)`
      : `delete from comment_search where rowid = ${row}.number`
  const forgotten = engine === 'postgres' ? ['delete from indexed_comments where comment_id = old.id'] : []
  return [
    {
      name: 'comments_unsearched',
      on: 'comments',
      after: 'delete',
      run: [unindexed('old'), ...forgotten].join('; '),
    },
    {
      name: 'comments_reworded',
      on: 'comments',
      after: 'update of body',
      when: 'new.body <> old.body',
      run: unindexed('new'),
    },
  ]
}

/** The history of a post. The ids may be of rows that are gone. */
const moves: Trigger[] = [
  ['roadmap', 'roadmap_id'],
  ['board', '"boardId"'],
].map(([kind, column = '']) => ({
  name: `posts_moved_${kind}`,
  on: 'posts',
  after: `update of ${column}`,
  when: differs(column),
  run: `insert into post_moves ("postId", kind, "fromId", "toId", "movedAt") values (new."postId", '${kind}', old.${column}, new.${column}, new."updatedAt")`,
}))

/** Maintain what is computed from other rows, so that every write is counted and no list has to count rows. */
export const countingTriggers = (engine: Engine): readonly Trigger[] => [
  ...totals('boards'),
  ...people,
  ...totals('roadmaps'),
  ...posts(engine),
  ...(engine === 'postgres' ? [...votesByStatement(), ...commentsByStatement()] : [...votes(), ...comments()]),
  ...searched(engine),
  ...moves,
]
