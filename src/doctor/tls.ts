import { baseOf, seen, type Check, type Finding } from './check.js'
import { visit } from './visit.js'

const HOUR = 60 * 60 * 1000
const DAY = 24 * HOUR
/** Milliseconds, and the part of its lifetime, that a certificate should still be valid: proxies renew it in the last third. */
const [SOON, NOW] = [
  { most: 14 * DAY, part: 1 / 6 },
  { most: 3 * DAY, part: 1 / 30 },
]

const RENEW = 'Renew it, and find out why it was not renewed automatically.'

const INCOMPLETE = [
  'The authority of the certificate is unknown, or the proxy does not send the intermediate certificates.',
  'Let the proxy send the whole chain, which is often in a file "fullchain.pem". If the authority is your own: NODE_EXTRA_CA_CERTS=FILE feedbackctl doctor tls --url URL', // prettier-ignore
] as const

/** Why browsers warn of a certificate, besides its dates and its names. */
const PROBLEMS: Readonly<Record<string, readonly [problem: string, fix: string]>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    'The certificate is self-signed: browsers warn of it.',
    'Get one from an authority, such as Let\'s Encrypt. If all visitors trust yours: NODE_EXTRA_CA_CERTS=FILE feedbackctl doctor tls --url URL', // prettier-ignore
  ],
  SELF_SIGNED_CERT_IN_CHAIN: [
    'The certificate is from an authority that browsers do not trust.',
    'Get one from another authority. If all visitors trust yours: NODE_EXTRA_CA_CERTS=FILE feedbackctl doctor tls --url URL', // prettier-ignore
  ],
  CERT_NOT_YET_VALID: [
    'The certificate is not valid yet.',
    'Check the clock of this machine: "feedbackctl doctor clock".',
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: INCOMPLETE,
  UNABLE_TO_GET_ISSUER_CERT: INCOMPLETE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: INCOMPLETE,
}
export const tls: Check = {
  needs: 'url',
  async look(site) {
    const base = baseOf(site)
    const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(base.hostname)
    if (base.protocol === 'http:' && isHere) return { evidence: 'Only this machine can open this address.' }
    if (base.protocol === 'http:')
      return {
        findings: [
          {
            severity: 'error',
            evidence: 'Visitors connect without TLS: others on the network can read passwords.',
            fix: 'Set up HTTPS in the proxy.',
          },
        ],
      }
    const { certificate } = await visit(base)
    if (!certificate) return { evidence: 'There is no certificate.' }
    const { until, lifetime, names, isForHost, problem } = certificate
    const isWithin = ({ most, part }: typeof SOON) => left < Math.min(most, lifetime * part)
    const left = until - site.now.getTime()
    const days = Math.floor(left / DAY)
    const date = new Date(until).toISOString().slice(0, 10)
    const findings: Finding[] = []
    if (left <= 0)
      findings.push({ severity: 'error', evidence: `The certificate expired on ${date}: browsers warn of it.`, fix: RENEW }) // prettier-ignore
    else if (isWithin(SOON))
      findings.push({
        severity: isWithin(NOW) ? 'error' : 'warning',
        evidence: `The certificate expires in ${days > 0 ? countOf(days, 'day') : countOf(Math.floor(left / HOUR), 'hour')}, on ${date}.`, // prettier-ignore
        fix: RENEW,
      })
    if (!isForHost)
      findings.push({
        severity: 'error',
        evidence: `The certificate is for ${names.replaceAll(/(DNS|IP Address):/g, '')}, and not for ${base.hostname}.`,
        fix: `Get a certificate for ${base.hostname}, or give the proxy the right one.`,
      })
    // OpenSSL names one problem: the dates and the names were looked at already
    if (problem !== undefined && !['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID'].includes(problem)) {
      const [evidence, fix] = PROBLEMS[problem] ?? [
        `The certificate is not trusted (${problem}).`,
        'Get one from an authority that browsers trust.',
      ]
      findings.push({ severity: 'error', evidence, fix })
    }
    return seen(findings, `The certificate is trusted, and valid for ${countOf(days, 'day')}, until ${date}.`)
  },
}

const countOf = (count: number, unit: 'day' | 'hour') => `${count} ${unit}${count === 1 ? '' : 's'}`
