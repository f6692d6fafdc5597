import { AppError } from '../../../core/errors.js'

/** A command that was mistyped. The fix is the command as it was probably meant. */
export class Mistyped extends AppError {
  constructor(
    message: string,
    /** The arguments of that command; undefined where it is not clear. */
    readonly corrected: readonly string[] | undefined,
    why?: string,
  ) {
    super('USAGE', message, { why })
  }
}
