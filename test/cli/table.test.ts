import { expect, it } from 'vitest'
import { ago } from '../../src/cli/lib/age.js'
import { drawRecord, drawTable, type Column } from '../../src/cli/lib/table.js'

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
  expect(draw(65)[0]).toMatch(/^NAME +ID$/)
  expect(draw(50)).toEqual([expect.stringMatching(/^NAME +ID$/), expect.stringMatching(`^x+…  ${ID}$`)])
  expect(draw(40)).toEqual([expect.stringMatching(/^NAME +ID$/), `${'x'.repeat(7)}…  ${ID}`])
  for (const width of [50, 60, 70, 80, 90])
    for (const line of draw(width)) expect(line.length).toBeLessThanOrEqual(width)
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
