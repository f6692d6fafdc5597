import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { cleanup } from '../support/site.js'

it('"healthcheck" succeeds while the server of this configuration answers', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  const server = machine.start('serve --listen 127.0.0.1:0')
  const [, url = ''] = await server.says(/listening on (http:[^"\s]+)/)
  const env = { FEEDBACKCTL_LISTEN: new URL(url).port }
  expect(await machine.run('healthcheck', { env })).toEqual({ code: 0, stdout: `${url}/healthz\tok\n`, stderr: '' })
  // A server on all addresses is asked on this machine
  for (const args of [
    `--listen 0.0.0.0:${env.FEEDBACKCTL_LISTEN}`,
    `--listen :${env.FEEDBACKCTL_LISTEN}`,
    `--server ${url}`,
    `--server ${url}/api/v1/`,
  ])
    expect([args, await machine.run(`healthcheck --ready --json ${args}`)]).toEqual([
      args,
      { code: 0, stdout: `{"url":"${url}/readyz","status":"ready"}\n`, stderr: '' },
    ])
  await server.stop()
  const { code, stdout, stderr } = await machine.run('healthcheck', { env })
  expect([code, stdout]).toEqual([6, ''])
  expect(stderr).toContain(`✗ ${url}/healthz cannot be reached: nothing listens there.\n`)
})

it('"healthcheck" asks below the path of a site', async () => {
  const paths: (string | undefined)[] = []
  const url = await answering(({ url: path }, response) => {
    paths.push(path)
    response.end('{"status":"ok"}')
  })
  const machine = await makeMachine('sqlite')
  expect((await machine.run(`healthcheck --server ${url}/feedback`)).code).toBe(0)
  expect(paths).toEqual(['/feedback/healthz'])
})

it.each<[string, RequestListener, string]>([
  [
    'a page of another program',
    (_, response) => void response.end('<h1>Hi</h1>'),
    'answers, but not as feedbackctl does.',
  ],
  ['null', (_, response) => void response.end('null'), 'answers, but not as feedbackctl does.'],
  ['endless text', (_, response) => void response.end('x'.repeat(1_000_000)), 'answers, but not as feedbackctl does.'],
  [
    'an error',
    (_, response) => void response.writeHead(503).end('{"message":"The disk\\u001b[31m is full."}'),
    'answers with 503: The disk',
  ],
  [
    'a redirect',
    (_, response) => void response.writeHead(301, { location: 'https://example.org' }).end(),
    'answers with 301.',
  ],
  ['nothing', () => {}, 'does not answer within 1 seconds.'],
  ['half an answer', (_, response) => void response.write('{'), 'does not answer within 1 seconds.'],
  ['a closed connection', ({ socket }) => void socket.destroy(), 'cannot be reached: socket hang up.'],
])('"healthcheck" fails with %s', async (_, listener, said) => {
  const machine = await makeMachine('sqlite')
  const url = await answering(listener)
  const { code, stdout, stderr } = await machine.run(`healthcheck --timeout 1s --server ${url}`)
  expect([code, stdout]).toEqual([6, ''])
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`${url}/healthz ${said}`)
  expect(stderr).not.toContain('\u001B')
})

it.each([
  ['--timeout 0', '--timeout must be a time from 1s to 5m; \\"0\\" is not.'],
  ['--timeout soon', '--timeout must be a time from 1s to 5m; \\"soon\\" is not.'],
  [
    '--listen 127.0.0.1:0',
    'listen has port 0, so the system chooses the port when serve starts. It comes from --listen.',
  ],
])('"healthcheck %s" is refused', async (args, said) => {
  const machine = await makeMachine('sqlite')
  expect(await machine.run(`healthcheck --json ${args}`)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(said),
  })
})

/** The address of a server that answers each request so. */
async function answering(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  cleanup(async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
