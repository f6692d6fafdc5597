import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt, type CipherGCM } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { PassThrough, Transform, type Readable, type Writable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { AppError } from '../core/errors.js'

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
    throw new AppError('BACKUP_FAILED', `Cannot read ${file}: ${code}.`, { cause: error })
  })
  try {
    const { size, isFolder } = await handle.stat().then((stat) => ({ size: stat.size, isFolder: stat.isDirectory() }))
    if (isFolder) throw new AppError('BACKUP_NOT_FOUND', `${file} is a folder. Name a backup in it: "feedbackctl backup list ${file}" shows them.`) // prettier-ignore
    const { buffer, bytesRead } = await handle
      .read(Buffer.alloc(MAX_HEADER), 0, MAX_HEADER, 0)
      .catch((error: unknown) => {
        throw new AppError('BACKUP_FAILED', `Cannot read ${file}: ${(error as { code?: string }).code}.`, {
          cause: error,
        })
      })
    const end = buffer.subarray(0, bytesRead).indexOf(0x0a)
    const header = end < 0 ? undefined : parsed(buffer.toString('utf8', 0, end))
    if (header?.format !== 'feedbackctl-backup/1')
      throw /^feedbackctl-backup\/[1-9]\d*$/.test(String(header?.format))
        ? new AppError('DATABASE_NEWER', `${file} was written by a newer feedbackctl. Install that version to read it.`)
        : damaged(file, 'It does not begin like a backup of feedbackctl')
    return { header, size, headerSize: end + 1 }
  } finally {
    await handle.close()
  }
}

function parsed(line: string): Header | undefined {
  try {
    return JSON.parse(line) as Header
  } catch {
    return undefined
  }
}

export const damaged = (file: string, how: string, cause?: unknown): AppError =>
  new AppError('BACKUP_DAMAGED', `${file} is damaged or incomplete. ${how}. Use another backup.`, { cause })

/** Compares the hash at the end of the file with that of all before it. `told` gets the bytes that were read. */
export async function checkHash(
  file: string,
  { size }: Opened,
  told: (bytes: number) => void = () => {},
): Promise<void> {
  if (size < HASH) throw damaged(file, 'It is too short')
  const hash = createHash('sha256')
  let [end, done] = [Buffer.alloc(0), 0]
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 18 }) as AsyncIterable<Buffer>) {
    const all = Buffer.concat([end, chunk])
    hash.update(all.subarray(0, -HASH))
    end = Buffer.from(all.subarray(-HASH))
    told((done += chunk.length))
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
  let rest = ''
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
    await flow
  } catch (error) {
    if (error instanceof AppError) throw error
    if (encryption) throw new AppError('PASSPHRASE_WRONG', `The passphrase is not that of ${file}.`, { cause: error })
    throw damaged(file, 'It cannot be unpacked', error)
  } finally {
    body.destroy()
  }
  if (rest !== '') throw damaged(file, 'Its last line is cut off')
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
