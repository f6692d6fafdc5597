import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { builtText, gzippedFile, type BuiltFile } from '../core/built.js'
import { AppError, type ErrorCode } from '../core/errors.js'
import type { SourceName } from './index.js'
import type { Preview } from './source.js'

// Reading a file of 50 MB of JSON takes seconds. A server does it in a thread, so that it can answer meanwhile.

/** What the thread gets. */
export interface ReadRequest {
  from: string
  /** What the file is called in messages. */
  shown: string
  /** What it is from. Absent: what its content says. */
  product: SourceName | 'feedbackctl' | undefined
  map: readonly (readonly [string, string])[]
  /** What the thread would else read from the folder of the program. */
  built: readonly (readonly [BuiltFile, Uint8Array])[]
}

export interface Opened {
  product: SourceName | 'feedbackctl'
  preview: Preview | undefined
  /** The name of the source that the file itself gives. */
  source: string | undefined
}

interface Failed {
  error: { code: ErrorCode; message: string; cause: string | undefined }
}

interface Records {
  /** Lines of the file. Each should be a record as JSON; a broken line comes as it is. */
  lines: string[]
  notes: string[]
  isLast: boolean
}

export type Answer = Opened | Records | Failed

/** What of the memory a file of the greatest size needs, several times. */
const MAX_MEMORY_MB = 2000

type Given = Omit<ReadRequest, 'built'>

/** What a file is, read in a thread. Throws as the source does. */
export async function openedInThread(given: Given): Promise<Opened> {
  const thread = start(given)
  try {
    return (await asked(thread, 'open')) as Opened
  } finally {
    await thread.terminate()
  }
}

/** The records of a file as lines of JSON, read in a thread on demand. `signal` ends the thread, even in the middle of a record. */
export async function* recordsInThread(
  given: Given,
  note: (sentence: string) => void,
  signal?: AbortSignal,
): AsyncGenerator<string> {
  const thread = start(given)
  try {
    for (;;) {
      const { lines, notes, isLast } = (await asked(thread, 'next', signal)) as Records
      for (const each of notes) note(each)
      yield* lines
      if (isLast) return
    }
  } finally {
    await thread.terminate()
  }
}

const start = (given: Given): Worker =>
  new Worker(builtText('threads/sources.js'), {
    eval: true,
    execArgv: [],
    workerData: {
      ...given,
      built: [['threads/markdown.js', gzippedFile('threads/markdown.js')]],
    } satisfies ReadRequest,
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  })

async function asked(thread: Worker, what: 'open' | 'next', signal?: AbortSignal): Promise<Opened | Records> {
  thread.postMessage(what)
  const [answer] = (await once(thread, 'message', { signal }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error
    throw new AppError('PAYLOAD_TOO_LARGE', 'There is too much in it. Import it with "feedbackctl import".', { cause: error }) // prettier-ignore
  })) as [Answer]
  if (!('error' in answer)) return answer
  const { code, message, cause } = answer.error
  throw new AppError(code, message, { cause })
}
