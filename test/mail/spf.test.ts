import { Resolver } from 'node:dns/promises'
import { expect, it } from 'vitest'
import { evaluate } from '../../src/mail/spf.js'
import { dnsHost, type Records } from '../support/dns.js'

const DOMAIN = 'moonbase.example'
const many = (count: number) => Array.from({ length: count }, (_, index) => `a:h${index}.example`).join(' ')
const RECORDS: Records = {
  [DOMAIN]: ['A 192.0.2.10', 'AAAA 2001:db8::10', 'MX mx1.example', 'MX mx2.example'],
  'mx1.example': ['A 192.0.2.21'],
  'mx2.example': ['A 192.0.2.22', 'AAAA 2001:db8::22'],
  'provider.example': ['other', 'v=spf1 ip4:198.51.100.0/24 -all'],
  'open.example': ['v=spf1 ?ip4:192.0.2.1 ~all'],
  'twice.example': ['v=spf1 -all', 'v=spf1 ~all'],
  'loop.example': ['v=spf1 include:loop.example -all'],
  'deep.example': [`v=spf1 ${many(9)} -all`],
  'three.example': ['MX h0.example', 'MX h1.example', 'MX h2.example'],
  'there.example': ['A 127.0.0.2'],
  'slow.example': ['fails'],
  ...Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`h${index}.example`, [`A 203.0.113.${index}`]])),
}

const resolverOf = async (): Promise<Resolver> => {
  const resolver = new Resolver({ timeout: 2000, tries: 1 })
  resolver.setServers([await dnsHost(RECORDS)])
  return resolver
}

