import type { ErrorCode } from '../../core/errors.js'
import type { Call } from '../../service/lib/operation.js'
import type { Loss } from './ask.js'
import type { Column } from './table.js'

export type Values = Record<string, unknown>

/** What the command line adds to an operation: the words that are typed, and an answer as rows. */
export interface View<In, Out, Row> {
  words: string // with the field that is positional: 'create <name>', 'show <url:board>' (field, then the word to show)
  examples: readonly string[]
  columns: readonly Column<Row>[]
  rows(this: void, answer: Out): readonly Row[]
  id(this: void, row: Row): string
  list?: (keyof Out & string) | `${keyof Out & string}.results` // the key of the rows in the body, if they are a list that has pages
  many?: true // any number of rows, without pages
  hidden?: readonly string[] // fields that are not offered as flags
  flags?: Partial<Record<keyof In & string, string>> // the flag of a field, where another word is better: { boardId: 'board' }
  preset?: Partial<In> // what is sent when a flag is not given, where the operator's default differs from the visitor's
  text?: keyof In & string // a long text, that may come from a file as well
  edits?(this: void, call: Call, input: Values): Promise<string | undefined> // the text that the editor starts with; undefined: no editor
  asks?: readonly (keyof In & string)[] // asked for on a terminal when they are missing
  changes?: true // refused where nothing is given to be changed: a field that is asked for says only what it is about
  generates?: keyof In & string // a secret that --generate-… makes up
  as?: true | Behalf // --as: in whose name, here; or what does the same for somebody else, here and on a server
  loses?(this: void, call: Call, input: Values): Promise<Loss | undefined> // the question before something is lost; undefined: it will be refused anyway
  mails?(this: void, input: Values): boolean // whether it queues a mail, which then leaves at once on this machine
  done?(this: void, answer: Out, input: Values, server: string | undefined): string // said when a change was made
  fixes?: Fixes // what helps against an error, where it is not the usual
}

/** Commands that help against errors, without `feedbackctl` and without how the data is reached. */
export type Fixes = Partial<Record<ErrorCode, readonly string[]>>

/** An operation that does for somebody else what another does for oneself, and answers alike. */
interface Behalf {
  op: unknown
  fields(this: void, input: Values, who: string): Values
}
