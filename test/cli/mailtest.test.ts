import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { MailReport } from '../../src/mail/check.js'
import { checkSender } from '../../src/mail/sender.js'
import { makeMachine } from '../support/cli.js'
import { dnsHost } from '../support/dns.js'
import { freePort } from '../support/ports.js'
import { authority, certificate } from '../support/proxy.js'
import { engines } from '../support/site.js'
import { brokenHost, smtpHost, type MailHost } from '../support/smtp.js'

const PASSWORD = 'p@ss:w/rd'
const FORMS = [
  PASSWORD,
  encodeURIComponent(PASSWORD),
  ...[PASSWORD, `\0board\0${PASSWORD}`].map((text) => Buffer.from(text).toString('base64')),
]

/** Nothing has the name of a machine without a site: the test of the mail needs no database. */
async function tested(url: string, args = '') {
  const machine = await makeMachine('sqlite')
  const { run } = machine
  const env = { FEEDBACKCTL_MAIL_URL: url, FEEDBACKCTL_MAIL_FROM: 'noreply@moonbase.example' }
  const dns = args.includes('--dns') ? '' : `--dns ${await dnsHost({ 'moonbase.example': ['v=spf1 mx ~all'] })}`
  const { code, stdout, stderr } = await run(`mail test --json --timeout 2 ${dns} ${args}`, { env })
  for (const secret of FORMS) expect(stdout + stderr).not.toContain(secret)
  const report = JSON.parse(stdout) as MailReport
  expect([code, report.works]).toEqual([report.works ? 0 : 9, report.works])
  const { fix } = report.works ? { fix: /^Next: (.*)\n$/.exec(stderr)?.[1] } : (JSON.parse(stderr) as { fix: string })
  expect(fix).toBe(report.next)
  const failed = report.steps
    .filter(({ result }) => result === 'failed')
    .map(({ step, detail }) => `${step}: ${detail}`)
  return { ...report, failed }
}

const strictUrl = (host: MailHost): string => host.url.replace(/\/\?.*/, '')
const TO = '--to bob@example.org'

const refusing = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })

