/**
 * A mail server on a free port, which accepts every mail. The first line it prints is its port. To a line on its input it
 * answers with JSON: how many mails it has, of how many people, and how many of them came twice.
 */
import readline from 'node:readline'
import { SMTPServer } from 'smtp-server'

const [mails, people] = [new Set(), new Set()]
let twice = 0

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  disableReverseLookup: true,
  logger: false,
  onData(stream, session, done) {
    let head = ''
    stream.on('data', (chunk) => {
      if (head.length < 4000) head += chunk.toString()
    })
    stream.on('end', () => {
      const id = /^message-id: (.*)$/im.exec(head)?.[1] ?? ''
      if (mails.has(id)) twice += 1
      mails.add(id)
      for (const { address } of session.envelope.rcptTo) people.add(address)
      done()
    })
  },
})
server.on('error', () => {}) // clients that were killed reset their connections
server.listen(0, '127.0.0.1', () => console.log(server.server.address().port))
readline
  .createInterface({ input: process.stdin })
  .on('line', () => console.log(JSON.stringify({ mails: mails.size, people: people.size, twice })))
  .on('close', () => process.exit())