it.each([
  ['v=spf1 ip4:192.0.2.1 -all', '192.0.2.1', 'pass', 'ip4:192.0.2.1'],
  ['v=spf1 ip4:192.0.2.0/24 -all', '192.0.2.99', 'pass', 'ip4:192.0.2.0/24'],
  ['v=spf1 ip4:192.0.2.0/25 -all', '192.0.2.200', 'fail', '-all'],
  ['v=spf1 ip4:192.0.2.0/25 ~all', '192.0.2.200', 'softfail', '~all'],
  ['v=spf1 -ip4:192.0.2.1 +all', '192.0.2.1', 'fail', '-ip4:192.0.2.1'],
  ['v=spf1 ip6:2001:db8::/32 -all', '2001:db8::5', 'pass', 'ip6:2001:db8::/32'],
  ['v=spf1 ip6:2001:db8::/32 -all', '192.0.2.1', 'fail', '-all'],
  ['V=SPF1 A -ALL', '192.0.2.10', 'pass', 'A'],
  ['v=spf1 a -all', '2001:db8::10', 'pass', 'a'],
  ['v=spf1 a/24//64 -all', '192.0.2.77', 'pass', 'a/24//64'],
  ['v=spf1 a/24//64 -all', '2001:db8::77', 'pass', 'a/24//64'],
  ['v=spf1 a:there.example -all', '127.0.0.2', 'pass', 'a:there.example'],
  ['v=spf1 mx -all', '192.0.2.22', 'pass', 'mx'],
  ['v=spf1 mx -all', '192.0.2.23', 'fail', '-all'],
  ['v=spf1 mx -all', '2001:db8::22', 'pass', 'mx'],
  ['v=spf1 include:provider.example ~all', '198.51.100.7', 'pass', 'include:provider.example'],
  ['v=spf1 include:provider.example ~all', '192.0.2.1', 'softfail', '~all'],
  ['v=spf1 include:open.example -all', '192.0.2.1', 'fail', '-all'],
  ['v=spf1 redirect=provider.example', '198.51.100.7', 'pass', 'ip4:198.51.100.0/24'],
  ['v=spf1 redirect=provider.example -all', '198.51.100.7', 'fail', '-all'],
  ['v=spf1 exists:there.example -all', '192.0.2.1', 'pass', 'exists:there.example'],
  ['v=spf1 ip4:192.0.2.9', '192.0.2.1', 'neutral', 'the end of the record'],
  ['v=spf1 exp=why.example unknown=x -all', '192.0.2.1', 'fail', '-all'],
  [`v=spf1 ${many(10)} -all`, '203.0.113.9', 'pass', 'a:h9.example'],
  [`v=spf1 ${many(11)} -all`, '192.0.2.1', 'permerror', 'more than 10 lookups are needed'],
  ['v=spf1 include:deep.example a -all', '192.0.2.1', 'permerror', 'more than 10 lookups are needed'],
  ['v=spf1 include:loop.example -all', '192.0.2.1', 'permerror', 'more than 10 lookups are needed'],
  ['v=spf1 redirect=loop.example', '192.0.2.1', 'permerror', 'more than 10 lookups are needed'],
  ['v=spf1 include:none.example -all', '192.0.2.1', 'permerror', '"include:none.example" leads to no SPF record'],
  ['v=spf1 include:there.example -all', '192.0.2.1', 'permerror', '"include:there.example" leads to no SPF record'],
  ['v=spf1 include:twice.example -all', '192.0.2.1', 'permerror', '"include:twice.example" leads to more than one SPF record'], // prettier-ignore
  ['v=spf1 mx:three.example ip6:2001:db8::/32 -all', '2001:db8::1', 'pass', 'ip6:2001:db8::/32'],
  ['v=spf1 a:x.example a:y.example a:z.example -all', '192.0.2.1', 'permerror', 'more than 2 of its terms find nothing in the DNS'], // prettier-ignore
  ['v=spf1 ipv4:192.0.2.1 -all', '192.0.2.1', 'permerror', '"ipv4:192.0.2.1" is not an SPF term'],
  ['v=spf1 ip4:192.0.2.300 -all', '192.0.2.1', 'permerror', '"ip4:192.0.2.300" is not an address range'],
  ['v=spf1 ip4:192.0.2.1/33 -all', '192.0.2.1', 'permerror', '"ip4:192.0.2.1/33" is not an address range'],
  ['v=spf1 ip4:2001:db8::1 -all', '192.0.2.1', 'permerror', '"ip4:2001:db8::1" is not an address range'],
  ['v=spf1 +all ipv4:192.0.2.1', '192.0.2.1', 'permerror', '"ipv4:192.0.2.1" is not an SPF term'],
  ['v=spf1 include -all', '192.0.2.1', 'permerror', '"include" names nothing'],
  ['v=spf1 all:x', '192.0.2.1', 'permerror', '"all:x" has a domain, which "all" does not take'],
  ['v=spf1 -all/24', '192.0.2.1', 'permerror', '"-all/24" has a prefix length, which "all" does not take'],
  ['v=spf1 include:provider.example/24 -all', '192.0.2.1', 'permerror', '"include:provider.example/24" has a prefix length, which "include" does not take'], // prettier-ignore
  ['v=spf1 exists:there.example/24 -all', '192.0.2.1', 'permerror', '"exists:there.example/24" has a prefix length, which "exists" does not take'], // prettier-ignore
  ['v=spf1 ip4:192.0.2.1//64 -all', '192.0.2.1', 'permerror', '"ip4:192.0.2.1//64" has a prefix length, which "ip4" does not take'], // prettier-ignore
  ['v=spf1 +all a/33', '192.0.2.1', 'permerror', '"a/33" is not an address range'],
  ['v=spf1 +all a//129', '192.0.2.1', 'permerror', '"a//129" is not an address range'],
  ['v=spf1 +all ip4:192.0.2.300', '192.0.2.1', 'permerror', '"ip4:192.0.2.300" is not an address range'],
  ['v=spf1 ip4:192.0.2.0/24 redirect=a.example redirect=b.example', '192.0.2.1', 'permerror', '"redirect=" is there more than once'], // prettier-ignore
  ['v=spf1 exp=a.example Exp=b.example -all', '192.0.2.1', 'permerror', '"exp=" is there more than once'],
  ['v=spf1 redirect=', '192.0.2.1', 'permerror', '"redirect=" names nothing'],
])('%s from %s: %s by %s', async (record, ip, result, by) => {
  expect(await evaluate(await resolverOf(), DOMAIN, record, ip)).toEqual({ result, by, unread: [] })
})

it('says what it passed over', async () => {
  const record = 'v=spf1 ptr exists:%{i}._spf.example exists:%{d1r/}.example ip4:192.0.2.1 -all'
  expect(await evaluate(await resolverOf(), DOMAIN, record, '192.0.2.1')).toEqual({
    result: 'pass',
    by: 'ip4:192.0.2.1',
    unread: ['ptr', 'exists:%{i}._spf.example', 'exists:%{d1r/}.example'],
  })
})

it('is not sure where the DNS fails', async () => {
  const resolver = await resolverOf()
  await expect(evaluate(resolver, DOMAIN, 'v=spf1 include:slow.example -all', '192.0.2.1')).rejects.toMatchObject({ code: 'ESERVFAIL' }) // prettier-ignore
})
