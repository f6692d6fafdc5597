import type { ComponentChildren } from 'preact'
import { withParameters } from '../kit/addresses.js'
import { listed } from '../kit/fields.js'
import type { View } from '../kit/page.js'

interface Column<Row> {
  label: string
  /** The `sort` of the address by which its head orders the rows. */
  sort?: string
  /** Where that order does not begin with the greatest. */
  direction?: 'ascending'
  /** A number stands at the end of its cell, on one line; the title names the row. */
  kind?: 'number' | 'title'
  cell(this: void, row: Row, index: number): ComponentChildren
}

/** Chooses rows, for a form around the table. */
interface Selection<Row> {
  /** The field that has the chosen values: a name of `many` of the action. */
  name: string
  value(this: void, row: Row): string
  /** What a screen reader calls the row. */
  label(this: void, row: Row): string
  /** Whether the form could do anything with the row. Absent: with each. */
  isOffered?(this: void, row: Row): boolean
  /** Whether keys go from row to row and choose one: the page shows a `KeyHelp`. */
  hasKeys?: true
}

interface TableProps<Row> {
  view: View
  label: string
  columns: readonly (Column<Row> | false)[]
  rows: readonly Row[]
  /** The order where the address names none. */
  sort?: string
  select?: Selection<Row>
  /** Of its look. */
  kind?: string
}

/** A table whose rows are cards on a narrow screen. Rows that a form could not change stay chosen. */
export function Table<Row>({ view, label, columns, rows, sort, select, kind }: TableProps<Row>) {
  const { t, query } = view
  const shown = columns.filter((column) => column !== false)
  const chosen = new Set(select ? listed(view.form.values[select.name]) : [])
  const order = query.sort ?? sort
  return (
    <table class={kind === undefined ? 'rows' : `rows ${kind}`} aria-label={label}>
      <thead>
        <tr>
          {select ? (
            <th class="pick" scope="col">
              <span class="hidden">{t('table.chosen')}</span>
            </th>
          ) : null}
          {shown.map((column) => (
            <th
              scope="col"
              class={column.kind}
              aria-sort={
                column.sort !== undefined && column.sort === order ? (column.direction ?? 'descending') : undefined
              }
            >
              {column.sort === undefined ? (
                column.label
              ) : (
                <a href={view.href(withParameters(view.url, { sort: column.sort, page: undefined }))}>{column.label}</a>
              )}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr data-row={select?.hasKeys} tabIndex={select?.hasKeys ? -1 : undefined}>
            {select ? (
              <td class="pick">
                {select.isOffered?.(row) === false ? null : (
                  <input
                    type="checkbox"
                    name={select.name}
                    value={select.value(row)}
                    checked={chosen.has(select.value(row))}
                    aria-label={t('table.choose', { name: select.label(row) })}
                    data-key={select.hasKeys ? 'x' : undefined}
                  />
                )}
              </td>
            ) : null}
            {shown.map((column) => (
              <td class={column.kind} data-label={column.kind === 'title' ? undefined : column.label}>
                {column.cell(row, index)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
