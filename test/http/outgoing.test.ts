import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { HttpFailure, openHttp, readBody } from '../../src/core/http.js'
import { cleanup } from '../support/site.js'

const HEADERS = { 'user-agent': 'test' }
/** Longer than any test takes. */
const PATIENT = 3_600_000

async function listening(answer: RequestListener): Promise<URL> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  cleanup(async () => {
    server.closeAllConnections()
    server.close()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/start`)
}

const open = async (answer: RequestListener, timeout = PATIENT) =>
  openHttp(await listening(answer), { headers: HEADERS, timeout })

it('a redirect is an answer, which is not followed', async () => {
  const asked: (string | undefined)[] = []
  const response = await open((request, reply) => {
    asked.push(request.url)
    reply.writeHead(302, { location: '/elsewhere' }).end('moved')
  })
  expect(response).toMatchObject({ statusCode: 302, headers: { location: '/elsewhere' } })
  expect(String(await readBody(response, { timeout: PATIENT, maxBytes: 100, beyond: 'fail' }))).toBe('moved')
  expect(asked).toEqual(['/start'])
})

it('a body is sent with its length, whatever the method', async () => {
  const url = await listening((request, reply) => {
    const { method, headers } = request
    reply.end(`${method} ${headers['content-length']} ${headers['user-agent']}`)
  })
  const response = await openHttp(url, { method: 'DELETE', headers: HEADERS, body: 'Grüße', timeout: PATIENT })
  expect(String(await readBody(response, { timeout: PATIENT, maxBytes: 100, beyond: 'fail' }))).toBe('DELETE 7 test')
})

it('who never answers, or never ends, is given up', async () => {
  const failure = expect.objectContaining({ name: 'HttpFailure', code: 'TIMEOUT' })
  await expect(open(() => {}, 1)).rejects.toEqual(failure)
  const response = await open((_request, reply) => void reply.write('begun'))
  await expect(readBody(response, { timeout: 1, maxBytes: 100, beyond: 'fail' })).rejects.toEqual(failure)
})

it('a body that never ends is refused, or cut, at its limit', async () => {
  const endless: RequestListener = (_request, reply) => {
    const more = (): void => {
      while (!reply.destroyed && reply.write('x'.repeat(1000)));
    }
    reply.on('drain', more)
    more()
  }
  const limits = { timeout: PATIENT, maxBytes: 5001 }
  await expect(readBody(await open(endless), { ...limits, beyond: 'fail' })).rejects.toEqual(
    new HttpFailure('TOO_LARGE'),
  )
  expect(String(await readBody(await open(endless), { ...limits, beyond: 'cut' }))).toBe('x'.repeat(5001))
})

it('a connection that ends early is no whole body', async () => {
  const response = await open((_request, reply) => {
    reply.writeHead(200, { 'content-length': 100 })
    reply.write('half', () => reply.destroy())
  })
  await expect(readBody(response, { timeout: PATIENT, maxBytes: 1000, beyond: 'fail' })).rejects.toMatchObject({ code: 'ECONNRESET' }) // prettier-ignore
})
