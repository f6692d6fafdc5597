import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt, type CipherGCM } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { PassThrough, Transform, type Readable, type Writable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { AppError } from '../core/errors.js'
import { whyNotRead } from '../core/filecauses.js'

// A backup is one line of JSON, which everybody can read, then compressed lines, which may be encrypted, then the hash
// of all that came before. `src/README.md` has the lines.

/** The first line. */
export interface Header {
  format: 'feedbackctl-backup/1'
  version: string
  schema: string
  /** Tells the site from others. Absent in backups of the first weeks. */
  site?: string | undefined
  engine: 'sqlite' | 'postgres'
  createdAt: string
  redacted: boolean
  /** Base64; null where the lines are not encrypted. */
  encryption: { cipher: 'aes-256-gcm'; kdf: 'scrypt'; salt: string; iv: string } | null
}

const HASH = 32
const TAG = 16
/** Bytes of the first line at most. */
const MAX_HEADER = 4096

/** Characters of a line at most. The longest field of a row has 65,536, of which JSON may write each as six. */
const MAX_LINE = 4 * 2 ** 20

/** As strong as OWASP advises, in 32 MB. */
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }

/** In another thread, as a server that makes a backup responds meanwhile. */
const keyOf = (passphrase: string, salt: string): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(passphrase.normalize('NFKC'), Buffer.from(salt, 'base64'), 32, COST, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )

/** Writes the lines as they come. Resolves with the hash of the backup when `to` has taken all, but does not end it. */
export async function writeContainer(
  to: Writable,
  header: Omit<Header, 'format' | 'encryption'>,
  { lines, passphrase }: { lines: AsyncIterable<string>; passphrase: string | undefined },
): Promise<string> {
  const encryption: Header['encryption'] =
    passphrase === undefined
      ? null
      : {
          cipher: 'aes-256-gcm',
          kdf: 'scrypt',
          salt: randomBytes(16).toString('base64'),
          iv: randomBytes(12).toString('base64'),
        }
  const first = `${JSON.stringify({ format: 'feedbackctl-backup/1', ...header, encryption } satisfies Header)}\n`
  const hash = createHash('sha256')
  const all = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  all.write(first)
  const cipher = encryption && createCipheriv('aes-256-gcm', await keyOf(passphrase ?? '', encryption.salt), Buffer.from(encryption.iv, 'base64')).setAAD(Buffer.from(first)) // prettier-ignore
  const sealed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, cipher ? cipher.update(chunk) : chunk)
    },
    flush(done) {
      done(null, cipher ? endOf(cipher) : undefined)
    },
  })
  const written = pipeline(all, to, { end: false })
  await Promise.all([pipeline(lines, createGzip({ level: 6 }), sealed, all), written])
  const digest = hash.digest()
  await new Promise<void>((resolve, reject) => to.write(digest, (error) => (error ? reject(error) : resolve())))
  return digest.toString('hex')
}

const endOf = (cipher: CipherGCM): Buffer => Buffer.concat([cipher.final(), cipher.getAuthTag()])

export interface Opened {
  header: Header
  /** Bytes of the file. */
  size: number
  headerSize: number
}

/** Reads the first line of a backup. */
export async function readHeader(file: string): Promise<Opened> {
  const handle = await open(file).catch((error: unknown) => {
    const { code = '' } = error as { code?: string }
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(code))
      throw new AppError('BACKUP_NOT_FOUND', `There is no file ${file}.`)
    throw new AppError('BACKUP_FAILED', `Cannot read ${file}: ${whyNotRead(error)}.`, { cause: error })
  })
  try {
    const { size, isFolder } = await handle.stat().then((stat) => ({ size: stat.size, isFolder: stat.isDirectory() }))
    if (isFolder) throw new AppError('BACKUP_NOT_FOUND', `${file} is a folder. Name a backup in it: "feedbackctl backup list ${file}" shows them.`) // prettier-ignore
    const { buffer, bytesRead } = await handle
      .read(Buffer.alloc(MAX_HEADER), 0, MAX_HEADER, 0)
      .catch((error: unknown) => {
        throw new AppError('BACKUP_FAILED', `Cannot read ${file}: ${whyNotRead(error)}.`, {
          cause: error,
        })
      })
    const end = buffer.subarray(0, bytesRead).indexOf(0x0a)
    const header = end < 0 ? undefined : parsed(buffer.toString('utf8', 0, end))
    if (isHeader(header)) return { header, size, headerSize: end + 1 }
    throw /^feedbackctl-backup\/(?:[2-9]|[1-9]\d+)$/.test(String(header?.format))
      ? new AppError('DATABASE_NEWER', `${file} was written by a newer feedbackctl. Install that version to read it.`)
      : damaged(file, 'It does not begin like a backup of feedbackctl')
  } finally {
    await handle.close()
  }
}

