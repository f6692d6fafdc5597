import { expect, it } from 'vitest'
import { endOfQuiet, nextDigest } from '../../src/core/digesttimes.js'

/** When a digest leaves that is due at an hour of Berlin, where clocks change at 01:00 UTC. */
it.each([
  ['an hour of today', { hour: 9 }, '2026-03-02T00:00Z', '2026-03-02T08:00Z'],
  ['an hour that has just begun: tomorrow', { hour: 9 }, '2026-03-02T08:00Z', '2026-03-03T08:00Z'],
  ['the day on which summer begins', { hour: 9 }, '2026-03-28T08:30Z', '2026-03-29T07:00Z'],
  ['an hour that summer skips: the one after it', { hour: 2 }, '2026-03-28T23:30Z', '2026-03-29T01:00Z'],
  ['the day on which winter begins', { hour: 9 }, '2026-10-24T07:30Z', '2026-10-25T08:00Z'],
  ['an hour that comes twice: the first', { hour: 2 }, '2026-10-24T22:30Z', '2026-10-25T00:00Z'],
  ['an hour that comes twice, between them: tomorrow', { hour: 2 }, '2026-10-25T00:30Z', '2026-10-26T01:00Z'],
  ['a weekday of this week', { hour: 9, digest: 'weekly', weekday: 'friday' }, '2026-03-02T00:00Z', '2026-03-06T08:00Z'], // prettier-ignore
  ['a weekday across a change', { hour: 9, digest: 'weekly', weekday: 'monday' }, '2026-03-23T09:00Z', '2026-03-30T07:00Z'], // prettier-ignore
  ['today, later', { hour: 9, digest: 'weekly', weekday: 'monday' }, '2026-03-02T07:59Z', '2026-03-02T08:00Z'],
  ['today, over: next week', { hour: 9, digest: 'weekly', weekday: 'monday' }, '2026-03-02T08:01Z', '2026-03-09T08:00Z'], // prettier-ignore
  ['a time zone that this Node does not know: UTC', { hour: 8, timeZone: 'Mars/Phobos' }, '2026-03-02T08:01Z', '2026-03-03T08:00Z'], // prettier-ignore
] as const)('a digest leaves at %s', (_name, given, now, expected) => {
  const time = { digest: 'daily', weekday: 'monday', timeZone: 'Europe/Berlin', ...given } as const
  expect(nextDigest(time, new Date(now)).toISOString()).toBe(new Date(expected).toISOString())
})

/** Until when a mail waits that would be written at a time, in Berlin. */
it.each([
  ['before', [22, 7], '2026-03-02T20:59Z', undefined],
  ['in the evening', [22, 7], '2026-03-02T21:00Z', '2026-03-03T06:00Z'],
  ['in the morning', [22, 7], '2026-03-03T05:59Z', '2026-03-03T06:00Z'],
  ['at their end', [22, 7], '2026-03-03T06:00Z', undefined],
  ['within a day', [12, 14], '2026-03-03T12:30Z', '2026-03-03T13:00Z'],
  ['outside of those within a day', [12, 14], '2026-03-03T22:00Z', undefined],
  ['in the night in which summer begins', [22, 7], '2026-03-28T22:00Z', '2026-03-29T05:00Z'],
  ['in the night in which winter begins', [22, 7], '2026-10-24T22:00Z', '2026-10-25T06:00Z'],
  ['where they end in an hour that is skipped', [22, 2], '2026-03-29T00:30Z', '2026-03-29T01:00Z'],
  ['without quiet hours', [7, 7], '2026-03-03T06:30Z', undefined],
] as const)('quiet hours, %s', (_name, [quietFrom, quietUntil], time, expected) => {
  const end = endOfQuiet({ quietFrom, quietUntil, timeZone: 'Europe/Berlin' }, new Date(time))
  expect(end?.toISOString()).toBe(expected && new Date(expected).toISOString())
})
