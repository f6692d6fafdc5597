import { AppError } from '../core/errors.js'
import { guessedKind } from '../core/statuskinds.js'
import { astutoPages } from './astutoapi.js'
import { isJson } from './lib/jsonfiles.js'
import { fromDatabase, type ForeignDatabase } from './lib/foreigndatabase.js'
import { given as field, textIn } from './lib/values.js'
import { timeOf } from './logchimp.js'
import { isAddress, type Given, type Source, type SourceRecord } from './source.js'

/** Its numbers: a post that everybody sees, a person that is blocked, and one that is deleted. */
const [APPROVED, BLOCKED, DELETED] = [0, 1, 2]

/** Its PostgreSQL database, of any version: what a version has is told by its columns. Or what its API answers. */
export const astuto: Source = {
  from: 'the address of its PostgreSQL database, a file that has it, or a folder with the JSON of its API',
  takesAddress: true,
  read: (given) => (!isAddress(given.from) && isJson(given.from) ? astutoPages(given) : database(given)),
}

const database = fromDatabase(records)

async function* records(database: ForeignDatabase, note: Given['note']): AsyncGenerator<SourceRecord> {
  if (!(await database.columns('posts')).has('post_status_id'))
    throw new AppError('USAGE', 'This is no database of Astuto: it has no table of its posts.')
  const has = async (table: string, column: string) => (await database.columns(table)).has(column)
  if (await has('boards', 'tenant_id'))
    for await (const { count } of database.rows('select count(distinct tenant_id)::int as count from boards'))
      if (Number(count) > 1) throw new AppError('USAGE', 'The database has more than one site. Copy one of them to a database of its own.') // prettier-ignore
  const isThere = (await has('users', 'status')) ? `users.status <> ${DELETED}` : 'true'
  const isShown = (await has('posts', 'approval_status')) ? `approval_status = ${APPROVED}` : 'true'
  for await (const row of database.rows('select * from boards order by "order", id'))
    yield { type: 'board', sourceId: textIn(row.id), name: textIn(row.name), ...field('url', row.slug) }
  for await (const row of database.rows('select * from post_statuses order by "order", id'))
    yield {
      type: 'status',
      sourceId: textIn(row.id),
      name: textIn(row.name),
      kind: guessedKind(textIn(row.name)),
      ...field('color', row.color),
    }
  for await (const row of database.rows(`select * from users where ${isThere} order by id`))
    yield {
      type: 'person',
      sourceId: textIn(row.id),
      ...field('name', row.full_name),
      ...field('email', row.email),
      ...field('passwordHash', row.encrypted_password),
      ...field('createdAt', timeOf(row.created_at)),
      ...(Number(row.status) === BLOCKED && { isBlocked: true }),
    }
  const shown = `select id from posts where ${isShown}`
  const author = (column: string) => `(select id from users where id = ${column} and ${isThere}) as author`
  for await (const row of database.rows(
    `select posts.*, ${author('posts.user_id')} from posts where id in (${shown}) order by created_at, id`,
  ))
    // prettier-ignore
    yield {
      type: 'post',
      sourceId: textIn(row.id),
      title: textIn(row.title),
      text: textIn(row.description),
      ...field('board', row.board_id),
      ...field('status', row.post_status_id),
      ...field('author', row.author),
      ...field('createdAt', timeOf(row.created_at)),
      paths: [`/posts/${textIn(row.slug) || textIn(row.id)}`],
    }
  for await (const row of database.rows(`select likes.* from likes join users on users.id = likes.user_id and ${isThere} where post_id in (${shown}) order by likes.id`)) // prettier-ignore
    yield { type: 'vote', sourceId: textIn(row.id), post: textIn(row.post_id), person: textIn(row.user_id), ...field('createdAt', timeOf(row.created_at)) } // prettier-ignore
  for await (const row of database.rows(
    `select comments.*, ${author('comments.user_id')} from comments where post_id in (${shown}) order by created_at, id`,
  ))
    // prettier-ignore
    if (textIn(row.body).trim() !== '')
      yield {
        type: 'comment',
        sourceId: textIn(row.id),
        post: textIn(row.post_id),
        ...field('author', row.author),
        ...field('parent', row.parent_id),
        text: textIn(row.body),
        ...field('createdAt', timeOf(row.created_at)),
        isUpdate: row.is_post_update === true,
      }
  for await (const { count } of database.rows(`select count(*)::int as count from posts where not (${isShown})`))
    if (Number(count) > 0) note(`Posts that were not approved are not imported: ${textIn(count)}.`)
}
