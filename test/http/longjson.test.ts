import { expect, it } from 'vitest'
import { longJson, type ObjectSchema } from '../../src/http/api/longjson.js'
import { compileOnFirstUse } from '../../src/http/api/serializers.js'
import * as boards from '../../src/service/boards.js'
import * as comments from '../../src/service/comments.js'
import * as posts from '../../src/service/posts.js'
import * as roles from '../../src/service/roles.js'
import * as users from '../../src/service/users.js'
import { makeSite } from '../support/site.js'

it('a long response has the bytes that the serializer of its schema writes', async () => {
  const site = await makeSite('sqlite')
  await site.owner()
  await site.call(boards.create, { name: 'Ideas', display: true })
  for (const [title, contentMarkdown] of [
    ['"Quoted" \\ 漢字', 'x'.repeat(300_000)],
    ['\u2028', null],
    ['Ünïcode 👋', 'a\tb\n'.repeat(9000)],
  ] as const)
    // prettier-ignore
    await site.db.insertInto('posts').values({ ...(await rowOf(title)), contentMarkdown }).execute()
  async function rowOf(title: string) {
    const { post } = await site.call(posts.create, { title: 'Wish', boardId: 'ideas' })
    const { number: _, ...row } = await site.db.selectFrom('posts').selectAll().where('postId', '=', post.postId).executeTakeFirstOrThrow() // prettier-ignore
    await site.call(posts.remove, { id: post.postId })
    return { ...row, title }
  }
  const [{ postId }] = (await site.call(posts.list, {})).posts as unknown as [{ postId: string }]
  await site.call(comments.create, { post_id: postId, body: 'Yes' })
  const answers = [
    [posts.list, await site.call(posts.list, {})],
    [posts.list, await site.call(posts.list, { page: 1, limit: 2 })],
    [posts.list, await site.call(posts.list, { query: 'nowhere' })],
    [posts.search, await site.call(posts.search, { words: 'wish' })],
    [boards.list, await site.call(boards.list, {})],
    [roles.list, await site.call(roles.list, {})],
    [users.list, await site.call(users.list, {})],
    [comments.list, await site.call(comments.list, { post_id: postId })],
  ] as const
  for (const [op, answer] of answers) {
    const whole = compileOnFirstUse({ schema: op.output, method: 'GET', url: '' })(answer)
    expect((await longJson(op.output as unknown as ObjectSchema, answer)).toString()).toBe(whole)
  }
})
