import ipaddr from 'ipaddr.js'
import { LRUCache } from 'lru-cache'

const known = new LRUCache<string, { key: string | undefined }>({ max: 10_000 })

/**
 * What the client of an address is counted under: the address, or the network that one subscriber gets with IPv6.
 * Undefined for this machine, whose programs are not limited by address.
 */
export function clientKey(address: string): string | undefined {
  if (address === '127.0.0.1') return undefined
  let entry = known.get(address)
  if (!entry) known.set(address, (entry = { key: read(address) }))
  return entry.key
}

/** The first 64 bits of an IPv6 address. */
const NETWORK = 4
const MAX_LENGTH = 50

function read(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return address.slice(0, MAX_LENGTH) // trust-proxy believes anything
  const parsed = ipaddr.process(address) // as IPv4 where it is mapped
  if (parsed.range() === 'loopback') return undefined
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, NETWORK).join(':') : parsed.toString()
}

/** Whether an address is of this machine itself. */
export const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'

/** Whether an address is of this machine, or of a network that the internet does not reach. */
export const isPrivate = (address: string): boolean =>
  ipaddr.isValid(address) &&
  ['loopback', 'private', 'uniqueLocal', 'linkLocal'].includes(ipaddr.process(address).range())
