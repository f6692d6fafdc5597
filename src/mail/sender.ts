import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { evaluate, recordsIn, type Verdict } from './spf.js'
import type { Step } from './steps.js'

/** Settings of DNS lookups: milliseconds for an answer, and another server than that of the machine. */
export interface Asking {
  timeout: number
  server?: string | undefined
}

/** Selectors that mail providers give. The DNS cannot list those of a domain. */
const USUAL_SELECTORS = ['default', 'mail', 'dkim', 's1', 's2', 'selector1', 'selector2', 'google', 'k1', 'fm1', 'pm']

/**
 * Whether receivers can trust mail of a domain: its SPF, DKIM and DMARC. Nothing here stops a mail from leaving. `host`:
 * the mail server; `ip`: the address from which its mail reaches receivers, where it is known.
 */
export async function checkSender(
  domain: string,
  { host, ip, selector, asking }: { host: string; ip: string | undefined; selector: string | undefined; asking: Asking }, // prettier-ignore
): Promise<Step[]> {
  if (isIP(domain) || !domain.includes('.') || /\.(local|localhost|internal|test|invalid)$/.test(domain))
    return [
      {
        step: 'sender domain',
        result: 'warning',
        detail: `${domain || 'nothing'} is not a public domain, so other mail servers refuse its mail`,
        next: 'Set mail.from to an address of a domain that is yours.',
      },
    ]
  const resolver = new Resolver({ timeout: asking.timeout, tries: 1 })
  if (asking.server !== undefined) resolver.setServers([asking.server])
  const steps: Step[] = []
  try {
    const found = await texts(resolver, domain)
    if (found === 'no such name') return [noSuchDomain(domain)]
    steps.push(await spfOf(resolver, domain, { host: host.replaceAll(/[[\]]/g, ''), ip, found }))
    steps.push(await dkimOf(resolver, domain, selector))
    steps.push(await dmarcOf(resolver, domain))
  } catch (error) {
    steps.push({ step: 'DNS', result: 'skipped', detail: `cannot be asked (${(error as { code?: string }).code})` })
  }
  return steps
}

/** The TXT records of a name. Throws where the DNS does not answer. */
async function texts(resolver: Resolver, name: string): Promise<string[] | 'no such name'> {
  try {
    return (await resolver.resolveTxt(name)).map((parts) => parts.join(''))
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === 'ENODATA') return []
    if (code === 'ENOTFOUND') return 'no such name'
    throw error
  }
}

const noSuchDomain = (domain: string): Step => ({
  step: 'sender domain',
  result: 'warning',
  detail: `${domain} does not exist in the DNS, so other mail servers refuse its mail`,
  next: 'Set mail.from to an address of a domain that is yours.',
})

interface Sent {
  host: string
  ip: string | undefined
  found: readonly string[]
}

async function spfOf(resolver: Resolver, domain: string, { host, ip, found }: Sent): Promise<Step> {
  const step = 'SPF'
  const records = recordsIn(found)
  const [record] = records
  if (record === undefined)
    return {
      step,
      result: 'warning',
      detail: `${domain} does not say who may send its mail`,
      next: `Add a TXT record to ${domain}: ${ip === undefined ? proposed(domain, host) : `v=spf1 ${rangeOf(ip)} ~all`}`,
    }
  if (records.length > 1)
    return {
      step,
      result: 'warning',
      detail: `${domain} has ${records.length} records, so receivers ignore them all`,
      next: `Leave one TXT record with v=spf1 at ${domain}, and put what the others allow into it.`,
    }
  if (/(^| )\+?all$/i.test(record.trim()))
    return {
      step,
      result: 'warning',
      detail: `${record}: this lets anyone send as ${domain}`,
      next: `End the TXT record v=spf1 of ${domain} with ~all.`,
    }
  const addresses = ip === undefined ? await addressesOf(resolver, host) : [ip]
  const verdicts: (Verdict & { address: string })[] = []
  for (const address of addresses.length > 0 ? addresses : [NOBODY])
    verdicts.push({ address, ...(await evaluate(resolver, domain, record, address)) })
  return {
    step,
    ...judged(record, domain, { verdicts, isKnown: addresses.length > 0, host, isGiven: ip !== undefined }),
  }
}

/** An address outside of every record: evaluating it reads the whole record. */
const NOBODY = '203.0.113.254'

