import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'
import { detached } from '../../core/text.js'

const known = new LRUCache<string, { key: string; isLoopback: boolean }>({ max: 10_000 })

/** Where a request comes from. */
export interface Source {
  /** The address, by the setting `trust-proxy`. */
  address: string
  /** Whether a proxy says so, and not the connection. */
  isForwarded: boolean
}

/**
 * What a client is counted under: the address, or the network that one subscriber gets with IPv6. Undefined for this
 * machine, whose programs are not limited by address. What a proxy forwards comes from elsewhere, whatever it says.
 */
export function clientKey({ address, isForwarded }: Source): string | undefined {
  if (address === '127.0.0.1' && !isForwarded) return undefined
  let entry = known.get(address)
  if (!entry) {
    const own = detached(address.slice(0, MAX_LENGTH)) // trust-proxy believes anything, such as half a header
    known.set(own, (entry = read(own)))
  }
  return entry.isLoopback && !isForwarded ? undefined : entry.key
}

/** Some proxies forward the port too: `203.0.113.7:40000`, `[2001:db8::7]:40000`. */
export function withoutPort(address: string): string {
  if (!address.includes(':')) return address
  const [, six, four] = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(address) ?? []
  return six ?? four ?? address
}

/** The first 64 bits of an IPv6 address. */
const NETWORK = 4
const MAX_LENGTH = 50

function read(address: string): { key: string; isLoopback: boolean } {
  if (!ipaddr.isValid(address)) return { key: address, isLoopback: false }
  const parsed = ipaddr.process(address) // as IPv4 where it is mapped
  const key = parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, NETWORK).join(':') : parsed.toString()
  return { key, isLoopback: parsed.range() === 'loopback' }
}

/** Whether an address is of this machine itself. */
export const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'

/** Whether an address is of this machine, or of a network that the internet does not reach. */
export const isPrivate = (address: string): boolean =>
  ipaddr.isValid(address) &&
  ['loopback', 'private', 'uniqueLocal', 'linkLocal'].includes(ipaddr.process(address).range())
