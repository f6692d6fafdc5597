// The least that a Node server can do: answers with the same bytes that our server answered, which it is given in a file, and nothing else.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const answers = new Map(
  JSON.parse(readFileSync(process.argv[2], 'utf8')).map(({ kind, status, headers, body }) => [
    kind,
    { status, headers: Object.entries(headers).flat(), body: Buffer.from(body, 'base64') },
  ]),
)
const [only] = answers.values()

/** The answer to a request; where there is only one, it is not looked up. */
const answerTo =
  answers.size === 1
    ? () => only
    : ({ method, url }, body) => answers.get(`${method} ${url} ${body}`) ?? answers.get(`${method} ${url}`)

createServer((request, reply) => {
  const answer = (text) => {
    const { status, headers, body } = answerTo(request, text)
    reply.writeHead(status, headers)
    reply.end(body)
  }
  if (request.method === 'GET') return answer('')
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => (text += chunk))
  request.on('end', () => answer(text))
}).listen(0, '127.0.0.1', function listening() {
  console.error(`listening on http://127.0.0.1:${this.address().port}`)
})
