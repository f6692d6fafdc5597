import dns, { type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { HttpFailure } from './httpfailure.js'

/** Whether the internet has the address: not this machine, its networks, or an IPv4 address inside another. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes('%')) return false
  const parsed = ipaddr.process(address) // as IPv4 where it is mapped
  if (parsed.range() !== 'unicast') return false
  return !(parsed instanceof ipaddr.IPv6) || ((parsed.parts[0] ?? 0) & 0xe000) === 0x2000 // the rest is no global address
}

/** Throws for an address in place of a name: no name server is asked for it. */
export function assertPublicHost({ hostname }: URL): void {
  const host = hostname.replaceAll(/[[\]]/g, '')
  if (ipaddr.isValid(host) && !isPublic(host)) throw new HttpFailure('PRIVATE_ADDRESS')
}

/** Asks for the addresses of a host once. They are dialled as they were checked: a second answer may be another. */
export const publicLookup: LookupFunction = (hostname, options, done) => {
  dns.lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    const [first] = error ? [] : found
    if (error) return done(error, [])
    if (!first || !found.every(({ address }) => isPublic(address))) return done(new HttpFailure('PRIVATE_ADDRESS'), [])
    if (options.all) done(null, found)
    else done(null, first.address, first.family)
  })
}
