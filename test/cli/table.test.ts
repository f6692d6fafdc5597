import { expect, it } from 'vitest'
import { ago } from '../../src/cli/lib/texts/age.js'
import { drawRecord, drawTable, type Column } from '../../src/cli/lib/output/table.js'

interface Row {
  name: string
  note: string
  id: string
}

const ID = '0123456789abcdef0123456789abcdef0123'
const columns: Column<Row>[] = [
  { head: 'NAME', text: (row) => row.name, drop: 0 },
  { head: 'NOTE', text: (row) => row.note, drop: 1 },
  { head: 'AGE', text: () => 'yesterday', drop: 2 },
  { head: 'ID', text: (row) => row.id, drop: 0, whole: true },
]
const style = { color: 0 as const, wide: false, now: new Date(0) }
const draw = (width: number, row: Partial<Row> = {}) =>
  drawTable(columns, [{ name: 'x'.repeat(60), note: 'something', id: ID, ...row }], { ...style, width }).split('\n')

it('an id is never truncated or dropped: other cells are truncated, then other columns are dropped', () => {
  expect(draw(200)).toEqual([
    expect.stringMatching(/^NAME +NOTE +AGE +ID$/),
    `${'x'.repeat(60)}  something  yesterday  ${ID}`,
  ])
  expect(draw(90)[0]).toMatch(/^NAME +NOTE +AGE +ID$/)
  expect(draw(75)[0]).toMatch(/^NAME +NOTE +ID$/)
  expect(draw(65)[0]).toMatch(/^NAME +NOTE +ID$/)
  expect(draw(60)[0]).toMatch(/^NAME +ID$/)
  expect(draw(50)).toEqual([expect.stringMatching(/^NAME +ID$/), expect.stringMatching(`^x+…  ${ID}$`)])
  expect(draw(40)).toEqual([expect.stringMatching(/^NAME +ID$/), `${'x'.repeat(7)}…  ${ID}`])
  for (const width of [50, 60, 70, 80, 90])
    for (const line of draw(width)) expect(line.length).toBeLessThanOrEqual(width)
})

it('what was truncated takes the room of the columns that were dropped', () => {
  const wide: Column<Row>[] = [
    { head: 'TITLE', text: (row) => row.name, drop: 0 },
    { head: 'SLUG', text: () => 's'.repeat(70), drop: 4, whole: true },
  ]
  const [, line] = drawTable(wide, [{ name: 'x'.repeat(60), note: '', id: ID }], { ...style, width: 80 }).split('\n')
  expect(line).toBe('x'.repeat(60))
})

const ids = ['01a20536-f3e9-730c-8000-000000000001', '01a20536-f3e9-730c-9000-000000000001']
const long = (width: number, at = 0) => {
  const url = { head: 'URL', text: () => 'u'.repeat(50), id: () => ids[at] ?? '', drop: 0, whole: true } as const
  const shown = [{ head: 'NAME', text: () => 'x'.repeat(40), drop: 0 }, url]
  return drawTable(shown, [0], { ...style, width }).split('\n')
}

it('an id is shortened to a start that tells the rows apart, and stands in place of what has no room', () => {
  const shown: Column<string>[] = [
    { head: 'NAME', text: () => 'x'.repeat(40), drop: 0 },
    { head: 'ID', text: (id) => id, drop: 0, short: true },
  ]
  const cells = (rows: string[], width: number) =>
    drawTable(shown, rows, { ...style, width })
      .split('\n')
      .slice(1)
      .map((line) => line.split('  ').at(-1))
  expect(cells(ids, 80)).toEqual(ids)
  expect(cells(ids.slice(1), 60)).toEqual(['01a20536-f3e9-730c'])
  expect(cells(ids, 60)).toEqual(['01a20536-f3e9-730c-8', '01a20536-f3e9-730c-9'])
  expect(long(80)).toEqual([expect.stringMatching(/^NAME +URL$/), `${'x'.repeat(27)}…  ${'u'.repeat(50)}`])
  expect(long(50)).toEqual([expect.stringMatching(/^NAME +ID$/), `${'x'.repeat(29)}…  01a20536-f3e9-730c`])
})

it('an empty column is dropped first', () => {
  expect(draw(200, { note: '' })[0]).toMatch(/^NAME +NOTE +AGE +ID$/)
  expect(draw(75, { note: '' })[0]).toMatch(/^NAME +AGE +ID$/)
})

it('a record keeps the lines of a long text below its label, without control characters', () => {
  const row = { name: 'x', note: 'one\r\ntwo\n\n\u001b[31mthree', id: ID }
  expect(drawRecord(columns, row, { ...style, width: 80 })).toBe(
    `NAME  x\nNOTE  one\n      two\n      \n       [31mthree\nAGE   yesterday\nID    ${ID}`,
  )
})

it('an age is formatted like Intl does', () => {
  const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
  const units = { year: 31_536_000, month: 2_592_000, week: 604_800, day: 86_400, hour: 3600, minute: 60 }
  const now = new Date('2026-01-02T03:04:05Z')
  const said = (seconds: number) => ago(new Date(now.getTime() + seconds * 1000).toISOString(), now)
  for (const [index, [unit, length]] of Object.entries(units).entries()) {
    const longest = Object.values(units)[index - 1] ?? length * 9
    for (const seconds of [length, length * 2 - 1, length * 2, longest - 1])
      for (const sign of [-1, 1])
        expect(said(sign * seconds)).toBe(words.format(Math.trunc((sign * seconds) / length), unit as 'year'))
  }
  for (const seconds of [-59, 0, 59]) expect(said(seconds)).toBe('just now')
  expect([said(-86_400), said(86_400), said(-3600)]).toEqual(['yesterday', 'tomorrow', '1 hour ago'])
})
