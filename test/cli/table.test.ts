import { expect, it } from 'vitest'
import { drawRecord, drawTable, type Column } from '../../src/cli/table.js'

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
const style = { color: false, wide: false, now: new Date(0) }
const draw = (width: number, row: Partial<Row> = {}) =>
  drawTable(columns, [{ name: 'x'.repeat(60), note: 'something', id: ID, ...row }], { ...style, width }).split('\n')

it('an id is never cut: other cells are, then other columns go, and at last the id', () => {
  expect(draw(200)).toEqual([expect.stringMatching(/^NAME +NOTE +AGE +ID$/), `${'x'.repeat(60)}  something  yesterday  ${ID}`])
  expect(draw(90)[0]).toMatch(/^NAME +NOTE +AGE +ID$/)
  expect(draw(75)[0]).toMatch(/^NAME +NOTE +ID$/)
  expect(draw(65)[0]).toMatch(/^NAME +ID$/)
  expect(draw(50)).toEqual([expect.stringMatching(/^NAME +ID$/), expect.stringMatching(`^x+…  ${ID}$`)])
  expect(draw(40)[0]).toBe('NAME')
  for (const width of [10, 20, 30, 40, 50, 60, 70, 80, 90]) for (const line of draw(width)) expect(line.length).toBeLessThanOrEqual(width)
})

it('a column without a value is the first to go, where space is short', () => {
  expect(draw(200, { note: '' })[0]).toMatch(/^NAME +NOTE +AGE +ID$/)
  expect(draw(75, { note: '' })[0]).toMatch(/^NAME +AGE +ID$/)
})

it('one thing keeps the lines of a long text below its label, and nothing that steers the terminal', () => {
  const row = { name: 'x', note: 'one\r\ntwo\n\n\u001b[31mthree', id: ID }
  expect(drawRecord(columns, row, { ...style, width: 80 })).toBe(`NAME  x\nNOTE  one\n      two\n      \n       [31mthree\nAGE   yesterday\nID    ${ID}`)
})
