import type { ComponentChildren, VNode } from 'preact'
import type { Key, Words } from '../../core/catalogue.js'
import type { AppError } from '../../core/errors.js'
import type { LegalPage } from '../../core/legal.js'
import type { LimitName } from '../../core/limits.js'
import type { Html, Text } from '../../core/markdown/index.js'
import type { Permission } from '../../core/permissions.js'
import type { Actor } from '../../service/lib/access.js'
import type { AnyOperation, CachedCall, Call, KnownCall, Operation } from '../../service/lib/operation.js'
import type { Settings } from '../../service/settings.js'
import type { Addresses } from './addresses.js'
import type { Section } from './sections.js'

/** Who is signed in. */
interface Viewer {
  userId: string
  name: string
  username: string
  email: string
  isVerified: boolean
  hasPassword: boolean
  /** What they may do with their own account. */
  may: readonly 'delete'[]
  /** Absent: as the browser asks. */
  language?: string
}

/** What a page has: the request, the site, and a `Call` to the cached operations in the name of whoever is signed in. */
export interface View extends Addresses {
  call: CachedCall
  actor: Actor
  /** Null for visitors. */
  viewer: Viewer | null
  can: (this: void, permission: Permission) => boolean
  settings: Settings
  /** The HTML of what the owner announces. */
  announcement: string | undefined
  /** The names of the site's legal pages. */
  legal: readonly LegalPage[]
  words: Words
  t: Words['t']
  /** Whether mail is configured. */
  sendsMail: boolean
  /** True if the site has only the pages that its mails link to. */
  mailPagesOnly: boolean
  /** Set for pages of a static copy: the time of the copy. They have no forms and no scripts. */
  copiedAt: string | undefined
  /** Path and query, without the base path. */
  url: string
  path: string
  params: Record<string, string>
  query: Record<string, string>
  /** Every value that the address has of a parameter. */
  queried: (this: void, name: string) => string[]
  /** Whether whoever is signed in may run an operation, as far as this does not depend on a row. */
  may: (this: void, op: AnyOperation) => boolean
  /** What was done, to say it first. */
  said: readonly Said[]
  /** How many posts and comments wait for a decision by whoever is signed in, see `moderation.count`. */
  waiting: number | undefined
  /** How many notifications whoever is signed in has not read, see `notifications.count`. */
  unread: number
  /** Whether mails to whoever is signed in came back, so that none is sent any more. */
  isMailStopped: boolean
  /** The id of the undo for the last action. */
  undo: string | undefined
  /** The form that was sent, where the page shows it again. */
  form: Form
  /** The HTML of a text that the page declares in `texts`. */
  html: Html
  /** Renders texts: for what is no page. A page declares `texts`. */
  render: (this: void, texts: readonly Text[]) => Promise<Html>
  /** What refuses the operations of the page's `forms`, whatever is sent, by their ids. */
  refusals: ReadonlyMap<string, AppError>
}

/** What an action has, and a page that is never cached: every operation, and limits. */
export interface LiveView extends View {
  call: KnownCall
  /** The same, taken back: answers what would change, and refuses what would be refused. */
  dryRun: KnownCall
  /** The same for uploads, with their body. */
  send: Call
  /** The same, taken back. */
  sendDry: Call
  /** What was sent with the form whose action takes a `file`. */
  file: SentFile | undefined
  /** Runs work that is no operation, and counts it. Throws RATE_LIMITED. */
  guard: <T>(this: void, name: LimitName, work: () => Promise<T>) => Promise<T>
  /** What refuses an operation, whatever is sent. */
  refusalOf: (this: void, op: AnyOperation) => Promise<AppError | undefined>
}

/** A file that is received as it is taken. */
export interface SentFile {
  name: string
  bytes: AsyncIterable<Uint8Array>
}

/** What was typed, and what is wrong with it. */
export interface Form {
  values: Fields
  error: AppError | undefined
}

export type Fields = Record<string, string | undefined>

/**
 * Declares how long a response lasts. 'actor': each person has their own, until a row changes that it was read from.
 * 'visitor': the same, but only for people who are not signed in. 'never': neither the server nor a browser stores it,
 * as it depends on the time, a limit or a file, or as it shows a secret.
 */
export type PageCache = 'visitor' | 'actor' | 'never'

