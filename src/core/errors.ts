import type { MergeReason } from './mergereasons.js'
import { LISTS_OF_UNKNOWN, type UnknownCode } from './nouns.js'

/**
 * All error codes. The server maps a code to a status; the remote client maps it back; a command maps it to an exit
 * code. `exit` is set where it differs from what the status implies. `serve` is the exit code of `feedbackctl serve`,
 * which a service manager reads. `body` returns the extra fields that the contract adds to the response. `fields` are
 * those of an input that it may be about: of a form, the first that was sent.
 */
const CODES = {
  VALIDATION_ERROR: { status: 400 },
  EMAIL_INVALID: { status: 400, fields: ['email'] },
  PASSWORD_MISSING: { status: 400, fields: ['password'] },
  PASSWORD_COMMON: { status: 400, fields: ['password'] },
  BOARD_NAME_MISSING: { status: 400 },
  BOARD_URL_MISSING: { status: 400 },
  SIGNUP_NOT_ALLOWED: { status: 400, exit: 5 },
  MISSING_TOKEN: { status: 400 },
  INVALID_EMAIL_DOMAIN: { status: 400, fields: ['email'] },
  NAME_LENGTH: { status: 400, body: (message: string) => ({ name: message }), fields: ['name'] },
  INVALID_ROLE_ID: { status: 400, exit: 3 },
  INVALID_USER_ID: { status: 400, exit: 3 },
  INVALID_LOGO_URL: { status: 400, fields: ['logo'] },
  LOGO_URL_TOO_LONG: { status: 400, fields: ['logo'] },
  INVALID_ACCENT_COLOR: { status: 400, fields: ['accentColor'] },
  AMBIGUOUS_NAME: { status: 400 },
  DECODE_URI_ERROR: { status: 400 },
  INVALID_JSON: { status: 400 },
  BAD_REQUEST: { status: 400 },
  INVALID_AUTH_HEADER: { status: 400, exit: 4 },
  INVALID_AUTH_HEADER_FORMAT: { status: 401 },
  INVALID_TOKEN: { status: 401 },
  AUTHORIZATION_FAILED: { status: 401 },
  USER_BLOCK: { status: 403 },
  USER_BLOCKED: { status: 403 },
  ACCESS_DENIED: { status: 403 },
  INCORRECT_PASSWORD: { status: 403, fields: ['currentPassword', 'password'] },
  TOTP_REQUIRED: { status: 403, fields: ['code'] },
  TOTP_WRONG: { status: 403, fields: ['code'] },
  NOT_ENOUGH_PERMISSION: { status: 403 },
  EMAIL_DOMAIN_BLACKLISTED: { status: 403, fields: ['email'] },
  UNAUTHORIZED_NOT_AUTHOR: { status: 403 },
  EMAIL_NOT_VERIFIED: { status: 403 },
  LABS_DISABLED: { status: 403, exit: 5 },
  CANNOT_UPDATE_SYSTEM_ROLE: { status: 403, exit: 5 },
  CANNOT_CHANGE_OWNER: { status: 403, exit: 5 },
  SETUP_COMPLETED: { status: 403, exit: 5 },
  SETUP_REFUSED: { status: 403 },
  FORM_REFUSED: { status: 403 },
  NOT_FOUND: { status: 404 },
  USER_NOT_FOUND: { status: 404, fields: ['email'] },
  BOARD_NOT_FOUND: { status: 404 },
  BOARD_ID_OR_URL_MISSING: { status: 404, exit: 2 },
  POST_NOT_FOUND: { status: 404 },
  VOTE_NOT_FOUND: { status: 404 },
  COMMENT_NOT_FOUND: { status: 404 },
  ROADMAP_NOT_FOUND: { status: 404 },
  ROADMAP_ID_OR_URL_MISSING: { status: 404, exit: 2 },
  TAG_NOT_FOUND: { status: 404 },
  TAG_ID_OR_URL_MISSING: { status: 404, exit: 2 },
  IMAGE_NOT_FOUND: { status: 404 },
  ROLE_NOT_FOUND: { status: 404 },
  INVITATION_NOT_FOUND: { status: 404 },
  KEY_NOT_FOUND: { status: 404 },
  UNDO_NOT_FOUND: { status: 404 },
  VIEW_NOT_FOUND: { status: 404 },
  SESSION_NOT_FOUND: { status: 404 },
  IDENTITY_NOT_FOUND: { status: 404 },
  USER_EXISTS: { status: 409, fields: ['email'] },
  USERNAME_EXISTS: { status: 409 },
  BOARD_URL_EXISTS: { status: 409, fields: ['url', 'name'] },
  ROADMAP_URL_EXISTS: { status: 409, fields: ['url', 'name'] },
  TAG_URL_EXISTS: { status: 409 },
  EMAIL_VERIFIED: { status: 409 },
  VOTE_EXISTS: { status: 409 },
  CONTENT_CHANGED: { status: 409 },
  ALREADY_DECIDED: { status: 409 },
  KEY_LIMIT: { status: 409 },
  VIEW_EXISTS: { status: 409 },
  VIEW_LIMIT: { status: 409 },
  TAG_LIMIT: { status: 409 },
  POST_TAG_LIMIT: { status: 409 },
  NOTIFICATION_NOT_FOUND: { status: 404 },
  MAIL_KEY_NOT_FOUND: { status: 404 },
  EVENT_NOT_FOUND: { status: 404 },
  COMMENT_CANNOT_ANSWER: { status: 409 },
  POST_MERGED: { status: 409 },
  POST_LOCKED: { status: 409 },
  BOARD_ARCHIVED: { status: 409 },
  POST_NOT_MERGED: { status: 409 },
  MERGE_REFUSED: { status: 409 },
  UNDO_REFUSED: { status: 409 },
  TOTP_ENABLED: { status: 409 },
  TOTP_NOT_ENABLED: { status: 409 },
  IDENTITY_EXISTS: { status: 409 },
  LAST_IDENTITY: { status: 409 },
  ROLE_USER_CONFLICT: { status: 409, body: () => ({ success: 0 }) },
  PAYLOAD_TOO_LARGE: { status: 413 },
  UNSUPPORTED_MEDIA_TYPE: { status: 415 },
  IMAGE_REFUSED: { status: 422, exit: 2, fields: ['images', 'imagesDark'] },
  RATE_LIMITED: { status: 429, exit: 6 },
  TOTP_LIMITED: { status: 429, exit: 6, fields: ['code'] },
  SERVER_ERROR: { status: 500 },
  MAIL_CONFIG_MISSING: { status: 501, exit: 5 },
  IMAGES_UNAVAILABLE: { status: 501, exit: 5, fields: ['images', 'imagesDark'] },
  DATABASE_UNREACHABLE: { status: 503, exit: 6 },
  STORAGE_FULL: { status: 503, exit: 6 },
  SERVER_BUSY: { status: 503, exit: 6 },
  // The codes below occur only in commands. The server never sends them.
  USAGE: { status: 400 },
  CONFIG_INVALID: { status: 400, serve: 78 },
  INPUT_MISSING: { status: 400 },
  SETUP_INPUT_MISSING: { status: 400 },
  CONFIRMATION_NEEDED: { status: 409 },
  SERVER_UNREACHABLE: { status: 503, exit: 6 },
  LISTEN_FAILED: { status: 500, exit: 78 },
  PORT_IN_USE: { status: 500, exit: 6 },
  MAIL_UNREACHABLE: { status: 500, exit: 6 },
  SECRET_MISMATCH: { status: 500, exit: 78 },
  DATABASE_NEWER: { status: 500, exit: 5, serve: 78 },
  DATABASE_OUTDATED: { status: 500, exit: 5, serve: 78 },
  SITE_NOT_FOUND: { status: 404 },
  DATABASE_MISSING: { status: 500, exit: 5, serve: 78 },
  DATABASE_UNUSABLE: { status: 500, exit: 1 },
  UNSUPPORTED_NODE: { status: 500, exit: 1 },
  OUTPUT_FAILED: { status: 500, exit: 1 },
  SERVICE_FAILED: { status: 500, exit: 1 },
  AUDIT_FINDINGS: { status: 500, exit: 9 },
  MAIL_NOT_FOUND: { status: 404 },
  MAIL_NOT_WAITING: { status: 409 },
  MAIL_NOT_SUPPRESSED: { status: 409 },
  DOCTOR_FINDINGS: { status: 500, exit: 9 },
  MAIL_TEST_FAILED: { status: 500, exit: 9 },
  COPY_DIFFERS: { status: 500, exit: 9 },
  IMPORT_DIFFERS: { status: 500, exit: 9 },
  BACKUP_DAMAGED: { status: 500, exit: 9 },
  BACKUP_NOT_FOUND: { status: 404 },
  BACKUP_EXISTS: { status: 409 },
  BACKUP_RUNNING: { status: 409 },
  IMPORT_RUNNING: { status: 409 },
  IMPORT_NOT_FOUND: { status: 404 },
  BACKUP_FAILED: { status: 500, exit: 1 },
  PASSPHRASE_WRONG: { status: 400 },
  DATABASE_IN_USE: { status: 409 },
  CANCELED: { status: 500, exit: 5 },
  INTERRUPTED: { status: 500, exit: 130 },
} as const satisfies Record<string, Entry>

