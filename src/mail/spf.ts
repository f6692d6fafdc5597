import type { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Terms that ask the DNS, and answers that are empty: RFC 7208 allows receivers no more. */
const [MAX_LOOKUPS, MAX_VOID, MAX_HOSTS] = [10, 2, 10]

const RESULTS = { '+': 'pass', '-': 'fail', '~': 'softfail', '?': 'neutral' } as const

/** The SPF verdict of a receiver about mail from an address. */
export interface Verdict {
  /** `permerror`: the record is broken, and receivers do as if there was none. */
  result: (typeof RESULTS)[keyof typeof RESULTS] | 'permerror'
  /** The term that decided, or what is broken. */
  by: string
  /** Terms that were passed over as if they did not match: `ptr`, and those with macros. */
  unread: string[]
}

class Broken extends Error {}

interface Walk {
  resolver: Resolver
  ip: string
  lookups: number
  voids: number
  unread: string[]
}

/**
 * Evaluates the record of a domain as RFC 7208 says, for mail that comes from this address. Throws where the DNS does not
 * answer.
 */
export async function evaluate(resolver: Resolver, domain: string, record: string, ip: string): Promise<Verdict> {
  const walk: Walk = { resolver, ip, lookups: 0, voids: 0, unread: [] }
  try {
    const { result, by } = await heed(walk, domain, record)
    return { result, by, unread: walk.unread }
  } catch (error) {
    if (error instanceof Broken) return { result: 'permerror', by: error.message, unread: walk.unread }
    throw error
  }
}

/** Records of SPF among texts. */
export const recordsIn = (texts: readonly string[]): string[] => texts.filter((text) => /^v=spf1( |$)/i.test(text))

type Evaluation = { result: (typeof RESULTS)[keyof typeof RESULTS] } & Pick<Verdict, 'by'>

interface Term {
  text: string
  sign: keyof typeof RESULTS
  name: string
  /** What follows the colon, without the bits of a network. */
  value: string | undefined
  /** Bits of a network: of ip4, ip6 and IPv4, and of IPv6. */
  bits: string | undefined
  bits6: string | undefined
}

/** What follows the names of terms: a domain or an address, and the bits of networks at most. */
const TERMS: Readonly<Record<string, { value: 'never' | 'optional' | 'needed'; most: readonly number[] }>> = {
  all: { value: 'never', most: [] },
  ip4: { value: 'needed', most: [32] },
  ip6: { value: 'needed', most: [128] },
  a: { value: 'optional', most: [32, 128] },
  mx: { value: 'optional', most: [32, 128] },
  include: { value: 'needed', most: [] },
  exists: { value: 'needed', most: [] },
  ptr: { value: 'optional', most: [] },
}

/** A macro such as `%{d1r/}` may hold a slash. */
const TERM = /^([+?~-])?([a-z\d]+)(?::((?:%\{[^}]*\}|%(?!\{)|[^/%])+))?(?:\/(\d{1,3}))?(?:\/\/(\d{1,3}))?$/i

/** A term that is wrong spoils the record, also where one before it matches. */
function termOf(text: string): Term {
  const [, sign, written = '', value, bits, bits6] = TERM.exec(text) ?? []
  const name = written.toLowerCase()
  const known = Object.hasOwn(TERMS, name) ? TERMS[name] : undefined
  if (known === undefined) throw new Broken(`"${text}" is not an SPF term`)
  if (value === undefined && known.value === 'needed') throw new Broken(`"${text}" names nothing`)
  if (value !== undefined && known.value === 'never')
    throw new Broken(`"${text}" has a domain, which "${name}" does not take`)
  const lengths = [bits, bits6]
  if (lengths.some((length, index) => length !== undefined && known.most[index] === undefined))
    throw new Broken(`"${text}" has a prefix length, which "${name}" does not take`)
  const isRange = name !== 'ip4' && name !== 'ip6' ? true : isIP(value ?? '') === (name === 'ip4' ? 4 : 6)
  if (!isRange || lengths.some((length, index) => Number(length ?? 0) > (known.most[index] ?? 0)))
    throw new Broken(`"${text}" is not an address range`)
  return { text, sign: (sign ?? '+') as Term['sign'], name, value, bits, bits6 }
}

async function heed(walk: Walk, domain: string, record: string): Promise<Evaluation> {
  const words = record.trim().split(/ +/).slice(1)
  const modifiers = words.filter((word) => /^[a-z][\w.-]*=/i.test(word))
  for (const name of ['redirect', 'exp'])
    if (modifiers.filter((word) => word.toLowerCase().startsWith(`${name}=`)).length > 1)
      throw new Broken(`"${name}=" is there more than once`)
  const terms = words.filter((word) => !modifiers.includes(word)).map(termOf)
  for (const term of terms) if (await matches(walk, domain, term)) return { result: RESULTS[term.sign], by: term.text }
  const target = modifiers.find((word) => /^redirect=/i.test(word))?.slice('redirect='.length)
  if (target === '') throw new Broken('"redirect=" names nothing')
  if (target !== undefined && !target.includes('%')) {
    count(walk)
    return heed(walk, target, await recordOf(walk, target, `redirect=${target}`))
  }
  if (target !== undefined) walk.unread.push(`redirect=${target}`)
  return { result: 'neutral', by: 'the end of the record' }
}

async function matches(walk: Walk, domain: string, term: Term): Promise<boolean> {
  const { text, name, value, bits, bits6 } = term
  const { resolver, ip } = walk
  const target = value ?? domain
  if (name === 'all') return true
  if (name === 'ip4' || name === 'ip6') return isIn(ip, { address: target, bits, kind: name === 'ip4' ? 4 : 6 })
  count(walk)
  if (name === 'ptr' || target.includes('%')) {
    walk.unread.push(text)
    return false
  }
  if (name === 'include') return (await heed(walk, target, await recordOf(walk, target, text))).result === 'pass'
  if (name === 'exists') return (await lookup(walk, () => resolver.resolve4(target))).length > 0
  const hosts = name === 'mx' ? (await lookup(walk, () => resolver.resolveMx(target))).map((each) => each.exchange) : [target] // prettier-ignore
  if (hosts.length > MAX_HOSTS) throw new Broken(`"${text}" names more than ${MAX_HOSTS} servers`)
  const kind = isIP(ip) === 6 ? 6 : 4
  let isVoid = hosts.length > 0
  for (const host of hosts) {
    const found = await foundBy(() => (kind === 6 ? resolver.resolve6(host) : resolver.resolve4(host)))
    if (found.some((address) => isIn(ip, { address, bits: kind === 6 ? bits6 : bits, kind }))) return true
    isVoid &&= found.length === 0
  }
  if (isVoid) countVoid(walk) // once for the term, as RFC 7208 (11.1) allows: a server may have addresses of one kind only
  return false
}

function count(walk: Walk): void {
  if (++walk.lookups > MAX_LOOKUPS) throw new Broken(`more than ${MAX_LOOKUPS} lookups are needed`)
}

async function recordOf(walk: Walk, domain: string, term: string): Promise<string> {
  const texts = await lookup(walk, async () => (await walk.resolver.resolveTxt(domain)).map((parts) => parts.join('')))
  const [record, another] = recordsIn(texts)
  if (record === undefined) throw new Broken(`"${term}" leads to no SPF record`)
  if (another !== undefined) throw new Broken(`"${term}" leads to more than one SPF record`)
  return record
}

/** Looks records up in the DNS. An empty answer counts as a void lookup. */
async function lookup<T>(walk: Walk, ask: () => Promise<T[]>): Promise<T[]> {
  const found = await foundBy(ask)
  if (found.length === 0) countVoid(walk)
  return found
}

async function foundBy<T>(ask: () => Promise<T[]>): Promise<T[]> {
  try {
    return await ask()
  } catch (error) {
    const { code = '' } = error as { code?: string }
    if (code !== 'ENODATA' && code !== 'ENOTFOUND') throw error
    return []
  }
}

function countVoid(walk: Walk): void {
  if (++walk.voids > MAX_VOID) throw new Broken(`more than ${MAX_VOID} of its terms find nothing in the DNS`)
}

interface Range {
  address: string
  bits: string | undefined
  kind: 4 | 6
}

function isIn(ip: string, { address, bits, kind }: Range): boolean {
  const length = bits === undefined ? (kind === 6 ? 128 : 32) : Number(bits)
  return isIP(ip) === kind && ipaddr.parse(ip).match(ipaddr.parse(address), length)
}
