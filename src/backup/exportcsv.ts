import { stringify } from 'csv-stringify/sync'
import type { Config } from '../config.js'
import { CSV_STYLE, csvCell } from '../core/csv.js'
import type { Value } from '../db/carried.js'
import { sheets } from '../db/sheets.js'
import { openExported } from './export.js'

/** A piece of a file of an export, and how many rows it has. */
export interface FilePiece {
  file: string
  text: string
  rows: number
}

/**
 * The configured site as CSV for spreadsheets, as it was at one moment: a file for each noun, one after another. What is
 * in them is what an export of lines has, without hashes of passwords.
 */
export async function* exportSheets(config: Config, { bom }: { bom: boolean }): AsyncGenerator<FilePiece> {
  const snapshot = await openExported(config)
  try {
    for (const { name, heads, rows } of sheets) {
      const file = `${name}.csv`
      yield { file, text: stringify([[...heads]], { ...CSV_STYLE, bom }), rows: 0 }
      for await (const batch of rows(snapshot))
        yield { file, text: stringify(batch.map((row) => row.map(cellOf)), CSV_STYLE), rows: batch.length } // prettier-ignore
    }
  } finally {
    await snapshot.close()
  }
}

/** A number is no formula, also where it begins with a minus. */
const cellOf = (value: Value): string => (typeof value === 'string' ? csvCell(value) : String(value ?? ''))
