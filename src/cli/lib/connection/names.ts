import { AppError } from '../../../core/errors.js'
import { fieldsOf } from '../../../core/fields.js'
import { isId } from '../../../core/ids.js'
import type { Noun } from '../../../core/nouns.js'
import type { Call, Operation } from '../../../service/lib/operation.js'

/** The id of what has this name or start of an id; the name itself where there is no such thing. Throws AMBIGUOUS_NAME. */
export async function idOf(call: Call, noun: Noun, name: unknown): Promise<unknown> {
  if (typeof name !== 'string' || name.trim() === '' || isId(name)) return name
  const { find } = await import('../../../service/names.js')
  return (await call(find, { noun, name })).id ?? name
}

/**
 * Lets a call take names and starts of ids too. They are looked up only where the operation finds nothing, so that what
 * it finds wins, and a usual call costs nothing.
 */
export function withNames(call: Call): Call {
  const known = new Map<string, string>()
  const keyOf = (noun: Noun, name: string) => `${noun} ${name}`

  async function found(noun: Noun, name: unknown): Promise<unknown> {
    const id = await idOf(call, noun, name).catch((error: unknown) => {
      if (error instanceof AppError && error.code !== 'AMBIGUOUS_NAME' && error.exit < 6) return name
      throw error
    })
    if (id !== name) known.set(keyOf(noun, String(name)), String(id))
    return id
  }

  /** The input, with what `replace` gives for every name. */
  async function named<In, Out, Subject>(
    op: Operation<In, Out, Subject>,
    input: Record<string, unknown>,
    replace: (noun: Noun, name: unknown, early: boolean) => unknown,
  ): Promise<Record<string, unknown>> {
    const replaced = { ...input }
    for (const { name, names: noun, early = false } of fieldsOf(op.input)) {
      const value = input[name]
      if (noun === undefined || value === undefined) continue
      replaced[name] = Array.isArray(value)
        ? await Promise.all(value.map((each) => replace(noun, each, early)))
        : await replace(noun, value, early)
    }
    return replaced
  }

  return async (op, given) => {
    const input = await named(op, given as Record<string, unknown>, (noun, name, early) => {
      const id = typeof name === 'string' ? known.get(keyOf(noun, name)) : undefined
      return id ?? (early ? found(noun, name) : name)
    })
    try {
      return await call(op, input)
    } catch (error) {
      const isUnknown = error instanceof AppError && error.exit === 3
      if (!isUnknown || error.code === 'SITE_NOT_FOUND') throw error
      const renamed = await named(op, input, found)
      if (JSON.stringify(renamed) === JSON.stringify(input)) throw error
      return call(op, renamed)
    }
  }
}
