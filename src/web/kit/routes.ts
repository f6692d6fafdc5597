import type { ComponentChildren, VNode } from 'preact'
import type { AppError } from '../../core/errors.js'
import type { LongBody } from '../../service/lib/download.js'
import type { Operation } from '../../service/lib/operation.js'
import type { AnyAction, AnyPage, View } from './page.js'
import type { Repeat } from './repeat.js'
import type { Section } from './sections.js'

/** Loads a part of the pages at its first request, so that commands and the start of a server do not. */
type Lazy<T> = () => Promise<T>

/** What a folder of pages has, by path. */
export interface RoutesOf {
  pages?: Record<string, Lazy<AnyPage>>
  /** Forms are sent to these paths. */
  actions?: Record<string, Lazy<AnyAction>>
  /**
   * What programs send for a person, from anywhere and as any media type: the address says all, and no other site can know
   * it. Nothing that is sent with it is read.
   */
  oneClicks?: Record<string, Lazy<AnyAction>>
  /** Feeds and files for machines. */
  documents?: Record<string, Lazy<Document>>
  /** Files to save. */
  downloads?: Record<string, Lazy<Download>>
}

/** What the pages of a site are. */
export interface Routes extends Required<RoutesOf> {
  /** What every page has around it. */
  frame: Lazy<Frame>
  login: Lazy<AnyPage>
  error: Lazy<ErrorPage>
  /** Where a page that is not there leads, without the base path. */
  moved?: (this: void, view: View) => Promise<string | undefined>
  /** The time of a copy that needs no server: its pages have no forms and no scripts, and say when they were made. */
  copiedAt?: string
  /** The site has only the pages that its mails link to. They link to no other page, and report the outcome themselves. */
  mailPagesOnly?: true
}

export interface FrameProps {
  view: View
  title: string
  head?: ComponentChildren
  isUnlisted: boolean
  section?: Section | undefined
  /** Whether a public page may be in the frame of a section: it then has the styles of both. */
  isFramed?: boolean | undefined
  /** Without ways to pages that are not there yet. */
  isSetup?: boolean | undefined
  children: ComponentChildren
}

export interface Frame {
  /** A whole page. */
  Layout: (this: void, props: FrameProps) => VNode
  /** The content of a page that says one thing. */
  Notice: (this: void, props: { title: string }) => VNode
}

/** A page that shows an error. */
export interface ErrorPage {
  title: (this: void, view: View, error: AppError) => string
  /** `repeat` is the form that failed, where it may succeed later. */
  show: (this: void, view: View, error: AppError, repeat?: Repeat) => VNode
}

/** Something for machines: a feed, the sitemap. */
export interface Document {
  type: string
  /** Sent in addition to the headers of every document. */
  headers?: Readonly<Record<string, string>>
  /** Machines see what visitors see, until a row changes that it was read from. */
  cache: 'visitor'
  /** A string is compressed; a buffer is sent as it is. */
  make: (this: void, view: View) => Promise<string | Buffer>
}

/** A file: a download of the service. Visitors sign in first where it is not for everyone. */
export interface Download {
  operation: Operation<object, LongBody, undefined>
  input: (this: void, view: View) => Readonly<Record<string, unknown>>
}
