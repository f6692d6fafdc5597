import { AppError } from '../core/errors.js'
import { fromDatabase, type ForeignDatabase } from './lib/foreigndatabase.js'
import { given as field, textIn } from './lib/values.js'
import type { Given, Source, SourceRecord } from './source.js'

/** Its PostgreSQL database, of 0.6 to 0.9: what a version has is told by its columns. */
export const logchimp: Source = {
  from: 'the address of its PostgreSQL database, or a file that has it',
  takesAddress: true,
  read: fromDatabase(records),
}

export const timeOf = (value: unknown): string => (value instanceof Date ? value.toISOString() : textIn(value))

async function* records(database: ForeignDatabase, note: Given['note']): AsyncGenerator<SourceRecord> {
  const columns = await database.columns('posts')
  if (!columns.has('slugId'))
    throw new AppError('USAGE', 'This is no database of LogChimp: it has no table of its posts.')
  for await (const row of database.rows('select * from boards order by "createdAt", "boardId"'))
    yield {
      type: 'board',
      sourceId: textIn(row.boardId),
      name: textIn(row.name) || 'Board',
      ...field('url', row.url),
      ...field('color', row.color),
      isPrivate: row.display !== true,
      hidesVoters: row.view_voters === false,
    }
  for await (const row of database.rows('select * from roadmaps order by "index", id'))
    yield {
      type: 'status',
      sourceId: textIn(row.id),
      name: textIn(row.name) || 'Roadmap',
      ...field('url', row.url),
      ...field('color', row.color),
      isPrivate: row.display !== true,
    }
  for await (const row of database.rows('select * from users order by "createdAt", "userId"'))
    yield {
      type: 'person',
      sourceId: textIn(row.userId),
      name: textIn(row.name) || textIn(row.username),
      ...field('email', row.email),
      ...field('passwordHash', row.password),
      ...field('createdAt', timeOf(row.createdAt)),
      ...(row.isVerified !== true && { isVerified: false }),
      ...(row.isBlocked === true && { isBlocked: true }),
    }
  for await (const row of database.rows('select * from posts order by "createdAt", "postId"'))
    yield {
      type: 'post',
      sourceId: textIn(row.postId),
      title: textIn(row.title),
      text: textIn(row.contentMarkdown),
      ...field('slugId', row.slugId),
      ...field('author', row.userId),
      ...field('board', row.boardId),
      ...field('status', row.roadmap_id),
      ...field('createdAt', timeOf(row.createdAt)),
      ...field('updatedAt', timeOf(row.updatedAt)),
      paths: [`/posts/${textIn(row.slug)}`],
    }
  for await (const row of database.rows('select * from votes order by "createdAt", "voteId"'))
    yield {
      type: 'vote',
      sourceId: textIn(row.voteId),
      post: textIn(row.postId),
      person: textIn(row.userId),
      ...field('createdAt', timeOf(row.createdAt)),
    }
  if ((await database.columns('posts_comments')).size > 0) yield* comments(database)
  note('Roles and settings are not imported: choose them here.')
}

async function* comments(database: ForeignDatabase): AsyncGenerator<SourceRecord> {
  const rows = database.rows(`
    select c.*, a.post_id, a.author_id, coalesce(c.created_at, a.created_at) as "at" from posts_comments c
    join posts_activity a on a.posts_comments_id = c.id order by "at", c.id`)
  for await (const row of rows)
    if (row.is_spam !== true && textIn(row.body).trim() !== '')
      yield {
        type: 'comment',
        sourceId: textIn(row.id),
        post: textIn(row.post_id),
        ...field('author', row.author_id),
        ...field('parent', row.parent_id),
        text: textIn(row.body),
        ...field('createdAt', timeOf(row.at)),
        isInternal: row.is_internal === true,
      }
}