/** A page. It is shown to everyone unless it says otherwise; what a person may see, its operations decide. */
interface Definition<Cache extends PageCache, V extends View, Data> {
  cache: Cache
  /** Leads visitors to the sign-in page, and back. */
  signedIn?: true
  /**
   * The section of the dashboard that the page is in. Without `dashboard:read`, or where none of its operations is
   * permitted, the page responds with 404.
   */
  section?: Section
  /** The section of the dashboard whose frame a public page gets, see `teamFrame`. It has no effect on access. */
  frame?: (this: void, view: V) => Section | undefined
  /** The operation of its form, where the page is there for that alone. It responds with 404 to those who may not run it. */
  of?: AnyOperation
  /** It leads those to another page who may not use its section. */
  isEntrance?: true
  /** Asks search engines to leave it out. */
  isUnlisted?: true
  /** It is there before the site is: it leads nowhere else. */
  isSetup?: true
  /** Its `load` may throw an `Ended`: its address alone asks for something to be done. HEAD does nothing there. */
  ends?: true
  /** The operations of its forms that are said above the fields to be refused, where they are (`Refused`). */
  forms?: readonly AnyOperation[]
  /** Loads what it shows. To lead elsewhere, it throws a `Redirect`, or with cookies an `Ended`. */
  load: (this: void, view: V) => Promise<Data>
  /** The texts that it shows as HTML. They are rendered before it is. */
  texts?: (this: void, view: View, data: Data) => readonly Text[]
  title: (this: void, view: View, data: Data) => string
  /** Elements of the head: description, canonical address, feeds. */
  head?: (this: void, view: View, data: Data) => ComponentChildren
  show: (this: void, view: View, data: Data) => VNode
}

/** A page whose data only it knows. */
export type AnyPage = Definition<PageCache, LiveView, unknown>

/** Gives `load` the view that `cache` allows: the compiler refuses a cached page that calls an operation without a cache. */
export function page<Data>(definition: Definition<'visitor' | 'actor', View, Data> & { ends?: never }): AnyPage
export function page<Data>(definition: Definition<'never', LiveView, Data>): AnyPage
export function page(definition: unknown): AnyPage {
  return definition as AnyPage
}

/** Thrown by `load`, to lead to another page. The path is without the base path. */
export class Redirect {
  constructor(
    readonly to: string,
    readonly status: 301 | 303 = 303,
  ) {}
}

/** Where an action leads, or a page that ends as one. */
export interface Outcome {
  /** The next page, without the base path. */
  to: string
  /** What the next page says first. */
  flash?: Flash | Said | readonly Said[]
  /** The id of an undo, which the next page offers. */
  undo?: string | undefined
  /** Null where the session has ended. One that begins is kept without a word. */
  session?: null
  /** The language of this browser, or null for none of its own. */
  language?: string | null
  /** What a script gets that asks for JSON. */
  json?: object
  /** A page to show instead, where something is shown only once. */
  show?: VNode
  title?: string
  /** The section of that page. */
  section?: Section
  /** A page with a form to show instead, with what was sent. */
  again?: AnyPage
}

/**
 * Thrown by `load` of a page that `ends` and is never cached, where its address alone asks for something to be done, as
 * the one that another site sends people back to.
 */
export class Ended {
  constructor(readonly outcome: Outcome) {}
}

/** A form's way to one operation. A refusal of the operation is shown on the page that has the form. */
export interface Action<In = never, Out = unknown> {
  /** Null where the form changes no data. */
  operation: Operation<In, Out> | null
  /** What the operation gets: its fields, whose values it checks. `form` is what was sent, as text. */
  input: (this: void, view: LiveView, form: Fields) => { [Field in keyof NoInfer<In>]?: unknown }
  /** The page with the form. */
  page?: (this: void) => Promise<AnyPage>
  /** Fields of the form that have several values, see `listed`. */
  many?: readonly string[]
  /** Fields of the form, where the operation names them otherwise. */
  fields?: Record<string, string>
  /**
   * The field of the text that images which come with the form are added to, as Markdown, or by the fields that have one
   * file each those that take its address. Absent: it takes none.
   */
  images?: string | Readonly<Record<string, string>>
  /** How many bytes the form may send as `file`, its last field. The action takes them as they arrive. */
  file?: number
  /** A page in between: a question before loss, or what to look at first. Undefined goes on. */
  before?: (
    this: void,
    view: LiveView,
    form: Fields,
  ) => Promise<{ title: string; section?: Section; page?: AnyPage; texts?: readonly Text[]; show: VNode } | undefined>
  done: (this: void, view: LiveView, output: Out, form: Fields) => Outcome | Promise<Outcome>
  /** Error codes treated as success: each leads to a page, and no error is shown. */
  treatAsDone?: Partial<
    Record<AppError['code'], (this: void, view: LiveView, form: Fields) => Outcome | Promise<Outcome>>
  >
}

export const action = <In, Out, Subject>(
  definition: Omit<Action<In, Out>, 'operation'> & { operation: Operation<In, Out, Subject> | null },
): AnyAction => definition as unknown as AnyAction

export type AnyAction = Action

/** A message about the last action. `count` selects its plural form. */
export interface Said {
  flash: Flash
  count?: number | undefined
  /** What it is about, where the page looks it up by the count. */
  name?: string
  /** A form that the page adds to the message. */
  more?: ComponentChildren
}

/** The texts of `flash.…` in the catalogue. */
export type Flash = Key extends infer K ? (K extends `flash.${infer Name}` ? Name : never) : never
