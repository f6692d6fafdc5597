import { Archive } from './lib/archive.js'
import { markdownOf } from './lib/markdown.js'
import { Places, type Place } from './lib/places.js'
import { countIn, given as field } from './lib/values.js'
import { rowsOf } from './quackback.js'
import type { Source } from './source.js'

/** The archive of its data. Statuses, categories and tags are ids there, whose names it does not have. */
export const clearflask: Source = {
  from: 'the ZIP archive of its data',
  async *read({ from, note }) {
    const archive = await Archive.open(from)
    const places = new Places()
    try {
      for await (const user of rowsOf(archive, 'users.csv', ['userId']))
        yield* places.once('person', user.userId ?? '', { ...field('name', user.name), ...field('email', user.email), ...field('createdAt', user.created) }) // prettier-ignore
      for await (const row of rowsOf(archive, 'posts.csv', ['ideaId', 'title'])) {
        const { categoryId: board = '', statusId: status = '', authorUserId: author = '' } = row
        const tags = (row.tagIds ?? '').split(/[,;]/).map((tag) => tag.trim()).filter(Boolean) // prettier-ignore
        const named: Place[] = [
          ...(board === '' ? [] : [{ type: 'board' as const, sourceId: board, name: board }]),
          ...(status === '' ? [] : [{ type: 'status' as const, sourceId: status, name: status }]),
          ...tags.slice(0, 20).map((tag) => ({ type: 'tag' as const, sourceId: tag, name: tag })),
          ...(author === '' ? [] : [{ type: 'person' as const, sourceId: author }]),
        ]
        const id = row.ideaId ?? ''
        const post = {
          type: 'post' as const,
          sourceId: id,
          title: row.title ?? '',
          text: await markdownOf(row.description ?? ''),
          ...field('board', board),
          ...field('status', status),
          ...field('author', author),
          tags: [...new Set(tags.slice(0, 20))],
          ...field('createdAt', row.created),
          importedVotes: Math.max(countIn(row.voteValue), countIn(row.votersCount)),
          paths: [`/post/${id}`],
        }
        yield* places.before(post, named)
        const response = await markdownOf(row.response ?? '')
        if (response.trim() !== '')
          yield { type: 'comment', sourceId: `response ${id}`, post: id, text: response, isUpdate: true, ...field('createdAt', row.created) } // prettier-ignore
      }
      for await (const row of rowsOf(archive, 'comments.csv', ['commentId'])) {
        const { authorUserId: author = '' } = row
        if (author !== '') yield* places.once('person', author, {})
        yield {
          type: 'comment',
          sourceId: row.commentId ?? '',
          post: row.ideaId ?? '',
          ...field('author', author),
          ...field('parent', row.parentCommentId),
          text: await markdownOf(row.content ?? ''),
          ...field('createdAt', row.created),
        }
      }
      note('ClearFlask exports ids in place of the names of boards, statuses and tags. Rename them here.')
    } finally {
      archive.close()
    }
  },
}
