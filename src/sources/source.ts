import type { Fields, RecordType } from '../service/lib/importrecords.js'

/** A record of an import, as a line of the upload has it. */
export type SourceRecord = { [T in RecordType]: { type: T } & Fields<T> }[RecordType]

export interface Given {
  /** What was named: a file, a folder or the address of a database. */
  from: string
  /** Headers of CSV by our names of the columns, in lower case. */
  map: ReadonlyMap<string, string>
  /** Takes a sentence about what is left out, for whoever imports. */
  note(this: void, sentence: string): void
}

/** The first rows of a table, by our names of its columns. */
export interface Preview {
  columns: { column: string; header: string }[]
  rows: Readonly<Record<string, string>>[]
}

/** Another product: turns what its export has into records. What a record refers to comes before it. */
export interface Source {
  /** What is named after it, for the help. */
  from: string
  /** Whether `from` may be the address of a database, not only a file. */
  takesAddress?: true
  /** For a table whose columns are guessed or mapped: what they were taken for. */
  preview?(this: void, given: Pick<Given, 'from' | 'map'>): Promise<Preview | undefined>
  /** A string is a line of the file as it is, which may be invalid JSON. */
  read(this: void, given: Given): AsyncIterable<SourceRecord | string>
}

/** Whether it is the address of a PostgreSQL database. */
export const isAddress = (text: string): boolean => /^postgres(?:ql)?:\/\//i.test(text)
