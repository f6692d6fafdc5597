import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { AppError } from '../../core/errors.js'
import { MAX_IMAGE_BYTES } from '../../core/images/types.js'
import { BODY_LIMIT } from '../../http/surface.js'
import { MAX_FIELDS } from './fields.js'
import type { SentFile } from './page.js'

/** An image that was sent with a form. */
export interface SentImage {
  /** The field of the form that had it. */
  field: string
  /** The name of its file, as the browser says. */
  name: string
  /** One byte more than allowed where it is too large. */
  bytes: Buffer
}

/** The fields of a form that have images. */
const FILES: readonly string[] = ['images', 'imagesDark']
/** Images that one form may send. */
export const MAX_IMAGES = 4
/** Characters of the text that stands for an image. */
export const MAX_ALT = 200
/** Bytes of a form with images at most. They are in memory while it arrives. */
export const MULTIPART_LIMIT = 12_000_000

export const isMultipart = ({ 'content-type': type = '' }: IncomingHttpHeaders): boolean =>
  /^multipart\/form-data\s*(?:;|$)/i.test(type)

/** Reads a form with files. Like any form, it may have one field more than allowed, so that `fieldsOf` can reject it. */
export async function receiveForm(
  headers: IncomingHttpHeaders,
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ body: Record<string, string[]>; images: SentImage[] }> {
  const body = new Map<string, string[]>()
  const images: SentImage[] = []
  const parser = parserOf(headers)
  parser.on('field', (name, value) => void body.set(name, [...(body.get(name) ?? []), value]))
  parser.on('file', (field, file, name) => {
    file.on('error', () => {}) // the parser reports a form that ends inside a file too
    if (!FILES.includes(field)) {
      file.resume()
      return
    }
    const chunks: Buffer[] = []
    file.on('data', (chunk: Buffer) => chunks.push(chunk))
    file.on('end', () => {
      if (chunks.length > 0) images.push({ field, name: name ?? '', bytes: Buffer.concat(chunks) })
    })
  })
  const finished = once(parser, 'finish').catch((error: unknown) => {
    throw broken(error)
  })
  finished.catch(() => {}) // the loop may fail first
  let isFull = false
  const full = () => void (isFull = true)
  parser.on('partsLimit', full).on('fieldsLimit', full)
  parser.on('error', () => {}) // there may be more than the one that `finished` waits for
  for await (const chunk of bytes) {
    if (!parser.write(chunk)) await Promise.race([once(parser, 'drain'), finished])
    if (isFull) throw new AppError('BAD_REQUEST', `A form has at most ${MAX_FIELDS} fields.`)
  }
  parser.end()
  await finished
  return { body: Object.fromEntries(body), images }
}

/**
 * Reads a form as far as its field `file`, whose bytes are received as they are taken. What comes after it is dropped.
 * `stop` ends it, whether they were taken or not.
 */
export async function receiveFile(
  headers: IncomingHttpHeaders,
  bytes: AsyncIterable<Uint8Array>,
): Promise<{ body: Record<string, string[]>; file: SentFile | undefined; stop(this: void): void }> {
  const body = new Map<string, string[]>()
  const parser = parserOf(headers, Infinity)
  parser.on('error', () => {}) // `finished` fails with it
  parser.on('field', (name, value) => void body.set(name, [...(body.get(name) ?? []), value]))
  const finished = once(parser, 'finish').catch((error: unknown) => {
    throw broken(error)
  })
  finished.catch(() => {}) // nobody may wait for it any more
  const stopping = new AbortController()
  const stopped = once(stopping.signal, 'abort')
  let receiving: Promise<unknown> = Promise.resolve()
  const found = new Promise<SentFile>((resolve) =>
    parser.on('file', (field, stream, name) => {
      stream.on('error', () => {}) // whoever takes it hears of it
      if (field !== 'file') return void stream.resume()
      receiving.catch((error: unknown) => stream.destroy(error as Error))
      async function* taken() {
        yield* stream as AsyncIterable<Uint8Array>
        await receiving // the form may be broken after it
      }
      resolve({ name: name ?? '', bytes: taken() })
    }),
  )
  receiving = (async () => {
    for await (const chunk of bytes) {
      if (!parser.write(chunk)) await Promise.race([once(parser, 'drain'), finished, stopped])
      if (stopping.signal.aborted) return
    }
    parser.end()
    await finished
  })()
  receiving.catch(() => {})
  const file = await Promise.race([found, receiving.then(() => undefined)])
  return { body: Object.fromEntries(body), file, stop: () => stopping.abort() }
}

function parserOf(headers: IncomingHttpHeaders, fileSize = MAX_IMAGE_BYTES + 1): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: {
        fieldNameSize: 100,
        fieldSize: BODY_LIMIT,
        fields: MAX_FIELDS + 1,
        files: MAX_IMAGES + 1,
        parts: MAX_FIELDS + MAX_IMAGES + 2,
        fileSize,
        headerPairs: 20,
      },
    })
  } catch (error) {
    throw broken(error)
  }
}

const broken = (cause: unknown): AppError =>
  new AppError('BAD_REQUEST', 'The form is not complete. Send it again.', { cause })
