import type { Call } from '../../../service/lib/operation.js'
import type { Cli } from '../connection/session.js'
import type { Fixes } from '../errors/fixes.js'
import type { Values } from '../flags/fieldoption.js'
import type { Switch } from '../flags/switches.js'
import type { Output, OutputFlags } from '../output/output.js'
import type { Done } from '../prompts/dryrun.js'
import type { Confirmation } from '../prompts/prompts.js'
import type { UploadOfRows } from './uploadlines.js'

/**
 * What a command adds to an operation: how it is written, what it calls, and what it shows. A command that changes
 * something says what it did; one that only reads has none of the keys of a change.
 */
export type View<In, Out, Row> = Usage & Request<In> & Answer<Out, Row> & (Change<Out, Row> | None<Change<Out, Row>>)

/** Keys that a view does not have. */
type None<Keys> = { [Key in keyof Keys]?: undefined }

/** How the command is written, as its help shows it. */
export interface Usage {
  usage: string // with the positional field: 'create <name>', or 'show <url:board>' to show another word for the field
  formerly?: readonly string[] // other words for the verb, which help does not show
  replaced?: true // another command has taken its place: it still works, and help does not list it
  summary?: string // instead of the operation's, where it has more than one command
  examples: readonly string[]
  fixes?: Fixes // instead of the usual suggestions
}

/** Which operation is called, and how its fields become flags. */
export interface Request<In> {
  input?: InputView<In>
  as?: false | OnBehalf // not for --as, the user to act as: nobody acts here; or the operation that does it for another account
  by?: Readonly<Record<string, Grouping>> // --by WORD: groups of the rows in place of them
  file?: FromFile // --FLAG FILE: a file says what to do, in place of arguments
  instead?(this: void, input: Values): unknown // the operation to call instead, with the same output: where the row is left out
}

/** What is shown of the response. */
interface Answer<Out, Row> {
  output: Output<Out, Row>
  saves?: Saved<Out> // --FLAG FILE: writes a new file beside what is shown
  follow?(this: void, call: Call, input: Values, flags: OutputFlags): Promise<void> // --follow: prints new rows as they come
  note?(this: void, answer: Out): string | undefined // a line below the table
  exit?(this: void, answer: Out): number // the exit code, where parts of what was to be done failed
  verdict?(this: void, answer: Out, input: Values): { said: string; exit: number } // of a question: what people read, and the exit code
}

/** What a change says, asks before it, and does after it. */
interface Change<Out, Row> extends Creation<Out> {
  done(
    this: void,
    answer: Out,
    input: Values,
    about: { server: string | undefined; removed: Row | undefined; named: string },
  ): Done | undefined // printed to stderr after the change; undefined where nothing was to change
  foretells?(this: void, call: Call, input: Values): Promise<string | undefined> // what else a dry run says
  names?(this: void, call: Call, input: Values): Promise<string> // what the change is about, read after it for `done`
  // Asked before data is lost; undefined if the operation will refuse.
  confirm?(this: void, call: Call, input: Values): Promise<Confirmation | undefined>
  // What a deletion removes, read before it; undefined if the operation will refuse. A program gets it as `deleted`, `done` as `removed`.
  deletes?(this: void, call: Call, input: Values): Promise<Row | undefined>
  requiresChange?: true // refused if no flag changes anything; a prompted field only identifies the row
  sendsMail?(this: void, input: Values): boolean // a local command then delivers due mail at once
}

/** What a command adds that creates things. */
interface Creation<Out> {
  // `-` reads what to create from stdin: a hundred in one transaction, or each in one of its own. An upload has a request for
  // a hundred of them too.
  lines?: 'together' | 'alone' | UploadOfRows
  existing?: Existing<Out> // --if-not-exists
  // What there is like it, a line for each. A terminal shows them, and asks whether to create another.
  similar?(this: void, call: Call, given: Values): Promise<readonly string[]>
}

/** The operation that answers groups of rows, and how they are shown. Made by `groupedBy`. */
export interface Grouping {
  op: unknown
  view: unknown
}

/** A file in place of the arguments of a command. */
interface FromFile {
  flag: string
  description: string
  run(this: void, run: FileRun): Promise<void>
}

/** What a command that reads a file is run with. */
export interface FileRun {
  cli: Cli
  /** `-` for stdin. */
  file: string
  flags: OutputFlags & { dryRun?: boolean; yes?: boolean; input?: boolean }
  /** The fields that flags have set. */
  given: Values
  /** Connects as the flags say; a trial changes nothing. */
  connect(this: void, options?: { trial?: boolean }): Promise<Call>
}

/** A file that a command writes. */
interface Saved<Out> {
  flag: string
  description: string
  /** Its text; undefined where there is nothing to write. */
  text(this: void, answer: Out, file: string): string | undefined
  said(this: void, answer: Out, file: string): string
}

/** How the fields of an operation become flags. */
interface InputView<In> extends FlagNames<In> {
  hidden?: readonly string[] // fields without a flag
  defaults?: Partial<In> // sent if a flag is missing, where the CLI default differs from that of the API
  prompts?: readonly (keyof In & string)[] // prompted for on a terminal if missing
  unless?: Partial<Record<keyof In & string, keyof In & string>> // a field that makes the prompt for another needless where it is given
  generated?: keyof In & string // a secret with a --generate-… flag
  steadily?(this: void, input: Values): Partial<In> // input that --all adds when it reads the list again in a steady order, so that both have the same rows
  joined?: keyof In & string // the positional field that takes all arguments: a list, or a text joined by spaces
  text?: keyof In & string // a long text, with a …-file flag and an editor
  texts?: readonly (keyof In & string)[] // others, without an editor
  finds?: Finds<In> // fields that only say where the row is
  // The initial text in the editor; undefined for no editor.
  editor?(this: void, call: Call, input: Values): Promise<string | undefined>
}

/** Flags that are not simply their field. */
interface FlagNames<In> {
  flags?: Partial<Record<keyof In & string, string>> // flags that are not named like their field: { boardId: 'board' }
  formerly?: Partial<Record<keyof In & string, string>> // flags of earlier versions, which help does not show
  switches?: Partial<Record<keyof In & string, Switch>> // fields that are true or false and have a better word: { display: { word: 'private', on: false } }
  flagged?: readonly (keyof In & string)[] // positional fields that have a flag too, which help does not show
}

/** Looks fields up that an operation needs to find its row, where no flag gives them. */
interface Finds<In> {
  fields: readonly (keyof In & string)[]
  from(this: void, call: Call, input: Values): Promise<Values>
}

/** How a command that creates a thing finds one that is there already. */
export interface Existing<Out> {
  by: string // for help: 'succeed if there is a board with this url'
  unique?: true // the database refuses a second one: then nothing has to be locked, and a slow creation locks nobody out
  find(this: void, call: Call, input: Values): Promise<Out | undefined>
  said(this: void, answer: Out): string // what there is: 'Board "Ideas" (ideas)'
}

/** The operation that does for another account what this one does for the caller, with the same output. */
interface OnBehalf {
  op: unknown
  needs: string // what has to be switched on first, for help
  fields(this: void, input: Values, account: string): Values
}