interface Entry {
  status: number
  exit?: number
  serve?: number
  body?(this: void, message: string): object
  fields?: readonly string[]
}

export type ErrorCode = keyof typeof CODES
export const errorCodes = Object.keys(CODES) as ErrorCode[]

/** A code, followed by a status where the contract overrides the usual one: `INVALID_TOKEN 404`. */
export type Failure = ErrorCode | `${ErrorCode} ${number}`

/** One invalid field: an entry of `errors` in a VALIDATION_ERROR. `value` is omitted if it is a secret. */
export interface Issue {
  code: string
  message: string
  field: string
  rule: string
  value?: unknown
}

const UNKNOWN_CODES = Object.keys(LISTS_OF_UNKNOWN) as UnknownCode[]

/**
 * Which of the causes that share a code it was. Commands and pages say what to do by it. The body of an error does not have
 * it; the outcomes of a merge do.
 */
export type Reason =
  | MergeReason
  | 'by-hand'
  | 'database-damaged'
  | 'database-refuses'
  | 'folder-refuses'
  | 'image-bytes'
  | 'image-count'
  | 'image-pixels'
  | 'image-frames'
  | 'image-time'
  | 'image-unreadable'
  | 'metrics-port'
  | 'new-account'
  | 'no-password'
  | 'protected'
  | 'session-account-deleted'
  | 'sign-in'
  | 'site-not-set-up'

