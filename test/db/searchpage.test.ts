import fc from 'fast-check'
import { expect, it } from 'vitest'
import { searchPage } from '../../src/db/paging.js'
import { assertProperty } from '../support/properties.js'

it('a page of a search is the same however many rows a query reads, and no query follows the last row it needs', () =>
  assertProperty(
    fc.asyncProperty(
      fc.array(fc.boolean(), { maxLength: 60 }),
      fc.record({ limit: fc.integer({ min: 1, max: 8 }), offset: fc.nat(20), batch: fc.integer({ min: 1, max: 9 }) }),
      fc.option(fc.nat(59), { nil: undefined }),
      fc.integer({ min: 1, max: 70 }),
      async (matching, { limit, offset, batch }, after, most) => {
        const rows = matching.map((matches, id) => ({ id, matches }))
        let end = 0
        const found = await searchPage<(typeof rows)[number], number>(
          { limit, ...(after === undefined ? { offset } : { after }) },
          {
            async read({ limit: count, after: last = -1 }) {
              end = last + 1 + count
              return rows.slice(last + 1, end)
            },
            at: ({ id }) => id,
            matches: (row) => row.matches,
            most,
            batch,
          },
        )
        const begin = after === undefined ? 0 : after + 1
        const read = rows.slice(begin, begin + Math.ceil(most / batch) * batch)
        const skipped = after === undefined ? offset : 0
        expect(found).toEqual(read.filter((row) => row.matches).slice(skipped, skipped + limit))
        const last = found.length === limit ? (found.at(-1)?.id ?? 0) : Infinity
        expect(end - batch, 'where the last query began').toBeLessThanOrEqual(last)
      },
    ),
    { numRuns: 500 },
  ))
