import { printableLine } from '../core/text.js'
import type { Noun } from '../core/nouns.js'
import type { Call } from '../service/lib/operation.js'
import type { Cli } from './lib/connection/session.js'

/** A name as a command takes it, and what it stands for. */
type Named = readonly [name: string, title: string]
type Find = (call: Call, begin: string) => Promise<Named[]>

/** Names offered at once: the newest. */
const MOST = 50

/** By number where nothing or digits are typed, newest first; else by slug, also of older posts. */
const posts: Find = async (call, begin) => {
  const { list } = await import('../service/postlists.js')
  const isNumber = /^\d*$/.test(begin)
  const found = async (query?: string) => {
    const { posts: some } = await call(list, { limit: MOST, ...(query !== undefined && { query }) })
    return some.map(({ number, slug, title }): Named => [isNumber ? String(number) : slug, title])
  }
  // The end of a slug is no word of the title
  const byTitle = isNumber ? [] : await found(begin.replaceAll('-', ' ').slice(0, 200))
  return byTitle.some(([slug]) => slug.startsWith(begin)) ? byTitle : found()
}

/** How the rows of a noun are found. Sessions, keys and the like have ids alone, which nobody knows by heart. */
const FIND: Readonly<Record<Noun, Find | undefined>> = {
  post: posts,
  item: posts,
  async board(call) {
    const { list } = await import('../service/boards.js')
    const { boards } = await call(list, { limit: 100, visibility: ['public', 'private'] })
    return boards.map(({ url, name }) => [url, name])
  },
  async roadmap(call) {
    const { list } = await import('../service/roadmaps.js')
    const { roadmaps } = await call(list, { limit: 100, visibility: ['public', 'private'] })
    return roadmaps.map(({ url, name }) => [url, name])
  },
  async tag(call) {
    const { list } = await import('../service/tags.js')
    const { tags } = await call(list, { limit: 100, visibility: ['public', 'private'] })
    return tags.map(({ url, name }) => [url, name])
  },
  async role(call) {
    const { list } = await import('../service/roles.js')
    const { roles } = await call(list, { limit: 100 })
    return roles.map(({ name, description }) => [name, description ?? ''])
  },
  async user(call, query) {
    const { list } = await import('../service/userlists.js')
    const { users } = await call(list, { limit: MOST, query: query.slice(0, 500) })
    return users.map(({ username, name, email }) => [username, name ?? email ?? ''])
  },
  async view(call) {
    const { list } = await import('../service/views.js')
    const { views } = await call(list, {})
    return views.map(({ name }) => [name, ''])
  },
  comment: undefined,
  key: undefined,
  session: undefined,
  identity: undefined,
  image: undefined,
  subject: undefined,
}

/**
 * The names of rows that begin with a text, and their titles. It changes nothing: a database that does not exist is not
 * made, and an outdated one is not updated. Throws where the site cannot be read within a second.
 */
export async function namesIn(cli: Cli, noun: Noun, begin: string): Promise<Named[]> {
  const find = FIND[noun]
  if (!find) return []
  const call = await cli.connect({ glance: true })
  // A name with a control character cannot be typed
  return (await find(call, begin)).filter(([name]) => name.startsWith(begin) && name === printableLine(name))
}
