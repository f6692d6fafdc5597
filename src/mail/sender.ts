import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Step } from './steps.js'

/** How the DNS is asked: milliseconds for an answer, and another server than that of the machine. */
export interface Asking {
  timeout: number
  server?: string | undefined
}

/** Selectors that mail providers give. Which one a domain has cannot be asked. */
const USUAL_SELECTORS = ['default', 'mail', 'dkim', 's1', 's2', 'selector1', 'selector2', 'google', 'k1', 'fm1', 'pm']

/** Whether receivers can trust mail of a domain: its SPF, DKIM and DMARC. Nothing here stops a mail from leaving. */
export async function checkSender(
  domain: string,
  { host, selector, asking }: { host: string; selector: string | undefined; asking: Asking },
): Promise<Step[]> {
  if (isIP(domain) || !domain.includes('.') || /\.(local|localhost|internal|test|invalid)$/.test(domain))
    return [
      {
        step: 'sender domain',
        result: 'warning',
        detail: `${domain || 'nothing'} is no public domain, so other mail servers refuse its mail`,
        next: 'Set mail.from to an address of a domain that is yours.',
      },
    ]
  const resolver = new Resolver({ timeout: asking.timeout, tries: 1 })
  if (asking.server !== undefined) resolver.setServers([asking.server])
  const steps: Step[] = []
  try {
    const found = await texts(resolver, domain)
    if (found === 'no such name') return [noSuchDomain(domain)]
    steps.push(spfOf(domain, host, found))
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

function spfOf(domain: string, host: string, found: readonly string[]): Step {
  const step = 'SPF'
  const records = found.filter((text) => /^v=spf1( |$)/i.test(text))
  const [record] = records
  if (record === undefined)
    return {
      step,
      result: 'warning',
      detail: `${domain} does not say who may send its mail`,
      next: `Add a TXT record to ${domain}: v=spf1 ${isIP(host) ? `ip${isIP(host)}` : 'a'}:${host} ~all`,
    }
  if (records.length > 1)
    return {
      step,
      result: 'warning',
      detail: `${domain} has ${records.length} records, so receivers heed none`,
      next: `Leave one TXT record with v=spf1 at ${domain}, and put what the others allow into it.`,
    }
  if (/(^| )\+?all$/i.test(record.trim()))
    return {
      step,
      result: 'warning',
      detail: `${record}: this lets anybody send as ${domain}`,
      next: `End the TXT record v=spf1 of ${domain} with ~all.`,
    }
  return { step, result: 'ok', detail: record }
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
