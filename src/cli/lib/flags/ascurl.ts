import type { Command } from 'commander'
import { AppError } from '../../../core/errors.js'

export interface CurlFlags {
  asCurl?: boolean
  as?: string
  dryRun?: boolean
  json?: boolean
  output?: string
}

const requests = new WeakSet<Command>()

/** Declares that a command is one request of the API. */
export const markRequest = (command: Command): void => void requests.add(command)

/** Refuses --as-curl for a command that is no request. */
export function assertRequest(command: Command, names: readonly string[]): void {
  if (!requests.has(command))
    throw new AppError('USAGE', `"${['feedbackctl', ...names].join(' ')}" is not one request of the API, so there is no curl command for it. Leave out --as-curl.`) // prettier-ignore
}
