import { durationText, SECONDS, wholeOf } from './durations.js'
import { AppError, type ErrorCode } from './errors.js'

/** At most so many in so many seconds. */
export interface Rate {
  points: number
  seconds: number
}

const LONGEST = 24 * 60 * 60

/** Reads `10/15m`; null for `off`, undefined for anything else. */
export function rateOf(text: string): Rate | null | undefined {
  if (text === 'off') return null
  const [, points, count = 1, unit] = /^([1-9]\d{0,8})\/([1-9]\d{0,4})?([smhdw])$/.exec(text) ?? []
  const seconds = wholeOf(`${count}${unit}`, 's') ?? LONGEST + 1
  return points !== undefined && seconds <= LONGEST ? { points: Number(points), seconds } : undefined
}

/** Formats a rate for `rateOf`: `20/1h`, or `off` for none. */
export const rateText = (rate: Rate | null | undefined): string =>
  rate ? `${rate.points}/${durationText(rate.seconds)}` : 'off'

/** What an operation may declare as its `limit`, or a page guards its work with. */
export type LimitName =
  | 'sign-in'
  | 'mail'
  | 'token'
  | 'preview'
  | 'similar'
  | 'people'
  | 'posts'
  | 'comments'
  | 'edits'
  | 'reports'
  | 'images'
  | 'invitations'

interface Limit {
  default: string
  /** What is limited, and what of it is counted, in words. */
  what: string
  counted: string
  /** Codes of the failures that are counted. */
  failures: readonly ErrorCode[]
  /** Whether a success is counted too. If not, it clears the failures of the account at that address. */
  successes?: true
  /**
   * How an account is counted: not at all, whoever asks, or first of all for each address, and only so where it has
   * signed in before, so that strangers do not shut it out.
   */
  accounts: 'none' | 'together' | 'by address'
  /** Whether it is for new accounts alone, whose work counts. */
  isForNew?: true
  /** Whether the owner has none. */
  exceptOwner?: true
  /** Begins the message of the refusal. */
  message: string
}

/**
 * Where accounts are counted, an address may have so many times the points, and an account that is counted `by address`
 * too, from all addresses.
 */
export const SHARED = 10

/** The default of `limits.requests`: of one address. */
export const REQUESTS = '5000/10s'

const ofNewAccounts = (what: string, rate: string): Limit => ({
  default: rate,
  what: `${what} of a new account`,
  counted: `${what} of new accounts outside the team`,
  failures: [],
  successes: true,
  accounts: 'together',
  isForNew: true,
  message: `You have reached the limit of ${what} for new accounts.`,
})

/** The limits of operations. The setting is `limits.` and the name. */
export const LIMITS: Readonly<Record<LimitName, Limit>> = {
  'sign-in': {
    default: '10/15m',
    what: 'failed sign-ins to one account',
    counted: 'failed sign-ins; a successful one resets the count of its account at its address',
    failures: ['USER_NOT_FOUND', 'USER_BLOCKED', 'INCORRECT_PASSWORD', 'TOTP_WRONG'],
    accounts: 'by address',
    message: 'Too many failed sign-ins.',
  },
  mail: {
    default: '20/1h',
    what: 'mails that sign-up, reset and confirmation send to one address',
    counted: 'mails that sign-up, reset and confirmation send, and answers that reveal whether an account exists',
    failures: ['USER_NOT_FOUND', 'USER_EXISTS'],
    successes: true,
    accounts: 'together',
    message: 'Too many mails were requested.',
  },
  token: {
    default: '100/15m',
    what: 'wrong mail and setup tokens from one address',
    counted: 'wrong mail and setup tokens',
    failures: ['INVALID_TOKEN'],
    accounts: 'none',
    message: 'Too many wrong tokens.',
  },
  preview: {
    default: '30/1m',
    what: 'previews of posts, comments, notes and updates from one address',
    counted: 'previews of posts, comments, notes and updates',
    failures: [],
    successes: true,
    accounts: 'none',
    message: 'Too many previews.',
  },
  similar: {
    default: '60/1m',
    what: 'searches for posts like a new one, of one account',
    counted: 'searches for posts like a new one',
    failures: [],
    successes: true,
    accounts: 'together',
    message: 'Too many searches for similar posts.',
  },
  people: {
    default: '60/1m',
    what: 'lists of people to mention, of one account',
    counted: 'lists of people to mention',
    failures: [],
    successes: true,
    accounts: 'together',
    message: 'Too many requests for people to mention.',
  },
  posts: ofNewAccounts('posts', '20/1h'),
  comments: ofNewAccounts('comments', '60/1h'),
  edits: ofNewAccounts('edits', '60/1h'), // each edit may mention, and so notify, twenty more people
  reports: ofNewAccounts('reports', '20/1h'),
  images: {
    default: '60/1h',
    what: 'images of one account',
    counted: 'images that are uploaded, also those that are refused',
    failures: ['IMAGE_REFUSED'],
    successes: true,
    accounts: 'together',
    message: 'You have reached the limit of images.',
  },
  invitations: {
    default: '100/1d',
    what: 'invitations of one account that is not the owner',
    counted: 'addresses that are invited, and invitations sent again; the owner has no limit',
    failures: ['USER_EXISTS'],
    successes: true,
    accounts: 'together',
    exceptOwner: true,
    message: 'You have reached the limit of invitations.',
  },
}

export const limitNames = Object.keys(LIMITS) as LimitName[]

/** Absent where a limit is off. */
export type Rates = Partial<Record<LimitName | 'requests', Rate>>

/** Error for a reached limit. `seconds` is the time left; `otherwise` names another way in. */
export function rateLimited(
  message: string,
  seconds: number,
  {
    code = 'RATE_LIMITED',
    otherwise,
    reason,
  }: { code?: 'RATE_LIMITED' | 'TOTP_LIMITED'; otherwise?: string; reason?: 'new-account' | undefined } = {},
): AppError {
  const retryAfter = Math.max(1, Math.ceil(seconds))
  const [number, unit] =
    retryAfter < 100
      ? [retryAfter, 'second']
      : retryAfter <= 2 * SECONDS.h
        ? [Math.ceil(retryAfter / SECONDS.m), 'minute']
        : [Math.ceil(retryAfter / SECONDS.h), 'hour']
  const wait = `Try again in ${number} ${unit}${number === 1 ? '' : 's'}`
  const advice = otherwise === undefined ? wait : `${wait}, or ${otherwise}`
  return new AppError(code, `${message} ${advice}.`, { retryAfter, reason })
}
