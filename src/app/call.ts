import { userInfo } from 'node:os'
import { operator } from '../service/lib/access.js'
import { together } from '../service/lib/change.js'
import type { Context } from '../service/lib/context.js'
import { operatorAs } from '../service/lib/onbehalf.js'
import { execute, type Call } from '../service/lib/operation.js'
import type { App } from './open.js'

interface LocalOptions {
  dryRun?: boolean
  /** The account to act as: id, e-mail address or user name. Default: the operator. */
  as?: string | undefined
}

/**
 * Calls operations in this process. The operator has the owner's permissions, as anyone who can open the database could
 * take them.
 */
export const localCall =
  ({ base }: Pick<App, 'base'>, { dryRun = false, as }: LocalOptions = {}): Call =>
  async (op, input, body) =>
    execute(
      op,
      {
        ...operatorContext({ base }, { dryRun }),
        ...(as !== undefined && { actor: await operatorAs(base, as) }),
        ...(body && { body }),
      },
      input,
    )

/**
 * Calls operations in this process as one transaction, which an error takes back. With `looks`, no other that looks for
 * what it creates runs meanwhile. With `takenBack`, it is taken back at its end too.
 */
export const localTransaction = <T>(
  { base }: Pick<App, 'base'>,
  { looks = false, takenBack = false, as }: Pick<LocalOptions, 'as'> & { looks?: boolean; takenBack?: boolean },
  work: (call: Call) => Promise<T>,
): Promise<T> => together(base, { looks, takenBack }, (inside) => work(localCall({ base: inside }, { as })))

/** The operator's context, for what only this machine may do. */
export const operatorContext = ({ base }: Pick<App, 'base'>, { dryRun = false } = {}): Context => ({
  ...base,
  actor: operator,
  origin: `cli:${loginName()}`,
  dryRun,
})

function loginName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown') // in a container, the user may have no name
  }
}
