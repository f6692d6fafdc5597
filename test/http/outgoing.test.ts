import diagnostics from 'node:diagnostics_channel'
import dns from 'node:dns'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, it, vi } from 'vitest'
import { HttpFailure, openHttp, readBody } from '../../src/core/http.js'
import { isPublic } from '../../src/core/publichosts.js'
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

const PRIVATE = expect.objectContaining({ name: 'HttpFailure', code: 'PRIVATE_ADDRESS' })

/** A name server that gives these answers, one after another, and the addresses that were dialled meanwhile. */
function resolving(...answers: string[][]): { asked: string[]; dialled: string[] } {
  const [asked, dialled]: string[][] = [[], []]
  const lookup = vi.spyOn(dns, 'lookup').mockImplementation(((host: string, _options: object, done: (error: null, found: object[]) => void) => {
    asked?.push(host)
    done(null, (answers.shift() ?? []).map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
  }) as never) // prettier-ignore
  const watch = (message: unknown) =>
    void (message as { socket: Socket }).socket.on('connectionAttempt', (address: string) => dialled?.push(address))
  diagnostics.subscribe('net.client.socket', watch)
  cleanup(async () => {
    lookup.mockRestore()
    diagnostics.unsubscribe('net.client.socket', watch)
  })
  return { asked: asked ?? [], dialled: dialled ?? [] }
}

it('a guarded request dials the address that was checked, and asks for it once', async () => {
  const names = resolving(['93.184.216.34'], ['127.0.0.1'])
  const sent = openHttp(new URL('http://rebound.example:81/'), { headers: HEADERS, timeout: 1, onlyPublic: true })
  await expect(sent).rejects.toBeInstanceOf(Error) // no test reaches it
  expect(names).toEqual({ asked: ['rebound.example'], dialled: ['93.184.216.34'] })
})

it('a guarded request reaches no private address, by its name, a list of them, or in any spelling', async () => {
  const url = await listening((_request, reply) => void reply.end('secret'))
  const guarded = (to: string) => openHttp(new URL(to), { headers: HEADERS, timeout: PATIENT, onlyPublic: true })
  await openHttp(url, { headers: HEADERS, timeout: PATIENT }).then((response) => response.resume())
  const { port } = url
  for (const host of ['127.0.0.1', '[::1]', '2130706433', '0177.0.0.1', '0x7f.1', '[::ffff:127.0.0.1]'])
    await expect(guarded(`http://${host}:${port}/`)).rejects.toEqual(PRIVATE)
  const names = resolving(['127.0.0.1'], ['93.184.216.34', '10.0.0.1'], [])
  for (const host of ['inside.example', 'both.example', 'nowhere.example'])
    await expect(guarded(`http://${host}:${port}/`)).rejects.toEqual(PRIVATE)
  expect(names.dialled).toEqual([])
})

it('an address is public only where the internet has it', () => {
  const inside = ['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '192.168.1.1', '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255', '::', '::1', '::7f00:1', '::ffff:10.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::a00:1', '2002:7f00:1::', '2001::1', '2001:db8::1', 'fc00::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', 'x'] // prettier-ignore
  expect(inside.filter((address) => isPublic(address))).toEqual([])
  expect(['93.184.216.34', '1.1.1.1', '2606:4700::1111'].filter((address) => !isPublic(address))).toEqual([])
})
