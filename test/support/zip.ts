import { crc32 } from 'node:zlib'

type Texts = Readonly<Record<string, string | Buffer>> | readonly (readonly [name: string, text: string | Buffer])[]

/**
 * A ZIP archive of texts, not compressed. As pairs, names can be there twice. `claimed` is the size that the archive says,
 * where it lies.
 */
export function zipOf(texts: Texts, claimed?: number): Buffer {
  const files = Array.isArray(texts)
    ? (texts as readonly (readonly [string, string | Buffer])[])
    : Object.entries(texts)
  const [locals, entries]: [Buffer[], Buffer[]] = [[], []]
  let offset = 0
  for (const [name, text] of files) {
    const [path, body] = [Buffer.from(name), Buffer.isBuffer(text) ? text : Buffer.from(text)]
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(20, 4)
    local.writeUInt32LE(crc32(body), 14)
    local.writeUInt32LE(body.length, 18)
    local.writeUInt32LE(body.length, 22)
    local.writeUInt16LE(path.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(20, 4)
    entry.writeUInt16LE(20, 6)
    entry.writeUInt32LE(crc32(body), 16)
    entry.writeUInt32LE(claimed ?? body.length, 20)
    entry.writeUInt32LE(claimed ?? body.length, 24)
    entry.writeUInt16LE(path.length, 28)
    entry.writeUInt32LE(offset, 42)
    locals.push(local, path, body)
    entries.push(entry, path)
    offset += 30 + path.length + body.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}