describe('mail test says why mail does not arrive, and what to do', () => {
  it('there is no such host', async () => {
    const { failed, next } = await tested('smtp://nosuch.invalid:587')
    expect(failed).toEqual([expect.stringMatching(/^name: .*nosuch\.invalid/)])
    expect(next).toMatch(/^(Correct the host in mail\.url|Check the DNS)/)
  })

  it('the port is closed', async () => {
    const port = await freePort()
    const { failed, next, steps } = await tested(`smtp://ada:o@localhost:${port}`)
    expect(failed).toEqual([`port: localhost:${port} refuses connections`])
    expect(steps[0]?.detail).toMatch(/^localhost is /) // a short password is not masked in other words
    expect(next).toContain('Correct the port in mail.url')
  })

  it('a password of a letter is masked in what the server says after it, and in no words of ours', async () => {
    const url = `smtp://ada:a@localhost:${await freePort()}`
    const { stdout } = await (await makeMachine('sqlite')).run('mail test --json --timeout 2', { env: { FEEDBACKCTL_MAIL_URL: url } }) // prettier-ignore
    expect(stdout).toContain('localhost is not a public domain')
    const host = await smtpHost({ onAuth: (_given, _session, done) => done(new Error('a is wrong for a user')) })
    const refused = await tested(host.url.replace('board:p%40ss%3Aw%2Frd@', 'a:a@'))
    expect(refused.failed).toEqual([
      expect.stringMatching(/^sign-in: the server refuses a: .*\*\*\* is wrong for \*\*\* user/),
    ])
    expect(refused.transcript.join('\n')).toMatch(/S: .*\*\*\* is wrong for \*\*\* user/)
  })

  it('the server says nothing', async () => {
    const { failed, next, steps } = await tested(`smtp://127.0.0.1:${await brokenHost(() => {})}`)
    expect(failed).toEqual(['banner: nothing within 2 s'])
    expect(steps).toContainEqual(expect.objectContaining({ step: 'TLS', result: 'skipped', detail: expect.stringContaining('TLS from the start does not work either') })) // prettier-ignore
    expect(next).toContain('Ask whoever runs the mail server why it does not answer')
  })

  it('the server hangs up at once', async () => {
    const { failed, next } = await tested(`smtp://127.0.0.1:${await brokenHost((socket) => socket.end())}`)
    expect(failed).toEqual(['banner: the server closes the connection at once'])
    expect(next).toContain('refuses the address of this machine')
  })

  it('the server hangs up after its banner', async () => {
    const port = await brokenHost((socket) => socket.write('220 mail.example.org\r\n', () => socket.end()))
    const { failed, transcript } = await tested(`smtp://127.0.0.1:${port}`)
    expect(failed).toEqual([expect.stringMatching(/^TLS: STARTTLS does not work: .*closed/)])
    expect(transcript[0]).toBe('S: 220 mail.example.org')
  })

  it('the server turns this machine away', async () => {
    const port = await brokenHost((socket) => socket.write('554 5.7.1 you are on a list\r\n'))
    const { failed, next } = await tested(`smtp://127.0.0.1:${port}`)
    expect(failed).toEqual(['banner: 554 5.7.1 you are on a list'])
    expect(next).toContain('why it refuses this machine')
  })

  it('what answers is no mail server', async () => {
    const port = await brokenHost((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const { failed, next } = await tested(`smtp://127.0.0.1:${port}`)
    expect(failed).toEqual(['banner: HTTP/1.1 400 Bad Request'])
    expect(next).toContain('what answers there is not a mail server')
  })

  it('the server has no TLS, and there is a password', async () => {
    const host = await smtpHost({ address: '127.0.0.2', hideSTARTTLS: true, disabledCommands: ['STARTTLS'] })
    const { failed, next, steps } = await tested(host.url)
    expect(failed).toEqual([expect.stringMatching(/^TLS: the server offers no TLS, and mail\.url has a password: 5/)])
    expect(JSON.stringify(steps)).not.toMatch(/SSL routines|error:0/)
    expect(steps.at(-4)).toMatchObject({
      step: 'TLS',
      result: 'skipped',
      detail: 'A connection without TLS would work',
    })
    expect(next).toContain(`a password is never sent without TLS, and port ${host.port} has none`)
  })

  it('the certificate signed itself', async () => {
    const host = await smtpHost(await certificate())
    const { failed, next } = await tested(strictUrl(host))
    expect(failed).toEqual(['TLS: the certificate of 127.0.0.1 is not trusted: self-signed certificate'])
    expect(next).toMatch(/^If you trust this mail server.*NODE_EXTRA_CA_CERTS/)
  })

  it.each([
    ['it has expired', { days: -2 }, /is not trusted: certificate has expired$/, /renew its certificate/],
    ['it is of another host', { host: 'mail.example.org' }, /is not trusted: .*127\.0\.0\.1/, /^Use a host in mail.url that the certificate names/], // prettier-ignore
    ['it is in order', {}, undefined, /^Add a TXT record/],
  ])('the certificate is of an authority that this machine knows, and %s', async (_what, options, problem, advice) => {
    const of = await authority()
    const machine = await makeMachine('sqlite')
    const file = path.join(machine.folder, 'ca.pem')
    writeFileSync(file, of.cert)
    const host = await smtpHost(await certificate({ of, ...options }))
    const env = { FEEDBACKCTL_MAIL_URL: strictUrl(host), FEEDBACKCTL_MAIL_FROM: 'noreply@moonbase.example', NODE_EXTRA_CA_CERTS: file } // prettier-ignore
    const dns = await dnsHost({ 'moonbase.example': [] })
    const { stdout, code } = await machine.run(`mail test --json --timeout 2 --dns ${dns}`, { env })
    const { steps, next } = JSON.parse(stdout) as MailReport
    const { result, detail } = steps.find(({ step }) => step === 'TLS') ?? {}
    expect([code, result]).toEqual(problem ? [9, 'failed'] : [0, 'ok'])
    expect(detail).toMatch(problem ?? /^TLSv1\.\d, with a certificate for 127\.0\.0\.1$/)
    expect(next).toMatch(advice)
  })

  it('TLS is expected from the start where there is STARTTLS', async () => {
    const host = await smtpHost()
    const { failed, next } = await tested(host.url.replace('smtp:', 'smtps:'))
    expect(failed).toEqual(['TLS: TLS from the start does not work: the server does not answer with TLS'])
    expect(next).toBe(`Write smtp:// instead of smtps:// in mail.url: port ${host.port} speaks STARTTLS.`)
  })

  it('STARTTLS is expected where there is TLS from the start', async () => {
    const host = await smtpHost({ secure: true })
    const { failed, next } = await tested(host.url)
    expect(failed).toEqual(['banner: nothing within 2 s'])
    expect(next).toBe(`Write smtps:// instead of smtp:// in mail.url: port ${host.port} speaks TLS from the start.`)
  })

  it('the password is wrong', async () => {
    const host = await smtpHost()
    const { failed, next, transcript } = await tested(host.url.replace('p%40ss', 'wr0ng-s3cret'))
    expect(failed).toEqual([expect.stringMatching(/^sign-in: the server refuses board: 535 /)])
    expect(next).toContain('Correct user and password in mail.url.')
    expect(transcript.join('\n')).toMatch(/C: AUTH PLAIN \*\*\*\nS: 535 /)
    expect(JSON.stringify(transcript)).not.toContain('wr0ng')
  })

  it('the sender is refused', async () => {
    const host = await smtpHost({ onMailFrom: (_address, _session, done) => done(refusing(550, 'not your address')) })
    const { failed, next } = await tested(host.url, TO)
    expect(failed).toEqual([expect.stringMatching(/^sending: the server refuses the sender noreply@moonbase\.example: 550 not your address/)]) // prettier-ignore
    expect(next).toContain('Set mail.from')
  })

  it('the recipient is put off', async () => {
    const host = await smtpHost({ onRcptTo: (_address, _session, done) => done(refusing(450, 'greylisted')) })
    const { failed, next } = await tested(host.url, TO)
    expect(failed).toEqual([expect.stringMatching(/^sending: the server does not accept the mail to bob@example\.org now: 450 greylisted/)]) // prettier-ignore
    expect(next).toContain('Try again in a few minutes')
  })

  it('the recipient is refused', async () => {
    const host = await smtpHost({ onRcptTo: (_address, _session, done) => done(refusing(550, 'no such mailbox')) })
    const { failed, next } = await tested(host.url, TO)
    expect(failed).toEqual([expect.stringMatching(/^sending: the server refuses the recipient bob@example\.org: 550 /)])
    expect(next).toContain('Check the address.')
  })

  it('the server wants a sign-in, and mail.url has none', async () => {
    const host = await smtpHost()
    const { failed, next } = await tested(host.url.replace('board:p%40ss%3Aw%2Frd@', ''), TO)
    expect(failed).toEqual([expect.stringMatching(/^sending: the server takes no mail without a sign-in: 530 /)])
    expect(next).toContain('Put the user and password in mail.url')
  })

  it('the mail is too large', async () => {
    const { failed, next } = await tested((await smtpHost({ size: 100 })).url, TO)
    expect(failed).toEqual([expect.stringMatching(/^sending: the mail is too large for the server: .*100/)])
    expect(next).toContain('higher limit')
    const late = await smtpHost()
    late.onMail = async () => Promise.reject(refusing(552, 'message size exceeds the limit'))
    expect((await tested(late.url, TO)).failed).toEqual([
      expect.stringMatching(/^sending: the mail is too large for the server: 552 message size/),
    ])
  })

  it('the mail itself is refused', async () => {
    const host = await smtpHost()
    host.onMail = async () => Promise.reject(refusing(554, 'looks like spam'))
    const { failed } = await tested(host.url, TO)
    expect(failed).toEqual([expect.stringMatching(/^sending: the server refuses the mail: 554 looks like spam/)])
  })

  it('the folder cannot be written, and the program does not exist', async () => {
    expect((await tested('folder:/dev/null/mail')).failed).toEqual([expect.stringMatching(/^folder: ENOTDIR/)])
    expect((await tested('sendmail:/nosuch/sendmail')).failed).toEqual([
      'program: /nosuch/sendmail is not a program on this machine',
    ])
  })
})

describe('mail test', () => {
  it('sends nothing unless it is told to whom', async () => {
    const host = await smtpHost()
    for (const args of ['', `${TO} --dry-run`]) {
      const { works, steps, next, transcript } = await tested(host.url, args)
      expect(works).toBe(true)
      expect(steps.map(({ step, result }) => [step, result])).toEqual([
        ['name', 'ok'],
        ['port', 'ok'],
        ['banner', 'ok'],
        ['TLS', 'ok'],
        ['sign-in', 'ok'],
        ['sending', 'skipped'],
        ['SPF', 'ok'],
        ['DKIM', 'skipped'],
        ['DMARC', 'warning'],
      ])
      expect(next).toBe('Add a TXT record to _dmarc.moonbase.example: v=DMARC1; p=none')
      expect(transcript).toEqual(expect.arrayContaining(['C: STARTTLS', 'C: AUTH PLAIN ***']))
    }
    expect(host.received).toEqual([])
    expect(await tested(host.url, TO)).toMatchObject({ works: true })
    expect(host.received).toMatchObject([{ to: ['bob@example.org'], from: 'noreply@moonbase.example', secure: true }])
  })

  it('says what the DNS lets receivers think of the sender', async () => {
    const { url } = await smtpHost()
    const asked = async (records: Record<string, string[]>, args = '') => {
      const { steps, next } = await tested(url, `--dns ${await dnsHost(records)} ${args}`)
      return [...steps.slice(6).map(({ step, result }) => `${step} ${result}`), next]
    }
    const all = {
      'moonbase.example': ['google-site-verification=x', 'v=spf1 ip4:192.0.2.1 -all'],
      's1._domainkey.moonbase.example': ['v=DKIM1; k=rsa; p=MIGf'],
      '_dmarc.moonbase.example': ['v=DMARC1; p=reject'],
    }
    expect(await asked(all)).toEqual(['SPF ok', 'DKIM ok', 'DMARC ok', 'Send a test mail: feedbackctl mail test --to ADDRESS']) // prettier-ignore
    expect(await asked(all, '--dkim-selector s9')).toEqual(['SPF ok', 'DKIM warning', 'DMARC ok', expect.stringContaining('s9._domainkey.moonbase.example')]) // prettier-ignore
    const broken = async (changed: Record<string, string[]>) => (await asked({ ...all, ...changed })).join(' | ')
    expect(await broken({ 'moonbase.example': ['other'] })).toMatch(
      /^SPF warning .* v=spf1 ip4:ADDRESS ~all, with the public address/,
    )
    expect(await broken({ 'moonbase.example': ['v=spf1 a -all', 'v=spf1 mx -all'] })).toMatch(
      /^SPF warning .*Leave one/,
    )
    expect(await broken({ 'moonbase.example': ['v=spf1 +all'] })).toMatch(/^SPF warning .*End the TXT record/)
    expect(await broken({ 's1._domainkey.moonbase.example': ['v=DKIM1; p='] })).toMatch(/DKIM warning .*Publish a new key/) // prettier-ignore
    expect(await asked({})).toEqual(['sender domain warning', expect.stringContaining('Set mail.from')])
    expect(await asked({ ...all, '_dmarc.moonbase.example': [] })).toContain('DMARC warning')
  })

  it('evaluates SPF for the address from which mail leaves', async () => {
    const { url } = await smtpHost()
    const spf = async (record: string, args = '', more = {}) => {
      const dns = await dnsHost({
        'moonbase.example': record === '' ? [] : [record, 'A 192.0.2.10'],
        'mail.moonbase.example': ['A 198.51.100.7'],
        ...more,
      })
      const { steps, next } = await tested(url, `--dns ${dns} ${args}`)
      const { result, detail } = steps.find(({ step }) => step === 'SPF') ?? {}
      return [`${result}: ${detail}`, next]
    }
    const IP = '--ip 192.0.2.1'
    expect(await spf('v=spf1 ip4:192.0.2.0/24 -all', IP)).toContain('ok: v=spf1 ip4:192.0.2.0/24 -all: allows 192.0.2.1 (ip4:192.0.2.0/24)') // prettier-ignore
    expect(await spf('v=spf1 a -all', IP)).toEqual([
      'warning: v=spf1 a -all: does not allow 192.0.2.1 (fail by -all)',
      'Add ip4:192.0.2.1 to the TXT record v=spf1 of moonbase.example, before "all".',
    ])
    expect((await spf('v=spf1 a -all'))[0]).toMatch(/^ok: v=spf1 a -all\. Whether it allows this machine was not checked: add --ip/) // prettier-ignore
    expect(await spf('v=spf1 include:none.example -all')).toEqual([
      'warning: v=spf1 include:none.example -all: receivers cannot use it, as "include:none.example" leads to no SPF record',
      'Correct the TXT record v=spf1 of moonbase.example.',
    ])
    expect((await spf('v=spf1 ptr a -all', '--ip 192.0.2.10'))[0]).toMatch(/allows 192\.0\.2\.10 \(a\)\. Not evaluated: ptr$/) // prettier-ignore
    expect((await spf('', '--ip 2001:db8::7'))[1]).toBe('Add a TXT record to moonbase.example: v=spf1 ip6:2001:db8::7 ~all') // prettier-ignore
    const slow = await tested(url, `--dns ${await dnsHost({ 'moonbase.example': ['v=spf1 include:slow.example -all'], 'slow.example': ['fails'] })}`) // prettier-ignore
    expect([slow.works, slow.steps.at(-1)]).toMatchObject([true, { step: 'DNS', result: 'skipped' }])
  })

  it('knows a mail server of its own domain from one of a provider', async () => {
    const records = { 'moonbase.example': ['v=spf1 a -all', 'A 8.8.8.8'], 'mail.moonbase.example': ['A 9.9.9.9'], 'smtp.provider.example': ['A 9.9.9.9'], 'both.moonbase.example': ['A 8.8.8.8', 'AAAA 2606:4700::1'] } // prettier-ignore
    const spf = async (host: string) => {
      const resolver = await dnsHost(records)
      const steps = await checkSender('moonbase.example', { host, ip: undefined, selector: undefined, asking: { timeout: 2000, server: resolver } }) // prettier-ignore
      const { result, detail, next } = steps[0] ?? {}
      return [`${result}: ${detail}`, next]
    }
    expect(await spf('mail.moonbase.example')).toEqual(['warning: v=spf1 a -all: does not allow 9.9.9.9 (fail by -all)', expect.stringContaining('Add ip4:9.9.9.9')]) // prettier-ignore
    expect(await spf('both.moonbase.example')).toEqual(['warning: v=spf1 a -all: does not allow 2606:4700::1 (fail by -all)', expect.stringContaining('Add ip6:2606:4700::1')]) // prettier-ignore
    expect(await spf('8.8.8.8')).toEqual(['ok: v=spf1 a -all: allows 8.8.8.8 (a)', undefined])
    expect((await spf('smtp.provider.example'))[0]).toMatch(/^ok: .* does not name 9\.9\.9\.9 of smtp\.provider\.example; the provider may/) // prettier-ignore
    records['moonbase.example'] = ['A 8.8.8.8']
    expect((await spf('[2606:4700::1]'))[1]).toContain('v=spf1 ip6:2606:4700::1 ~all')
    expect((await spf('mail.moonbase.example'))[1]).toContain('v=spf1 a:mail.moonbase.example ~all')
    expect((await spf('smtp.provider.example'))[1]).toContain('include:NAME ~all, with the name that the provider of smtp.provider.example gives') // prettier-ignore
  })

  it('passes over the DNS where it does not answer', async () => {
    const { url } = await smtpHost()
    const { works, steps } = await tested(url, '--dns 127.0.0.1:1 --timeout 1')
    expect([works, steps.at(-1)]).toMatchObject([true, { step: 'DNS', result: 'skipped' }])
  })

  it('is for this machine, with mail settings', async () => {
    const { run } = await makeMachine('sqlite')
    const env = { FEEDBACKCTL_MAIL_URL: 'smtp://127.0.0.1:2' }
    expect(await run('mail test')).toMatchObject({ code: 5, stderr: expect.stringContaining('MAIL_CONFIG_MISSING') })
    for (const args of [
      '--to nobody',
      '--timeout 0',
      '--dns nonsense',
      '--ip nonsense',
      '--server https://feedback.example.org',
    ])
      expect([args, (await run(`mail test ${args}`, { env })).code]).toEqual([args, 2])
  })

  it.each(engines)('works with the server and its database up or down on %s', async (engine) => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const { url } = await smtpHost()
    const env = { FEEDBACKCTL_MAIL_URL: url }
    const server = machine.start('serve')
    await server.says(/listening on/)
    expect((await machine.run('mail test', { env })).code).toBe(0)
    await server.stop()
    const gone = { ...env, FEEDBACKCTL_DATABASE_URL: engine === 'sqlite' ? 'sqlite:/nosuch/x.db' : 'postgres://127.0.0.1:1/x' } // prettier-ignore
    expect((await machine.run('mail test', { env: gone })).code).toBe(0)
  })

  it.each([60, 80])('fits a terminal of %d columns', async (columns) => {
    const machine = await makeMachine('sqlite')
    const env = { FEEDBACKCTL_MAIL_URL: 'smtp://127.0.0.1:2', NO_COLOR: '1' }
    const { text, code } = await machine.terminal('mail test', { columns, env }).ended
    expect(code).toBe(9)
    expect(text).toMatch(/failed +port +127\.0\.0\.1:2 refuses connections/)
    expect(text.split(/\r?\n/).filter((line) => line.length > columns)).toEqual([])
    expect(text).not.toContain('\u001b[3')
  })
})
