import { AppError } from '../../core/errors.js'
import type { Context } from './context.js'
import type { Fields, ImportRecord, Outcome, RecordType } from './importrecords.js'

export interface Given {
  line: number
  record: ImportRecord
}

export interface Taken {
  line: number
  outcome: Outcome
  error?: AppError
  /** Whether the hash of the password was imported, if an account was created and a hash was given. */
  password?: 'kept' | 'leftOut'
  /** Addresses of images on other hosts in its text. */
  links?: readonly string[]
  /** Names of the images that a text shows and no import has brought, also for texts of earlier imports. */
  missing?: readonly string[]
}

/** A record that is still to be written. */
export interface Wanted<T extends RecordType> {
  line: number
  fields: Fields<T>
}

/** What identifies a record among those of its type. */
export function idOf({ type, fields }: ImportRecord): string {
  if (type === 'merge') return fields.post
  if (type === 'vote') return fields.sourceId ?? `${fields.post}\n${fields.person}`
  return fields.sourceId
}

/** Runs `work` for each item. An error of the contract fails that item alone; any other error is thrown. */
export async function each<Item extends { line: number }>(
  items: readonly Item[],
  work: (item: Item) => Taken | Promise<Taken>,
): Promise<Taken[]> {
  const taken: Taken[] = []
  for (const item of items)
    try {
      taken.push(await work(item))
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      taken.push({ line: item.line, outcome: 'failed', error })
    }
  return taken
}

/** The same context without rate limits. */
export const unlimited = ({ limits: _limits, ...ctx }: Context): Context => ctx
