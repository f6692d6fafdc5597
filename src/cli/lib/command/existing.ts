import { AppError } from '../../../core/errors.js'
import type { Noun } from '../../../core/nouns.js'
import { slugOf } from '../../../core/slugs.js'
import { searchKey } from '../../../core/text.js'
import type { Call, Operation } from '../../../service/lib/operation.js'
import { idOf } from '../connection/names.js'
import type { Values } from '../flags/fieldoption.js'
import type { Existing } from './view.js'

/** Creates a record unless it exists, and reports which. Racy unless the caller holds a lock. */
export async function createUnlessThere<In, Out, Subject>(
  call: Call,
  op: Operation<In, Out, Subject>,
  input: Values,
  { find }: Pick<Existing<Out>, 'find'>,
): Promise<{ answer: Out; wasThere: boolean }> {
  const present = await find(call, input)
  return present === undefined
    ? { answer: await call(op, input), wasThere: false }
    : { answer: present, wasThere: true }
}

/** What `show` answers; undefined where there is no such thing. */
export async function unlessMissing<T>(show: () => Promise<T>): Promise<T | undefined> {
  try {
    return await show()
  } catch (error) {
    if (error instanceof AppError && error.exit === 3) return undefined
    throw error
  }
}

/** The answer of `show`, or undefined if the caller may not read the row. They may still be allowed to change it. */
export async function unlessRefused<T>(show: () => Promise<T>): Promise<T | undefined> {
  try {
    return await show()
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_ENOUGH_PERMISSION') return undefined
    throw error
  }
}

/** Finds an existing record by url, or by name if no url was given. Ignores case. */
export async function showTitled<T>(
  call: Call,
  noun: Noun,
  { name, url }: { name?: unknown; url?: unknown },
  { show, nameOf }: { show(this: void, which: string): Promise<T>; nameOf(this: void, answer: T): string },
): Promise<T | undefined> {
  if (typeof url === 'string') return unlessMissing(async () => show(await slugOf(url)))
  const id = await firstOf(() => idOf(call, noun, name))
  if (typeof id !== 'string' || id === name) return undefined
  const found = await unlessMissing(() => show(id))
  return found !== undefined && searchKey(nameOf(found)) === searchKey(String(name)) ? found : undefined
}

/** Of several things with the same name, the first. */
async function firstOf(find: () => Promise<unknown>): Promise<unknown> {
  try {
    return await find()
  } catch (error) {
    if (error instanceof AppError && error.code === 'AMBIGUOUS_NAME') return error.errors?.[0]?.value
    throw error
  }
}
