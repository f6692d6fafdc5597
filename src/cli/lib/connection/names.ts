import { AppError } from '../../../core/errors.js'
import { fieldsOf } from '../../../core/fields.js'
import { isId } from '../../../core/ids.js'
import type { Noun } from '../../../core/nouns.js'
import type { AnyOperation, Call } from '../../../service/lib/operation.js'

/** The id of what has this name or start of an id; the name itself where there is no such thing. Throws AMBIGUOUS_NAME. */
export async function idOf(call: Call, noun: Noun, name: unknown): Promise<unknown> {
  if (typeof name !== 'string' || name.trim() === '' || isId(name)) return name
  const { find } = await import('../../../service/names.js')
  return (await call(find, { noun, name })).id ?? name
}

type Show = (call: Call, name: string) => Promise<unknown>
const showPost: Show = async (call, id) => call((await import('../../../service/posts.js')).show, { id })

/** Shows the row that operations find by a name themselves: a url, a number, an address. Others they find by id alone. */
const SHOW: Readonly<Record<Noun, Show | undefined>> = {
  board: async (call, url) => call((await import('../../../service/boards.js')).show, { url }),
  roadmap: async (call, url) => call((await import('../../../service/roadmaps.js')).show, { url }),
  tag: async (call, url) => call((await import('../../../service/tags.js')).show, { url }),
  role: async (call, id) => call((await import('../../../service/roles.js')).show, { id }),
  user: async (call, user) => call((await import('../../../service/users.js')).show, { user }),
  post: showPost,
  item: showPost,
  comment: undefined,
  key: undefined,
  session: undefined,
  identity: undefined,
  image: undefined,
  view: async (call, view) => call((await import('../../../service/views.js')).show, { view }),
  subject: undefined,
}

/** Whether a name has the form of a url, a slug or a number: lower-case letters, digits and hyphens. */
const isSlug = (name: string): boolean => /^[\p{L}\p{M}\p{N}-]+$/u.test(name) && name === name.toLowerCase()
const isNumberOrSlug = (name: string): boolean => isSlug(name.replace(/^#/, ''))

/** Whether an operation itself can find a row by a name. Nouns without an entry are found only by id. */
const FOUND_BY: Partial<Record<Noun, (name: string) => boolean>> = {
  board: isSlug,
  roadmap: isSlug,
  tag: isSlug,
  post: isNumberOrSlug,
  item: isNumberOrSlug,
  role: () => true,
  user: () => true,
  view: () => true,
}

/**
 * Lets a call take names and prefixes of ids. If the operation itself finds a row by the name, that row is used. A change
 * looks names up first, so the operation runs once. A read does so only for names that the operation cannot find. With a
 * url, a number or an address it is sent at once, and again with the id if the server finds nothing.
 */
export function withNames(call: Call): Call {
  const known = new Map<string, string>()

  async function resolve(noun: Noun, name: unknown, look = resolved): Promise<unknown> {
    if (typeof name !== 'string') return name
    const key = `${noun} ${name}`
    const id = known.get(key) ?? (await look(call, noun, name))
    known.set(key, id)
    return id
  }

  return async (op, given, body) => {
    const input = given as Record<string, unknown>
    if (!isRead(op)) return call(op, await replaced(op, input, (noun, name) => resolve(noun, name)), body)
    const tried: Noun[] = []
    const first = await replaced(op, input, (noun, name, early) => {
      if (typeof name !== 'string' || isId(name)) return name
      const id = known.get(`${noun} ${name}`)
      if (id !== undefined || early) return id ?? resolve(noun, name)
      if (!FOUND_BY[noun]?.(name.trim())) return resolve(noun, name, idOrName)
      tried.push(noun)
      return name
    })
    try {
      return await call(op, first)
    } catch (error) {
      const isUnknown = error instanceof AppError && error.exit === 3 && error.code !== 'SITE_NOT_FOUND'
      if (!isUnknown || tried.length === 0) throw error
      const [noun = '', ...others] = tried
      const isRefused = others.length === 0 && error.code === `${noun.toUpperCase()}_NOT_FOUND`
      const renamed = await replaced(op, input, (each, name) => resolve(each, name, isRefused ? idOrName : resolved))
      if (JSON.stringify(renamed) === JSON.stringify(first)) throw error
      return call(op, renamed)
    }
  }
}

/** The input with the ids of names that only commands accept, for a request that is not sent here. */
export const withIds = (call: Call, op: Pick<AnyOperation, 'input'>, input: Record<string, unknown>) =>
  replaced(op, input, async (noun, name) => (typeof name === 'string' ? resolved(call, noun, name) : name))

/** Only a read may be repeated. Some reads that are cached are a POST. */
const isRead = ({ http, cache }: Pick<AnyOperation, 'http' | 'cache'>): boolean =>
  http.startsWith('GET ') || cache !== undefined

/** The input, with what `replace` gives for every name. */
async function replaced(
  op: Pick<AnyOperation, 'input'>,
  input: Record<string, unknown>,
  replace: (noun: Noun, name: unknown, early: boolean) => unknown,
): Promise<Record<string, unknown>> {
  const output = { ...input }
  for (const { name, names: noun, early = false } of fieldsOf(op.input)) {
    const value = input[name]
    if (noun === undefined || value === undefined) continue
    output[name] = Array.isArray(value)
      ? await Promise.all(value.map((each) => replace(noun, each, early)))
      : await replace(noun, value, early)
  }
  return output
}

/** The id of a name; the name itself if the operation finds it by that, or if nothing has that name. */
async function resolved(call: Call, noun: Noun, name: string): Promise<string> {
  let id: string
  try {
    id = await idOrName(call, noun, name)
  } catch (error) {
    if (!isRefusal(error) || !(await isShown(call, noun, name))) throw error
    return name
  }
  return id === name || (await isShown(call, noun, name)) ? name : id
}

/** Returns the id of the row with a name, or the name itself if no row has it. */
async function idOrName(call: Call, noun: Noun, name: string): Promise<string> {
  try {
    return String(await idOf(call, noun, name))
  } catch (error) {
    if (isRefusal(error) && error.code !== 'AMBIGUOUS_NAME') return name
    throw error
  }
}

async function isShown(call: Call, noun: Noun, name: string): Promise<boolean> {
  try {
    return (await SHOW[noun]?.(call, name)) !== undefined
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}

/** An answer to the request, not an unreachable server. */
const isRefusal = (error: unknown): error is AppError => error instanceof AppError && error.exit < 6