function parsed(line: string): Partial<Record<keyof Header, unknown>> | undefined {
  try {
    const value = JSON.parse(line) as unknown
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

const matches = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value)

/** Commands print these values, so none has control characters. */
function isHeader(value: ReturnType<typeof parsed>): value is Header & NonNullable<ReturnType<typeof parsed>> {
  if (value?.format !== 'feedbackctl-backup/1') return false
  const { version, schema, site, engine, createdAt, redacted, encryption } = value
  return (
    matches(version, /^[\w.+-]{1,64}$/) &&
    matches(schema, /^\d{4}_\w{1,64}$/) &&
    (site === undefined || matches(site, /^[\w-]{1,64}$/)) &&
    (engine === 'sqlite' || engine === 'postgres') &&
    matches(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) &&
    !Number.isNaN(Date.parse(createdAt as string)) &&
    typeof redacted === 'boolean' &&
    (encryption === null || isEncryption(encryption))
  )
}

function isEncryption(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { cipher, kdf, salt, iv } = value as Record<string, unknown>
  const isBase64 = (text: unknown, bytes: number) =>
    typeof text === 'string' && text.length < 100 && Buffer.from(text, 'base64').length === bytes
  return cipher === 'aes-256-gcm' && kdf === 'scrypt' && isBase64(salt, 16) && isBase64(iv, 12)
}

export const damaged = (file: string, how: string, cause?: unknown): AppError =>
  new AppError('BACKUP_DAMAGED', `${file} is damaged or incomplete. ${how}. Use another backup.`, { cause })

/** Compares the hash at the end of the file with that of all before it. `onProgress` gets the bytes that were read. */
export async function checkHash(
  file: string,
  { size }: Opened,
  onProgress: (bytes: number) => void = () => {},
): Promise<void> {
  if (size < HASH) throw damaged(file, 'It is too short')
  const hash = createHash('sha256')
  let [end, done] = [Buffer.alloc(0), 0]
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>) {
    const all = Buffer.concat([end, chunk])
    hash.update(all.subarray(0, -HASH))
    end = Buffer.from(all.subarray(-HASH))
    onProgress((done += chunk.length))
  }
  if (!hash.digest().equals(end)) throw damaged(file, 'Its content does not match its hash')
}

/** The lines of a backup whose hash was checked. Throws PASSPHRASE_WRONG where they cannot be decrypted. */
export async function* readLines(
  file: string,
  { header: { encryption }, headerSize, size }: Opened,
  passphrase: string | undefined,
): AsyncGenerator<string> {
  if (encryption && passphrase === undefined)
    throw new AppError('PASSPHRASE_WRONG', `${file} is encrypted. Give its passphrase with --backup-passphrase-file.`)
  const last = size - HASH - (encryption ? TAG : 0) - 1
  const body: Readable = createReadStream(file, {
    start: headerSize,
    end: Math.max(last, headerSize),
    highWaterMark: 1 << 16,
  })
  const through = encryption
    ? await decipherOf(file, { encryption, headerSize, size }, passphrase ?? '')
    : new PassThrough()
  const gunzip = createGunzip()
  const flow = pipeline(body, through, gunzip)
  flow.catch(() => {}) // the loop below throws the same
  const decoder = new TextDecoder('utf8', { fatal: true })
  let [rest, length]: [string[], number] = [[], 0] // parts of a line whose end has not come
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      const lines = decoder.decode(chunk, { stream: true }).split('\n')
      const last = lines.pop() ?? ''
      if (lines.length > 0) {
        lines[0] = rest.join('') + (lines[0] ?? '')
        ;[rest, length] = [[], 0]
        yield* lines
      }
      rest.push(last)
      length += last.length
      if (length > MAX_LINE) throw damaged(file, `A line of it is longer than ${MAX_LINE / 2 ** 20} MB`)
    }
    await flow
  } catch (error) {
    if (error instanceof AppError) throw error
    if (encryption) throw new AppError('PASSPHRASE_WRONG', `The passphrase is not that of ${file}.`, { cause: error })
    throw damaged(file, 'It cannot be unpacked', error)
  } finally {
    body.destroy()
  }
  if (length > 0) throw damaged(file, 'Its last line is cut off')
}

async function decipherOf(
  file: string,
  { encryption, headerSize, size }: { encryption: NonNullable<Header['encryption']>; headerSize: number; size: number },
  passphrase: string,
): Promise<Transform> {
  const [first, tag] = [Buffer.alloc(headerSize), Buffer.alloc(TAG)]
  const handle = await open(file)
  try {
    await handle.read(first, 0, headerSize, 0)
    await handle.read(tag, 0, TAG, Math.max(0, size - HASH - TAG))
  } finally {
    await handle.close()
  }
  const key = await keyOf(passphrase, encryption.salt)
  return createDecipheriv('aes-256-gcm', key, Buffer.from(encryption.iv, 'base64')).setAAD(first).setAuthTag(tag)
}
