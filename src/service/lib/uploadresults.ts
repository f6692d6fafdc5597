import { AppError, isErrorCode, type ErrorBody } from '../../core/errors.js'
import type { Result } from './creating.js'
import type { LongBody } from './download.js'

/** A line of the answer, as `uploadOf` writes it. */
interface AnswerLine {
  line?: number
  result: 'created' | 'exists' | 'failed' | 'complete' | 'incomplete'
  error?: ErrorBody
}

/** Reads the answer to an upload of rows. Throws what ended it before its end. */
export async function* resultsIn<Out>({ pieces }: LongBody): AsyncGenerator<Result<Out>> {
  for await (const { line = 0, result, error, ...answer } of answerLines<AnswerLine>(pieces)) {
    if (result === 'complete') return
    if (result === 'incomplete') throw errorOf(error)
    yield result === 'failed' ? { line, result, error: errorOf(error) } : { line, result, answer: answer as Out } // the server serializes what the operation answers
  }
  throw new AppError('SERVER_UNREACHABLE', 'The server did not answer all: its answer has no end.')
}

async function* linesOf(pieces: LongBody['pieces']): AsyncGenerator<string> {
  let rest = ''
  for await (const { text } of pieces) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** The lines of an answer that is lines of JSON. */
export async function* answerLines<Line>(pieces: LongBody['pieces']): AsyncGenerator<Line> {
  for await (const text of linesOf(pieces)) yield parsed(text) as Line // what our servers write
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('SERVER_UNREACHABLE', 'The server did not answer as feedbackctl does. Check --server.')
  }
}

export function errorOf({ code, message, errors, why }: ErrorBody = { code: '', message: '' }): AppError {
  return new AppError(isErrorCode(code) ? code : 'SERVER_ERROR', message, { errors, why })
}