/** An error that the caller may see. Anything else that is thrown is a bug and is reported as SERVER_ERROR. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly errors: Issue[] | undefined
  readonly why: string | undefined
  readonly reason: Reason | undefined
  /** Seconds after which the caller may try again. */
  readonly retryAfter: number | undefined
  /** Location of the mistake: `line 3 of FILE`. */
  readonly place: string | undefined
  /** Of TOTP_REQUIRED: stands for the password in the next sign-in. */
  readonly passwordToken: string | undefined
  readonly status: number

  constructor(
    failure: Failure,
    message: string,
    details: {
      errors?: Issue[] | undefined
      why?: string | undefined
      reason?: Reason | undefined
      retryAfter?: number | undefined
      place?: string | undefined
      passwordToken?: string | undefined
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: details.cause })
    const { code, status } = statusOf(failure)
    this.name = 'AppError'
    this.code = code
    this.status = status
    this.errors = details.errors
    this.why = details.why
    this.reason = details.reason
    this.retryAfter = details.retryAfter
    this.place = details.place
    this.passwordToken = details.passwordToken
  }

  /** The exit code of a command that fails with this error, as listed in `feedbackctl help exit-codes`. */
  get exit(): number {
    const entry: Entry = CODES[this.code]
    if (entry.exit !== undefined) return entry.exit
    if (this.unknown !== undefined) return 3
    const { status } = this
    if (status === 404) return 3
    if (status === 401 || status === 403) return 4
    if (status === 409) return 5
    return status < 500 ? 2 : 1
  }

  /** The first field that names what does not exist, where all invalid fields do. */
  get unknown(): UnknownCode | undefined {
    const codes = this.errors?.map(({ code }) => UNKNOWN_CODES.find((known) => known === code)) ?? []
    return codes.includes(undefined) ? undefined : codes[0]
  }

  /** Fields that it may be about, though its body names none. */
  get fields(): readonly string[] {
    const { fields = [] }: Entry = CODES[this.code]
    return fields
  }

  get serveExit(): number {
    const { serve = this.exit }: Entry = CODES[this.code]
    return serve
  }

  /** The body of the HTTP response. */
  get body(): ErrorBody {
    const { body }: Entry = CODES[this.code]
    return {
      code: this.code,
      message: this.message,
      ...body?.(this.message),
      ...(this.why !== undefined && { why: this.why }),
      ...(this.passwordToken !== undefined && { passwordToken: this.passwordToken }),
      ...(this.errors && { errors: this.errors }),
    }
  }
}

export function statusOf(failure: Failure): { code: ErrorCode; status: number } {
  const [code, status] = failure.split(' ') as [ErrorCode, string | undefined]
  return { code, status: status === undefined ? CODES[code].status : Number(status) }
}

export interface ErrorBody {
  code: string
  message: string
  why?: string
  passwordToken?: string
  errors?: Issue[]
}

export const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(CODES, code)

/** Hides an unexpected error behind a SERVER_ERROR. The cause goes to the log only. */
export const serverError = (cause: unknown): AppError =>
  new AppError('SERVER_ERROR', 'Internal error. The server log has the details under this request id.', {
    cause,
  })
