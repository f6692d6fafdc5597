import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import ipaddr from 'ipaddr.js'
import { cleanup } from './site.js'

const TYPES = { A: 1, MX: 15, TXT: 16, AAAA: 28 } as const
const NO_SUCH_NAME = 3
const FAILED = 2

/**
 * Records by name: texts, or `A 192.0.2.1`, `AAAA 2001:db8::1` and `MX mail.example.org`. To a name with `fails` the
 * server answers that it failed.
 */
export type Records = Record<string, readonly string[]>

/** Starts a DNS server with these records, and returns its address. Other names do not exist. */
export async function dnsHost(records: Records): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = []
    let at = 12 // after the header
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const question = query.subarray(12, at + 5) // the name, its end, the type and the class
    const found = records[labels.join('.').toLowerCase()]
    const code = found === undefined ? NO_SUCH_NAME : found.includes('fails') ? FAILED : 0
    const answers = (found ?? []).map(partsOf).filter(({ type }) => type === query.readUInt16BE(at + 1))
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2) // the id
    header.writeUInt16BE(0x81_80 | code, 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(code === 0 ? answers.length : 0, 6)
    socket.send(Buffer.concat([header, question, ...(code === 0 ? answers.map(answerOf) : [])]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  cleanup(async () => void socket.close())
  return `127.0.0.1:${socket.address().port}`
}

interface Part {
  type: number
  data: Buffer
}

function partsOf(record: string): Part {
  const [, kind, value = ''] = /^(A|AAAA|MX) (\S+)$/.exec(record) ?? []
  if (kind === 'MX') return { type: TYPES.MX, data: Buffer.concat([Buffer.from([0, 10]), nameOf(value)]) }
  if (kind === 'A' || kind === 'AAAA')
    return { type: TYPES[kind], data: Buffer.from(ipaddr.parse(value).toByteArray()) }
  const chunks = (record.match(/.{1,255}/gs) ?? []).map((chunk) => Buffer.concat([Buffer.from([chunk.length]), Buffer.from(chunk)])) // prettier-ignore
  return { type: TYPES.TXT, data: Buffer.concat(chunks) }
}

const nameOf = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ])

/** Refers to the name of the question. */
function answerOf({ type, data }: Part): Buffer {
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc0_0c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(60, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
