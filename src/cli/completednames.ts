import { printableLine } from '../core/text.js'
import type { Noun } from '../core/nouns.js'
import type { Call } from '../service/lib/operation.js'
import type { Cli } from './lib/connection/session.js'

/** A name that commands accept, and its description. */
type Named = readonly [name: string, title: string]
type Find = (call: Call, begin: string) => Promise<Named[]>

/** The most names that are offered. */
const MOST = 50

/** Offers numbers if nothing or digits are typed, and slugs otherwise. */
const posts: Find = async (call, begin) => {
  const { list } = await import('../service/postlists.js')
  const isNumber = /^\d*$/.test(begin)
  const found = async (query?: string) => {
    const { posts: some } = await call(list, { limit: MOST, ...(query !== undefined && { query }) })
    return some.map(({ number, slug, title }): Named => [isNumber ? String(number) : slug, title])
  }
  // The random end of a slug is not in the title, so a search can find nothing
  const byTitle = isNumber ? [] : await found(begin.replaceAll('-', ' ').slice(0, 200))
  return byTitle.some(([slug]) => slug.startsWith(begin)) ? byTitle : found()
}

const EVERY = { limit: 100, visibility: ['public', 'private'] as ('public' | 'private')[] }
const titled = (rows: readonly { url: string; name: string }[]) => rows.map(({ url, name }): Named => [url, name])

/** How to list the names of each noun. Nouns without names, such as sessions, are not completed. */
const FIND: Readonly<Record<Noun, Find | undefined>> = {
  post: posts,
  item: posts,
  board: async (call) => titled((await call((await import('../service/boards.js')).list, EVERY)).boards),
  roadmap: async (call) => titled((await call((await import('../service/roadmaps.js')).list, EVERY)).roadmaps),
  tag: async (call) => titled((await call((await import('../service/tags.js')).list, EVERY)).tags),
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
 * Returns names that begin with a text, and their descriptions. It does not create or update a database. Throws if the
 * site cannot be read within a second.
 */
export async function namesIn(cli: Cli, noun: Noun, begin: string): Promise<Named[]> {
  const find = FIND[noun]
  if (!find) return []
  const call = await cli.connect({ glance: true })
  // Leave out names with control characters: nobody can type them
  return (await find(call, begin)).filter(([name]) => name.startsWith(begin) && name === printableLine(name))
}
