import { expect, it } from 'vitest'
import { Pace } from '../../src/service/lib/importpace.js'

/** Ends full transactions until one may have more records, and returns how many that took. */
function untilMore(pace: Pace): number {
  const before = pace.most
  for (let count = 1; count <= 1000; count += 1) {
    pace.done(pace.most)
    if (pace.most > before) return count
  }
  return Infinity
}

it('a transaction that took too long is halved, and grows back, later each time', () => {
  const pace = new Pace(2000)
  expect([pace.most, untilMore(pace)]).toEqual([2000, Infinity])
  pace.tooLong(2000)
  expect([pace.most, untilMore(pace), pace.most]).toEqual([1000, 8, 2000])
  pace.tooLong(2000)
  pace.tooLong(1000)
  expect([pace.most, untilMore(pace), untilMore(pace), pace.most]).toEqual([500, 32, 32, 2000])
  for (let times = 0; times < 20; times += 1) pace.tooLong(pace.most)
  expect([pace.most, untilMore(pace), pace.most]).toEqual([1, 64, 2])
})

it('transactions that are not full, and those before one that took too long, do not count', () => {
  const pace = new Pace(2000)
  pace.tooLong(2000)
  for (let times = 0; times < 100; times += 1) pace.done(999)
  expect(pace.most).toBe(1000)
  for (let times = 0; times < 7; times += 1) pace.done(1000)
  pace.tooLong(10)
  expect([pace.most, untilMore(pace)]).toEqual([5, 16])
})
