/** A step of a test, and its result. A warning does not stop a mail from leaving; it may end as spam. */
export interface Step {
  step: string
  result: 'ok' | 'warning' | 'failed' | 'skipped'
  detail: string
  /** What to do about a warning or a failure. */
  next?: string
}

/** The SMTP transcript: whole lines, `S:` from the server and `C:` to it, without secrets. */
export type Transcript = string[]
