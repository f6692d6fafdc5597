import { AppError } from '../../../core/errors.js'
import { parse } from '../../../core/fields.js'
import type { LongBody } from '../../../service/lib/download.js'
import type { Call, Operation } from '../../../service/lib/operation.js'
import { resultsIn } from '../../../service/lib/uploadresults.js'
import type { Values } from '../flags/fieldoption.js'
import type { Line } from '../flags/lines.js'
import { failed, type CreateGroup, type Result } from './linegroups.js'
import type { Outcome } from './several.js'

/** Creates what each row of a body says, see `uploadOf`. */
export type UploadOfRows = Operation<object, LongBody, undefined>

interface Uploading<Out, Row> {
  /** What creates one of them. */
  op: Pick<Operation<unknown, Out, unknown>, 'input'>
  upload: UploadOfRows
  ifNotExists: boolean
  connect(this: void): Promise<Call>
  inputOf(this: void, values: Values): Promise<Values>
  outcomeOf(this: void, answer: Out): Outcome<Row>
}

/**
 * Sends a group of lines in one request, or creates them in this process in the same way. A request has only a group, so
 * that proxies that bound bodies and times let it pass, and so that no connection waits while stdin does.
 */
export const createByUpload =
  <Out, Row>({ op, upload, ifNotExists, connect, inputOf, outcomeOf }: Uploading<Out, Row>): CreateGroup<Row> =>
  async (lines, forAll) => {
    const results = new Map<Line, Result<Row>>()
    const sent: { line: Line; input: Values }[] = []
    for (const line of lines) {
      try {
        if (line.values instanceof AppError) throw line.values
        const input = await inputOf({ ...forAll, ...line.values })
        parse(op.input, input) // the server has a limit for the length of a row, which would end the upload
        sent.push({ line, input })
      } catch (thrown) {
        results.set(line, failed(line, thrown))
      }
    }
    let answered = 0
    try {
      if (sent.length > 0) {
        const call = await connect()
        const given = { whole: true, ...(ifNotExists && { ifNotExists }) }
        const answer = await call(upload, given, bodyOf(sent.map(({ input }) => input)))
        for await (const result of resultsIn<Out>(answer)) {
          const { line, input } = sent[answered++] ?? unexpected()
          results.set(
            line,
            result.result === 'failed'
              ? failed(line, result.error)
              : { line, input, outcome: outcomeOf(result.answer), wasThere: result.result === 'exists' },
          )
        }
        if (answered < sent.length) unexpected()
      }
    } catch (thrown) {
      const [first, last] = [sent[answered], sent.at(-1)]
      if (!first || !last) throw thrown
      const failure = failed(first.line, thrown)
      results.set(first.line, { ...failure, error: uncertain(failure.error, first.line, last.line), ends: true })
    }
    return inOrder(lines, results)
  }

const unexpected = (): never => {
  throw new AppError('SERVER_UNREACHABLE', 'The server did not answer each line. Check --server.')
}

function bodyOf(rows: readonly Values[]) {
  const bytes = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  return {
    type: 'application/x-ndjson',
    bytes: (async function* () {
      yield bytes
    })(),
  }
}

/** Where the answer is missing, what it would have said may have been done. */
function uncertain(error: AppError, { number: first }: Line, { number: last }: Line): AppError {
  if (error.code !== 'SERVER_UNREACHABLE') return error
  const lines = first === last ? `Line ${first} may` : `Lines ${first} to ${last} may`
  return new AppError(error.code, `${error.message} ${lines} have been created: try again with --if-not-exists.`, { cause: error }) // prettier-ignore
}

/** Up to what ends all. */
function inOrder<Row>(lines: readonly Line[], results: ReadonlyMap<Line, Result<Row>>): Result<Row>[] {
  const done = lines.flatMap((line) => results.get(line) ?? [])
  const end = done.findIndex((result) => 'error' in result && result.ends)
  return end === -1 ? done : done.slice(0, end + 1)
}