const isOwn = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`)

const rangeOf = (ip: string): string => `ip${isIP(ip)}:${ip}`

function proposed(domain: string, host: string): string {
  if (isIP(host) && isPublic(host)) return `v=spf1 ${rangeOf(host)} ~all`
  if (isOwn(host, domain)) return `v=spf1 a:${host} ~all`
  return isIP(host) || !host.includes('.')
    ? 'v=spf1 ip4:ADDRESS ~all, with the public address from which mail leaves'
    : `v=spf1 include:NAME ~all, with the name that the provider of ${host} gives`
}

const isPublic = (address: string): boolean => ipaddr.process(address).range() === 'unicast'

/** The public addresses of the mail server. Those of this machine are not known: it may have others outside. */
async function addressesOf(resolver: Resolver, host: string): Promise<string[]> {
  if (isIP(host)) return isPublic(host) ? [host] : []
  const found = await Promise.all(
    [resolver.resolve4(host), resolver.resolve6(host)].map((each) => each.catch(() => [])),
  )
  return found.flat().filter(isPublic)
}

interface Seen {
  verdicts: readonly (Verdict & { address: string })[]
  /** Whether these are addresses of the mail server, or the one that was given. */
  isKnown: boolean
  isGiven: boolean
  host: string
}

/** The meaning of the verdicts. A provider often takes mail at one address, and sends it from others. */
function judged(record: string, domain: string, { verdicts, isKnown, isGiven, host }: Seen): Omit<Step, 'step'> {
  const unread = verdicts[0]?.unread ?? []
  const left = unread.length === 0 ? '' : `. Not evaluated: ${unread.join(' ')}`
  const broken = verdicts.find(({ result }) => result === 'permerror')
  if (broken)
    return {
      result: 'warning',
      detail: `${record}: receivers cannot use it, as ${broken.by}`,
      next: `Correct the TXT record v=spf1 of ${domain}.`,
    }
  if (!isKnown)
    return { result: 'ok', detail: `${record}. Whether it allows this machine was not checked: add --ip ADDRESS, from which mail leaves${left}` } // prettier-ignore
  const refused = verdicts.find(({ result }) => result !== 'pass')
  if (!refused)
    return { result: 'ok', detail: `${record}: allows ${verdicts.map(({ address, by }) => `${address} (${by})`).join(', ')}${left}` } // prettier-ignore
  const { address, result, by } = refused
  if (isGiven || isOwn(host, domain) || isIP(host))
    return {
      result: 'warning',
      detail: `${record}: does not allow ${address} (${result} by ${by})${left}`,
      next: `Add ${rangeOf(address)} to the TXT record v=spf1 of ${domain}, before "all".`,
    }
  return { result: 'ok', detail: `${record}. It does not name ${address} of ${host}; the provider may send from other addresses: add --ip ADDRESS to check one${left}` } // prettier-ignore
}

async function dkimOf(resolver: Resolver, domain: string, selector: string | undefined): Promise<Step> {
  const step = 'DKIM'
  for (const name of selector === undefined ? USUAL_SELECTORS : [selector]) {
    const found = await texts(resolver, `${name}._domainkey.${domain}`)
    const record = found === 'no such name' ? undefined : found.find((text) => /(^|;)\s*p=/i.test(text))
    if (record === undefined) continue
    if (/(^|;)\s*p=\s*(;|$)/i.test(record))
      return {
        step,
        result: 'warning',
        detail: `the key ${name} of ${domain} was revoked`,
        next: `Publish a new key at ${name}._domainkey.${domain}, as your mail provider says.`,
      }
    return { step, result: 'ok', detail: `${domain} has the key ${name}` }
  }
  if (selector === undefined)
    return { step, result: 'skipped', detail: 'no key under a usual name. Add --dkim-selector to look under yours' }
  return {
    step,
    result: 'warning',
    detail: `there is no key at ${selector}._domainkey.${domain}`,
    next: `Publish the key of your mail server as a TXT record at ${selector}._domainkey.${domain}.`,
  }
}

/** The record of the domain, or of the nearest one above it. */
async function dmarcOf(resolver: Resolver, domain: string): Promise<Step> {
  const step = 'DMARC'
  const labels = domain.split('.')
  for (let from = 0; from <= labels.length - 2; from++) {
    const name = `_dmarc.${labels.slice(from).join('.')}`
    const found = await texts(resolver, name)
    const record = found === 'no such name' ? undefined : found.find((text) => /^v=DMARC1\s*(;|$)/i.test(text))
    if (record !== undefined) return { step, result: 'ok', detail: from === 0 ? record : `${record} (${name})` }
  }
  return {
    step,
    result: 'warning',
    detail: `${domain} does not say what receivers do with forged mail`,
    next: `Add a TXT record to _dmarc.${domain}: v=DMARC1; p=none`,
  }
}
