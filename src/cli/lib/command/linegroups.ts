import { AppError, serverError } from '../../../core/errors.js'
import type { Call } from '../../../service/lib/operation.js'
import type { Values } from '../flags/fieldoption.js'
import type { Line } from '../flags/lines.js'
import { UNREACHABLE, type Outcome } from './several.js'

/** The result of a line. */
export type Result<Row> = Failed | Done<Row>

interface Failed {
  line: Line
  error: AppError
  /** Whether the lines after it were not tried. */
  ends: boolean
}

interface Done<Row> {
  line: Line
  input: Values
  outcome: Outcome<Row>
  wasThere: boolean
}

/** Creates a group of lines, with these values for all of them. */
export type CreateGroup<Row> = (this: void, lines: readonly Line[], forAll: Values) => Promise<Result<Row>[]>

interface Together<Row> {
  inputOf(this: void, values: Values): Promise<Values>
  create(this: void, call: Call, input: Values): Promise<{ outcome: Outcome<Row>; wasThere: boolean }>
  /** Runs calls as one transaction, if that is possible. */
  together: (<T>(this: void, work: (call: Call) => Promise<T>) => Promise<T | undefined>) | undefined
  /** Runs the calls of one line. */
  alone<T extends object>(this: void, work: (call: Call) => Promise<T>): Promise<T>
}

/**
 * Creates a group of lines in one transaction. If one of them fails, nothing of it stays, and each line is tried on its
 * own: so a failure leaves nothing half done, on both engines.
 */
export const createTogether =
  <Row>({ create, inputOf, together, alone }: Together<Row>): CreateGroup<Row> =>
  async (lines, forAll) => {
    const one = async (call: Call, line: Line): Promise<Result<Row>> => {
      if (line.values instanceof AppError) throw line.values
      const input = await inputOf({ ...forAll, ...line.values })
      return { line, input, ...(await create(call, input)) }
    }
    const all = async (call: Call) => {
      const done: Result<Row>[] = []
      for (const line of lines) done.push(await one(call, line))
      return done
    }
    const whole = lines.length > 1 ? await together?.(all).catch(refused) : undefined
    if (whole) return whole
    const results: Result<Row>[] = []
    for (const line of lines) {
      const result = await alone((call) => one(call, line)).catch((thrown: unknown) => failed(line, thrown))
      results.push(result)
      if ('error' in result && result.ends) break
    }
    return results
  }

/** Whatever the error is, it comes again when the lines are tried one by one. */
const refused = (): undefined => undefined

/** Throws what ends the whole command. */
export function failed(line: Line, thrown: unknown): Failed {
  const error = thrown instanceof AppError ? thrown : serverError(thrown)
  if (error.exit === 130) throw error
  return { line, error, ends: endsAll(error) }
}

/** Errors that end the run, as every further line would fail too: unreachable server, rate limit. */
const endsAll = ({ exit }: AppError): boolean => exit === UNREACHABLE
