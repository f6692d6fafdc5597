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
  for await (const text of linesOf(pieces)) {
    const { line = 0, result, error, ...answer } = parsed(text)
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

function parsed(text: string): AnswerLine {
  try {
    return JSON.parse(text) as AnswerLine
  } catch {
    throw new AppError('SERVER_UNREACHABLE', 'The server did not answer as feedbackctl does. Check --server.')
  }
}

function errorOf({ code, message, errors, why }: ErrorBody = { code: '', message: '' }): AppError {
  return new AppError(isErrorCode(code) ? code : 'SERVER_ERROR', message, { errors, why })
}
