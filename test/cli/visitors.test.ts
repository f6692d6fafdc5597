import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeMachine, type Machine } from '../support/cli.js'
import { doctor, filled, secretOf } from '../support/doctor.js'
import { authority, certificate, proxy, type Proxy } from '../support/proxy.js'

const CHECKS = 'page address tls forwarded transfer'

interface Served {
  machine: Machine
  proxied: Proxy
  env: Record<string, string>
  server: ReturnType<Machine['start']>
}

interface Behind {
  /** The path of site.url. */
  base: string
  trust: string
  /** Of "serve". */
  flags: string
  machine: Machine
}

/** A site behind a proxy, whose server trusts it. */
async function behind(
  proxied: Proxy,
  { base = '', trust = 'loopback', flags = '', machine: given }: Partial<Behind> = {},
): Promise<Served> {
  const machine = given ?? (await filled('sqlite'))
  const env = { FEEDBACKCTL_SITE_URL: `${proxied.url}${base}`, FEEDBACKCTL_TRUST_PROXY: trust }
  const server = machine.start(`serve ${flags}`, { env })
  const [, target = ''] = await server.says(/listening on (http:\S+?)"/)
  proxied.target = target
  return { machine, proxied, env, server }
}

const foundBy = async ({ machine, proxied, env }: Served, checks = CHECKS, url = proxied.url): Promise<string[]> =>
  (await doctor(machine, `${checks} --url ${url}`, env)).found.map(({ id, evidence }) => `${id}: ${evidence}`)

describe('doctor --url', () => {
  it('finds nothing wrong with a proxy that passes all on, nor with none', async () => {
    const served = await behind(await proxy())
    const { found, checks } = await doctor(served.machine, `${CHECKS} --url ${served.proxied.url}`, served.env)
    expect(found).toEqual([])
    expect(checks.map(({ id }) => id)).toEqual(CHECKS.split(' '))
    const evidence = (id: string) => checks.find((each) => each.id === id)?.evidence
    expect(evidence('forwarded')).toBe('The proxy at 127.0.0.1 is trusted. The server sees this visit come from 127.0.0.1.') // prettier-ignore
    expect(evidence('transfer')).toBe('Pages arrive compressed, and only browsers store them.')
    const direct = await doctor(served.machine, `forwarded --url ${served.proxied.target}`, served.env)
    expect(direct.checks).toMatchObject([{ severity: 'ok', evidence: 'There is no proxy before the server.' }])
  })

  it('finds what a proxy takes from answers, one by one', async () => {
    const served = await behind(await proxy())
    const { proxied } = served
    const answering = async (change: object) => {
      proxied.answers = (headers) => ({ ...headers, ...change })
      return foundBy(served, 'transfer')
    }
    expect(await answering({ etag: '' })).toEqual([
      'transfer: Browsers load every page again in full: the proxy removes ETag or If-None-Match.',
    ])
    expect(await answering({ 'cache-control': 'public, max-age=600' })).toEqual([
      'transfer: The proxy lets others store pages (Cache-Control: public, max-age=600): people see old pages, or pages meant for others.',
    ])
    expect(await answering({ age: '60' })).toEqual([
      'transfer: A cache on the way answers with a page that is 60 s old.',
    ])
    expect(await answering({})).toEqual([])
    proxied.asks = (headers, visitor) => ({ ...headers, 'x-forwarded-for': visitor, 'accept-encoding': 'identity' })
    expect(await foundBy(served, 'transfer')).toEqual(['transfer: Pages arrive uncompressed.'])
    proxied.asks = ({ 'if-none-match': _removed, ...headers }) => headers
    expect(await foundBy(served, 'transfer')).toEqual([
      'transfer: Browsers load every page again in full: the proxy removes ETag or If-None-Match.',
    ])
  })

  it('finds another scheme, host and path than those of links', async () => {
    const served = await behind(await proxy())
    const { proxied, machine, env } = served
    expect(await foundBy(served, 'address', proxied.url.replace('127.0.0.1', 'localhost'))).toEqual([
      expect.stringMatching(
        /^address: People open http:\/\/localhost:\d+\/, but links of the server begin with http:\/\/127[\d.:]+\/$/,
      ),
    ])
    expect(await foundBy(served, 'page', `${proxied.url}/feedback`)).toEqual([
      expect.stringContaining('/feedback/ answers 404'),
    ])
    const secure = await proxy(await certificate())
    secure.target = proxied.target
    expect(await foundBy(served, 'address', secure.url)).toEqual([
      expect.stringMatching(
        /^address: People open https:\/\/127[\d.:]+\/, but links of the server begin with http:\/\/127/,
      ),
    ])
    expect((await doctor(machine, `address --url ${proxied.url}`, env)).found).toEqual([])
  })

  it('takes a proxy that keeps the path, and one that removes it, but none that removes another', async () => {
    const served = await behind(await proxy(), { base: '/feedback' })
    const { proxied } = served
    const url = `${proxied.url}/feedback`
    expect(await foundBy(served, CHECKS, url)).toEqual([])
    proxied.path = (each) => each.replace('/feedback', '')
    expect(await foundBy(served, CHECKS, url)).toEqual([])
    proxied.path = (each) => (each.includes('/assets/') ? each.replace('/feedback', '/other') : each)
    expect(await foundBy(served, 'page', url)).toEqual([
      expect.stringMatching(/^page: The page opens, but its file \/feedback\/assets\/\S+ answers 404/),
    ])
  })

  it('does not blame the proxy where the server fails', async () => {
    const served = await behind(await proxy())
    const { proxied } = served
    proxied.path = (each) => (each === '/' ? '/boards/%zz' : each)
    proxied.answers = (headers) => ({ ...headers, 'x-request-id': 'r1' })
    proxied.status = (status) => (status === 400 ? 500 : status)
    const { found } = await doctor(served.machine, `page address transfer --url ${proxied.url}`, served.env)
    expect(found).toMatchObject([
      { evidence: expect.stringMatching(/ answers 500: the server has failed\.$/), fix: 'Look for request r1 in the log of "feedbackctl serve".' }, // prettier-ignore
    ])
  })

  it('does not blame the proxy where the site has no pages', async () => {
    const served = await behind(await proxy(), { flags: '--web-enabled false' })
    const { proxied, machine, env } = served
    const { found, checks } = await doctor(machine, `${CHECKS} --url ${proxied.url}`, env)
    expect(found).toEqual([])
    expect(checks.map(({ id, severity, evidence }) => [id, severity, evidence])).toEqual([
      ['page', 'ok', `The server answers at ${proxied.url}/, and has no pages (web.enabled is false).`],
      ['address', 'skipped', 'The site has no pages (web.enabled is false).'],
      ['tls', 'ok', expect.any(String)],
      ['forwarded', 'ok', expect.any(String)],
      ['transfer', 'skipped', 'The site has no pages (web.enabled is false).'],
    ])
    expect(await foundBy(served, 'page', `${proxied.url}/feedback`)).toEqual([
      expect.stringContaining('/feedback/ answers 404'),
    ])
  })

  it('does not blame the proxy where the site has no owner', async () => {
    for (const base of ['', '/feedback']) {
      const served = await behind(await proxy(), { base, machine: await makeMachine('sqlite') })
      const { proxied, machine, env } = served
      const url = `${proxied.url}${base}`
      const { checks } = await doctor(machine, `page address transfer --url ${url}`, env)
      expect(checks).toMatchObject([
        { id: 'page', severity: 'error', evidence: `The site has no owner yet: ${url}/ leads to its setup.`, fix: 'feedbackctl setup' }, // prettier-ignore
        { id: 'address', severity: 'skipped', evidence: 'Needs the page: see the check "page".' },
        { id: 'transfer', severity: 'skipped', evidence: 'Needs the page: see the check "page".' },
      ])
    }
  })

  it('finds nothing wrong with another client in web.root, but one that is built for another path', async () => {
    const machine = await filled('sqlite')
    const folder = path.join(machine.folder, 'client')
    mkdirSync(folder)
    const page = (style: string) =>
      writeFileSync(path.join(folder, 'index.html'), `<title>Another</title><link rel="stylesheet" crossorigin href="${style}">${' '.repeat(2000)}`) // prettier-ignore
    page('https://cdn.invalid/site.css')
    writeFileSync(path.join(folder, 'site.css'), 'a{}')
    const served = await behind(await proxy(), { machine, base: '/feedback', flags: '--web-root client' })
    served.proxied.path = (each) => (each.startsWith('/feedback') ? each : '/none.css')
    const url = `${served.proxied.url}/feedback`
    expect(await foundBy(served, CHECKS, url)).toEqual([])
    page('/feedback/site.css')
    expect(await foundBy(served, CHECKS, url)).toEqual([])
    page('/site.css')
    expect((await doctor(machine, `page --url ${url}`, served.env)).found).toMatchObject([
      { evidence: 'The page opens, but its file /site.css answers 404: the path is not the one of site.url.', fix: expect.stringMatching(/^Build the client in web\.root for the path \/feedback\/ of the site\./) }, // prettier-ignore
    ])
    served.proxied.path = (each) => (each.startsWith('/feedback') ? each : '/')
    expect(await foundBy(served, 'page', url)).toEqual([
      'page: The page opens, but its file /site.css is not a style sheet: the path is not the one of site.url.',
    ])
  })

  it('refuses an address with a password, and does not repeat it', async () => {
    const machine = await makeMachine('sqlite')
    for (const user of ['ada:geheim@', 'ada@', ':geheim@']) {
      const { code, stdout, stderr } = await machine.run(`doctor --url http://${user}127.0.0.1:9`)
      expect([user, code, stdout]).toEqual([user, 2, ''])
      expect(stderr).toContain('--url must not contain a user or a password: name the address that visitors open.')
      expect(stderr).not.toMatch(/geheim|login/)
    }
  })

  it('finds a server that is down, once, and a proxy that is', async () => {
    const served = await behind(await proxy())
    await served.server.stop()
    expect((await foundBy(served, 'page'))[0]).toBe('page: The proxy answers 502: it does not reach feedbackctl.')
    const { checks } = await doctor(served.machine, `${CHECKS} --url http://127.0.0.1:9`, served.env)
    expect(checks.map(({ id, severity }) => `${id} ${severity}`)).toEqual([
      'page error',
      'address skipped',
      'tls skipped',
      'forwarded skipped',
      'transfer skipped',
    ])
    expect(checks[0]?.evidence).toBe('http://127.0.0.1:9 cannot be opened: nothing listens there.')
    expect((await doctor(served.machine, 'tls --url http://feedback.invalid')).found).toMatchObject([{ id: 'tls' }])
    expect((await served.machine.run('doctor tls')).code).toBe(2)
  })
})

describe('doctor --url about addresses of visitors', () => {
  const NO_HEADER = 'forwarded: The proxy at 127.0.0.1 does not send X-Forwarded-For: limits count all visitors as one.'

  it('finds a proxy that does not send them, that passes on what visitors claim, or that is not trusted', async () => {
    const served = await behind(await proxy())
    const { proxied } = served
    proxied.asks = ({ 'x-forwarded-for': _removed, ...headers }) => headers
    expect(await foundBy(served, 'forwarded')).toEqual([NO_HEADER])
    proxied.asks = (headers) => headers
    expect(await foundBy(served, 'forwarded')).toEqual([
      'forwarded: The proxy passes on X-Forwarded-For as visitors send it: they can claim any address.',
    ])
    for (const trust of ['false', '10.0.0.0/8']) {
      const other = await behind(await proxy(), { trust })
      const { found } = await doctor(other.machine, `forwarded --url ${other.proxied.url}`, other.env)
      expect(found).toMatchObject([
        {
          severity: 'error',
          evidence:
            'The proxy at 127.0.0.1 says who visits, but trust-proxy does not name it: limits count all visitors as one.',
          fix: expect.stringContaining('trust-proxy = "loopback"'),
        },
      ])
    }
  })

  it('takes a proxy that adds an address to those of visitors, where trust-proxy names it alone', async () => {
    const adding = await proxy()
    adding.asks = (headers, visitor) => ({ ...headers, 'x-forwarded-for': `${String(headers['x-forwarded-for'])}, ${visitor}` }) // prettier-ignore
    expect(await foundBy(await behind(adding), 'forwarded')).toEqual([])
    const trusting = await behind(adding, { trust: 'true' })
    expect(await foundBy(trusting, 'forwarded')).toEqual([
      'forwarded: trust-proxy is true, and the proxy adds to what visitors send: they can claim any address.',
    ])
    adding.asks = (headers, visitor) => ({ ...headers, 'x-forwarded-for': visitor })
    expect((await doctor(trusting.machine, `forwarded --url ${adding.url}`, trusting.env)).found).toMatchObject([
      { severity: 'warning', evidence: expect.stringContaining('anyone who bypasses the proxy') },
    ])
    expect(await foundBy(trusting, 'forwarded', adding.target)).toEqual([
      'forwarded: There is no proxy before the server, but trust-proxy is true: visitors can claim any address.',
    ])
  })

  it('asks for no other header: links, cookies and redirects go by site.url', async () => {
    const served = await behind(await proxy(await certificate()))
    served.proxied.asks = (headers, visitor) => ({
      ...headers,
      host: new URL(served.proxied.target).host,
      'x-forwarded-for': visitor,
      'x-forwarded-proto': 'http',
    })
    expect(await foundBy(served, 'page address forwarded transfer')).toEqual([])
  })

  it('needs the secret, and leaves what is wrong with it to the check of that name', async () => {
    const { machine, proxied, env } = await behind(await proxy())
    const look = async () => (await doctor(machine, `secret forwarded --url ${proxied.url}`, env)).checks
    const skipped = { id: 'forwarded', severity: 'skipped', evidence: 'Needs the secret: see the check "secret".' }
    writeFileSync(secretOf(machine), 'short')
    expect(await look()).toMatchObject([{ id: 'secret', severity: 'error' }, skipped])
    rmSync(secretOf(machine))
    expect(await look()).toMatchObject([{ id: 'secret', severity: 'error' }, skipped])
  })

  it('is told by the server of its own site only', async () => {
    const { machine, proxied, env } = await behind(await proxy())
    const told = (proof?: string) => fetch(`${proxied.target}/echoz`, { headers: proof === undefined ? {} : { 'feedbackctl-operator': proof } }) // prettier-ignore
    for (const proof of [undefined, '1.x', `${Date.now()}.${'0'.repeat(64)}`])
      expect([proof, (await told(proof)).status]).toEqual([proof, 404])
    // Who is asked instead of the server passes the proof on, and cannot read what it gets for it
    let proof = ''
    proxied.asks = (headers) => {
      proof = String(headers['feedbackctl-operator'] ?? proof)
      return headers
    }
    await doctor(machine, `forwarded --url ${proxied.url}`, env)
    const passedOn = await told(proof)
    expect([passedOn.status, await passedOn.text()]).toEqual([200, expect.stringMatching(/^[\w-]{100,}$/)])
    const another = { ...env, FEEDBACKCTL_SECRET: 'an other secret than before' }
    expect((await doctor(machine, `forwarded --url ${proxied.url}`, another)).found).toMatchObject([
      { severity: 'warning', evidence: 'The server does not say what reaches it: it answers 404.' },
    ])
  })
})

describe('doctor --url about the certificate', () => {
  it('finds one that expires soon, that has expired, and one of another host', async () => {
    const of = await authority()
    const machine = await filled('sqlite')
    const file = path.join(machine.folder, 'ca.pem')
    writeFileSync(file, of.cert)
    const env = { NODE_EXTRA_CA_CERTS: file }
    const served = await behind(await proxy(await certificate({ of })))
    const look = async (options: Parameters<typeof certificate>[0]) => {
      const proxied = await proxy(await certificate({ of, ...options }))
      proxied.target = served.proxied.target
      return (await doctor(machine, `tls --url ${proxied.url}`, env)).checks
    }
    expect(await look({ days: 60.5 })).toMatchObject([
      { severity: 'ok', evidence: expect.stringMatching(/^The certificate is trusted, and valid for 60 days, until 20/) }, // prettier-ignore
    ])
    expect(await look({ days: 5.5 })).toMatchObject([
      { severity: 'warning', evidence: expect.stringMatching(/^The certificate expires in 5 days, on 20/) },
    ])
    expect(await look({ days: 1.5 })).toMatchObject([
      { severity: 'error', evidence: expect.stringMatching(/^The certificate expires in 1 day, on 20/) },
    ])
    // Some authorities give certificates for six days, which are renewed two days before their end
    expect(await look({ days: 2, age: 4 })).toMatchObject([{ severity: 'ok' }])
    expect(await look({ days: 0.96, age: 5.04 })).toMatchObject([
      { severity: 'warning', evidence: expect.stringMatching(/^The certificate expires in 23 hours, on 20/) },
    ])
    expect(await look({ days: 0.1, age: 5.9 })).toMatchObject([{ severity: 'error' }])
    expect(await look({ days: -2 })).toMatchObject([
      { severity: 'error', evidence: expect.stringMatching(/^The certificate expired on 20/) },
    ])
    expect(await look({ host: 'feedback.example.org' })).toMatchObject([
      { severity: 'error', evidence: 'The certificate is for feedback.example.org, and not for 127.0.0.1.' },
    ])
    const unknown = await doctor(machine, `tls --url ${served.proxied.url}`)
    expect(unknown.found).toMatchObject([
      { evidence: expect.stringContaining('authority of the certificate is unknown'), fix: expect.stringContaining('fullchain.pem') }, // prettier-ignore
    ])
  })

  it('finds one that signed itself, and still looks at the site behind it', async () => {
    const served = await behind(await proxy(await certificate({ days: 5.5, host: 'other.example.org' })))
    expect(await foundBy(served)).toEqual([
      expect.stringMatching(/^tls: The certificate expires in 5 days/),
      'tls: The certificate is for other.example.org, and not for 127.0.0.1.',
      'tls: The certificate is self-signed: browsers warn of it.',
    ])
  })

  it('finds a site without TLS, and a port without', async () => {
    const served = await behind(await proxy())
    expect(await foundBy(served, 'tls', served.proxied.url.replace('http:', 'https:'))).toEqual([
      expect.stringMatching(/^tls: https:\S+ cannot be opened: what answers there does not speak TLS/),
    ])
  })
})
