// What one would write by hand: Fastify, better-sqlite3 and one commit a write. It writes the rows that our server writes, and checks nothing.
import Fastify from 'fastify'
import { v7 } from 'uuid'

const sqlite = Number(process.versions.napi) >= 10 ? 'better-sqlite3' : 'better-sqlite3-node20' // as in src/db/sqlite/binding.ts
const { default: Database } = await import(sqlite)
const database = new Database(process.argv[2])
for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON']) database.pragma(pragma)
const board = database.prepare('select boardId from boards where url = ?').pluck()
const addPost = database.prepare('insert into posts (postId, title, slug, slugId, contentMarkdown, userId, boardId, createdAt, updatedAt) values (?, ?, ?, ?, ?, ?, ?, ?, ?) returning *') // prettier-ignore
const addVote = database.prepare(
  'insert into votes (voteId, userId, postId, createdAt) values (?, ?, ?, ?) returning *',
)
const addEvent = database.prepare(
  `insert into events (action, subject_id, subject, actor_id, origin, created_at) values (?, ?, ?, ?, 'http', ?)`,
)

const createPost = database.transaction((userId, { title, contentMarkdown, boardId }) => {
  const [now, slugId] = [new Date().toISOString(), v7().replaceAll('-', '').slice(12)]
  const slug = `${title.toLowerCase().replaceAll(' ', '-')}-${slugId}`
  const post = addPost.get(v7(), title, slug, slugId, contentMarkdown, userId, board.get(boardId), now, now)
  addVote.get(v7(), userId, post.postId, now)
  addEvent.run('post.created', post.postId, title, userId, now)
  return post
})

const castVote = database.transaction((userId, { postId }) => {
  const now = new Date().toISOString()
  const vote = addVote.get(v7(), userId, postId, now)
  addEvent.run('post.voted', postId, null, userId, now)
  return vote
})

/** Whom a token names; it is believed. */
const personOf = ({ headers: { authorization } }) =>
  JSON.parse(Buffer.from(authorization.split('.')[1], 'base64url').toString()).userId

const server = Fastify()
server.post('/api/v1/posts', async (request, reply) => {
  reply.code(201)
  return { post: createPost.immediate(personOf(request), request.body) }
})
server.post('/api/v1/votes', async (request, reply) => {
  reply.code(201)
  return { voters: castVote.immediate(personOf(request), request.body) }
})
console.error(`listening on ${await server.listen({ host: '127.0.0.1', port: 0 })}`)
