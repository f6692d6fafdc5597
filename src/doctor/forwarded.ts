import { PROOF_HEADER, type Echo } from '../core/wire.js'
import { lazySecrets } from '../secret.js'
import { isLoopback } from '../service/lib/clients.js'
import { openedAnswer, operatorProof } from '../service/lib/proof.js'
import { baseOf, type Check, type Finding, type Site } from './check.js'
import { visit } from './visit.js'

/** An address reserved for documentation, in place of one that a visitor could claim. */
const CLAIMED = '203.0.113.99'

const PROXY = 'Let the proxy set X-Forwarded-For. See "Behind a proxy, and below a path" in docs/operating.md.'

/** The server gets the addresses of visitors from the proxy, and accepts them from nobody else. Checked by a request. */
export const forwarded: Check = {
  needs: 'url',
  async look(site) {
    const secret = secretOf(site)
    if (secret === undefined) return { skipped: 'Needs the secret: see the check "secret".' }
    const own = { secret: () => secret, now: () => new Date() }
    const proof = await operatorProof(own)
    const { status, text, from } = await visit(new URL('echoz', baseOf(site)), {
      accept: 'text/plain',
      'x-forwarded-for': CLAIMED,
      [PROOF_HEADER]: proof,
    })
    const answer = status === 200 ? await openedAnswer(own, proof, text) : undefined
    const echo = answer === undefined ? undefined : (JSON.parse(answer) as Echo)
    if (echo === undefined)
      return { findings: [{ severity: 'warning', evidence: `The server does not say what reaches it: it answers ${status}.`, fix: 'Run "doctor" where the server runs, with the same secret, version and time. Restart the server if it is older.' }] } // prettier-ignore
    const isDirect = echo.peer.port === from.port && plain(echo.peer.address) === plain(from.address)
    const finding = isDirect ? direct(echo) : behind(echo)
    if (finding) return { findings: [finding] }
    if (isDirect) return { evidence: 'There is no proxy before the server.' }
    return { evidence: `The proxy at ${plain(echo.peer.address)} is trusted. The server sees this visit come from ${echo.client === CLAIMED ? lastOf(echo) : echo.client}.` } // prettier-ignore
  },
}

function secretOf({ config }: Site): string | undefined {
  try {
    return lazySecrets(config, { isBound: true }).secret()
  } catch {
    return undefined // what is wrong with it is a finding of `secret`
  }
}

/** IPv4 as such, where a socket of IPv6 has it. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d)/, '')

const addressesIn = ({ forwardedFor }: Echo): string[] => (forwardedFor ?? '').split(',').map((each) => each.trim()).filter((each) => each !== '') // prettier-ignore
const lastOf = (echo: Echo): string => addressesIn(echo).at(-1) ?? ''

const namedAs = (address: string): string => (isLoopback(address) ? 'loopback' : plain(address))

function direct({ trustsAll }: Echo): Finding | undefined {
  if (!trustsAll) return undefined
  return {
    severity: 'error',
    evidence: 'There is no proxy before the server, but trust-proxy is true: visitors can claim any address.',
    fix: 'Remove the setting trust-proxy, and restart "feedbackctl serve".',
  }
}

function behind(echo: Echo): Finding | undefined {
  const { peer, isPeerTrusted, trustsAll } = echo
  const addresses = addressesIn(echo)
  if (addresses.length === 0)
    return {
      severity: 'error',
      evidence: `The proxy at ${plain(peer.address)} does not send X-Forwarded-For: limits count all visitors as one.`,
      fix: PROXY,
    }
  if (addresses.join() === CLAIMED)
    return {
      severity: 'error',
      evidence: isPeerTrusted
        ? 'The proxy passes on X-Forwarded-For as visitors send it: they can claim any address.'
        : `The proxy at ${plain(peer.address)} passes on X-Forwarded-For as visitors send it, and adds no address.`,
      fix: PROXY,
    }
  if (!isPeerTrusted)
    return {
      severity: 'error',
      evidence: `The proxy at ${plain(peer.address)} says who visits, but trust-proxy does not name it: limits count all visitors as one.`,
      fix: `Set trust-proxy = "${namedAs(peer.address)}", and restart "feedbackctl serve".`,
    }
  if (!trustsAll) return undefined
  const isPassedOn = addresses.includes(CLAIMED)
  return {
    severity: isPassedOn ? 'error' : 'warning',
    evidence: isPassedOn
      ? 'trust-proxy is true, and the proxy adds to what visitors send: they can claim any address.'
      : 'trust-proxy is true: anyone who bypasses the proxy can claim any address.',
    fix: `Set trust-proxy = "${namedAs(peer.address)}", and restart "feedbackctl serve".`,
  }
}
