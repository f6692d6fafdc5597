import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { cleanup } from './site.js'

const TXT = 16
const NO_SUCH_NAME = 3

/** Starts a DNS server with these TXT records, and returns its address. Other names do not exist. */
export async function dnsHost(records: Record<string, string[]>): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = []
    let at = 12 // after the header
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const question = query.subarray(12, at + 5) // the name, its end, the type and the class
    const texts = records[labels.join('.').toLowerCase()]
    const header = Buffer.alloc(12)
    query.copy(header, 0, 0, 2) // the id
    header.writeUInt16BE(0x81_80 | (texts ? 0 : NO_SUCH_NAME), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(texts?.length ?? 0, 6)
    socket.send(Buffer.concat([header, question, ...(texts ?? []).map(answerOf)]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  cleanup(async () => void socket.close())
  return `127.0.0.1:${socket.address().port}`
}

/** Refers to the name of the question. */
function answerOf(text: string): Buffer {
  const chunks = (text.match(/.{1,255}/gs) ?? []).map((chunk) => Buffer.concat([Buffer.from([chunk.length]), Buffer.from(chunk)])) // prettier-ignore
  const data = Buffer.concat(chunks)
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc0_0c, 0)
  head.writeUInt16BE(TXT, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(60, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
