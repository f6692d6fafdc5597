import { isIP } from 'node:net'
import { databaseUrlProblem, mailUrlProblem, listenProblem, parseListen, serverUrlProblem } from './addresses.js'
import { durationOf, SECONDS, wholeOf } from './durations.js'
import { isLanguage, LANGUAGES } from './language.js'
import { LIMITS, rateOf, REQUESTS, type LimitName } from './limits.js'

interface Setting {
  /** One phrase, for help and documentation. */
  description: string
  /** Placeholder for the value in help: `url` becomes <url>. */
  value: string
  default?: string
  /** A computed default, in words. */
  derived?: string
  /** Name of the flag where it is not the key with dashes. */
  flag?: string
  /** The only command that has the flag. */
  command?: 'serve' | 'setup'
  /**
   * `file`: only --…-file, which names a file that holds the value. `either`: that flag too. Otherwise the value only.
   */
  takes?: 'file' | 'either'
  secret?: true
  /** A server that runs uses a change after SIGHUP. */
  reloads?: true
  /** Only commands read it, so no server needs a restart. */
  commandsOnly?: true
  /**
   * Values that ./feedbackctl.toml cannot set: with them whoever made the folder, such as a repository, could run a
   * program, get a token or data, or make a site less safe.
   */
  notFromHere?(value: string): boolean
  /** Returns the problem with a value, such as "must be HOST:PORT". The caller adds the value, unless it is secret. */
  check?(value: string): string | undefined
}

/** An address, a range or a name of ranges, as proxy-addr reads them. */
function isProxy(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  if (bits === undefined && ['loopback', 'linklocal', 'uniquelocal'].includes(address)) return true
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1
  return longest > 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= longest))
}

/** A scheme, a host and perhaps a port, as a browser sends them. */
const isOrigin = (text: string): boolean => /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text

const limit = (description: string, preset: string) =>
  ({
    description,
    value: 'rate',
    default: preset,
    command: 'serve',
    notFromHere: () => true,
    check: (value: string) =>
      rateOf(value) === undefined ? 'must be off, or a number and a time of at most 24h, such as 10/15m' : undefined,
  }) as const satisfies Setting
const limitOf = (name: LimitName) =>
  ({ ...limit(`how many ${LIMITS[name].what}, or off`, LIMITS[name].default), reloads: true }) as const

const durationProblem = (text: string): string | undefined =>
  durationOf(text) === undefined ? 'must be off, or a time from 1s to 366d, such as 1d or 6h' : undefined

const gatherProblem = (text: string): string | undefined =>
  (durationOf(text) ?? 0) <= SECONDS.d && durationOf(text) !== undefined ? undefined : 'must be off, or a time from 1s to 1d, such as 5m' // prettier-ignore

const sessionProblem = (text: string): string | undefined =>
  (durationOf(text) ?? 0) < 15 * SECONDS.m ? 'must be a time from 15m to 366d, such as 30d or 12h' : undefined

/** The problem with a number of seconds: `30`, `30s` or `2m`. */
const secondsProblem =
  (least: number, most: number, range: string) =>
  (text: string): string | undefined => {
    const seconds = wholeOf(text, 's')
    return seconds !== undefined && seconds >= least && seconds <= most ? undefined : `must be a time from ${range}, such as 30s or 2m` // prettier-ignore
  }

/** What makes a secret guessable; undefined for one that may be random. */
export function secretProblem(secret: string): string | undefined {
  const fix = 'make one with "openssl rand -hex 32"'
  if (secret.length < 16) return `must have at least 16 characters: ${fix}`
  if (new Set(secret).size < 6 || /^(.{1,8})\1+.{0,7}$/s.test(secret))
    return `must be random, and not the same characters again and again: ${fix}`
  return undefined
}

/** A header has to carry it as it is. */
function metricsTokenProblem(token: string): string | undefined {
  if (token.length < 16) return 'must have at least 16 characters'
  if (token.length > 1000) return 'must have at most 1000 characters'
  return /^[\x21-\x7e]+$/.test(token) ? undefined : 'must be ASCII characters without spaces'
}

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/**
 * The table of settings. Flags, environment, configuration files, help and docs/configuration.md all follow from it.
 * The key `a.b-c` is also the flag --a-b-c, the variable FEEDBACKCTL_A_B_C and, with _FILE, a file that holds the
 * value.
 */
const SETTINGS = {
  'data.dir': {
    description: 'folder of the SQLite database and the secret',
    value: 'folder',
    derived: 'feedbackctl in XDG_DATA_HOME; STATE_DIRECTORY under systemd',
  },
  'database.url': {
    description: 'sqlite:PATH or postgres://USER:PASSWORD@HOST/DATABASE',
    value: 'url',
    takes: 'either',
    secret: true,
    derived: 'sqlite:feedback.db in data.dir',
    notFromHere: (value) => !value.startsWith('sqlite:'),
    check: databaseUrlProblem,
  },
  'database.prepare': {
    description: 'whether PostgreSQL prepares statements; some connection poolers need false',
    value: 'boolean',
    default: 'true',
    check: (value) => (['true', 'false'].includes(value) ? undefined : 'must be true or false'),
  },
  'database.timeout': {
    description: 'how long a request waits for PostgreSQL before serve answers 503, from 1s to 5m',
    value: 'time',
    default: '5s',
    check: secondsProblem(1, 300, '1s to 5m'),
  },
  'mail.url': {
    description: 'how mail is sent: smtp://…, smtps://…, sendmail: or folder:PATH',
    value: 'url',
    takes: 'either',
    secret: true,
    notFromHere: (value) => !value.startsWith('folder:'),
    check: mailUrlProblem,
  },
  'mail.from': {
    description: 'sender of mail',
    value: 'address',
    derived: 'noreply@ and the host of site.url',
    check: (value) =>
      /^[^\r\n]*\S+@\S+$/.test(value) ? undefined : 'must be an e-mail address, with or without a name',
  },
  'mail.rate': limit(
    'how many mails leave, or off; those that somebody waits for, as to sign in, are not held back',
    'off',
  ),
  'mail.gather': {
    description: 'how long news about a post waits for more, to be one mail, such as 5m, or off',
    value: 'time',
    default: '5m',
    command: 'serve',
    notFromHere: () => true,
    check: gatherProblem,
  },
  'site.url': {
    description: 'public address of the site; links in mail start with it',
    value: 'url',
    derived: 'http://localhost with the port of listen',
    notFromHere: () => true,
    check: (value) =>
      /^https?:$/.test(URL.canParse(value) ? new URL(value).protocol : '')
        ? undefined
        : 'must start with http:// or https://',
  },
  'site.language': {
    description: `language of mails to users who chose none, and of pages for browsers that ask for neither: ${LANGUAGES.slice(0, -1).join(', ')} or ${LANGUAGES.at(-1)}`,
    value: 'code',
    default: LANGUAGES[0],
    check: (value) => (isLanguage(value) ? undefined : `must be one of ${LANGUAGES.join(', ')}`),
  },
  listen: {
    description:
      'HOST:PORT that serve listens on, or unix:PATH for a Unix socket; PORT alone means 127.0.0.1, which only this machine can reach',
    value: 'address',
    default: '127.0.0.1:8000',
    check: listenProblem,
  },
  'socket.mode': {
    description:
      'who may connect to a Unix socket that listen names, as an octal mode; 660 for the owner and the group of serve',
    value: 'mode',
    default: '660',
    command: 'serve',
    check: (value) => (/^0?[67][0-7][0-7]$/.test(value) ? undefined : 'must be an octal mode such as 660'),
  },
  secret: {
    description: 'key that signs session tokens, at least 16 characters',
    value: 'text',
    takes: 'file',
    secret: true,
    derived: 'the file secret in data.dir, created on first use',
    notFromHere: () => true,
    check: secretProblem,
  },
  'backup.dir': {
    description: 'folder of backups',
    value: 'folder',
    derived: 'backups in data.dir',
    notFromHere: () => true,
  },
  'backup.every': {
    description: 'how often serve backs the site up, such as 1d or 6h, or off',
    value: 'time',
    default: 'off',
    command: 'serve',
    notFromHere: () => true,
    check: durationProblem,
  },
  'backup.keep': {
    description: 'how many backups "backup prune" and the schedule keep, from 1 to 9999',
    value: 'n',
    default: '7',
    notFromHere: () => true,
    check: (value) => (/^[1-9]\d{0,3}$/.test(value) ? undefined : 'must be a number from 1 to 9999'),
  },
  'backup.passphrase': {
    description: 'passphrase that backups are encrypted with, at least 12 characters',
    value: 'text',
    takes: 'file',
    secret: true,
    notFromHere: () => true,
    check: (value) => (value.length < 12 ? 'must have at least 12 characters' : undefined),
  },
  workers: {
    description: 'how many processes share the work of serve',
    value: 'n',
    default: '1',
    command: 'serve',
    check: (value) => (/^\d{1,2}$/.test(value) && Number(value) > 0 ? undefined : 'must be a number from 1 to 99'),
  },
  'trust-proxy': {
    description:
      'reverse proxies whose X-Forwarded-For is trusted: addresses, ranges, loopback; true for all. Behind a Unix socket it is loopback unless set',
    value: 'addresses',
    default: 'false',
    command: 'serve',
    notFromHere: () => true,
    check: (value) =>
      ['true', 'false'].includes(value) || value.split(',').every((each) => isProxy(each.trim()))
        ? undefined
        : 'must be true, false or a list of addresses, such as "loopback, 10.0.0.0/8"',
  },
  'cors.origins': {
    description: 'origins whose pages may use the API, separated by commas; or * for all, or none',
    value: 'origins',
    default: '*',
    command: 'serve',
    notFromHere: () => true,
    check: (value) =>
      ['*', 'none'].includes(value) || value.split(',').every((each) => isOrigin(each.trim()))
        ? undefined
        : 'must be *, none or a list of origins, such as "https://feedback.example.org, http://localhost:3000"',
  },
  'web.enabled': {
    description: 'whether serve has pages for browsers; the API and the pages that mails link to are always there',
    value: 'boolean',
    default: 'true',
    command: 'serve',
    check: (value) => (['true', 'false'].includes(value) ? undefined : 'must be true or false'),
  },
  'web.root': {
    description: 'folder of another web client, served instead of the pages',
    value: 'folder',
    command: 'serve',
    notFromHere: () => true,
  },
  'accounts.unverified': {
    description: 'what users may do before they confirm their address: allow (everything their roles permit) or read',
    value: 'word',
    default: 'allow',
    command: 'serve',
    notFromHere: () => true,
    check: (value) => (['allow', 'read'].includes(value) ? undefined : 'must be allow or read'),
  },
  'accounts.new': {
    description:
      'how long an account is new, such as 1d, or off: new accounts have limits.posts, limits.comments, limits.edits and limits.reports',
    value: 'time',
    default: '1d',
    command: 'serve',
    notFromHere: () => true,
    check: durationProblem,
  },
  'accounts.unknown': {
    description:
      'whether sign-in and password reset tell that an address has no account: tell or hide; pages always hide it',
    value: 'word',
    default: 'tell',
    command: 'serve',
    notFromHere: () => true,
    check: (value) => (['tell', 'hide'].includes(value) ? undefined : 'must be tell or hide'),
  },
  'sessions.idle': {
    description: 'how long a browser stays signed in without a visit, from 15m to 366d',
    value: 'time',
    default: '30d',
    command: 'serve',
    notFromHere: () => true,
    check: sessionProblem,
  },
  'sessions.absolute': {
    description: 'how long a browser stays signed in at most, however often it visits, from 15m to 366d',
    value: 'time',
    default: '365d',
    command: 'serve',
    notFromHere: () => true,
    check: sessionProblem,
  },
  'passwords.common': {
    description: 'whether serve accepts very common passwords: allow or refuse; pages and commands always refuse them',
    value: 'word',
    default: 'allow',
    command: 'serve',
    notFromHere: () => true,
    check: (value) => (['allow', 'refuse'].includes(value) ? undefined : 'must be allow or refuse'),
  },
  'limits.requests': limit('how many requests from one address, or off', REQUESTS),
  'limits.sign-in': limitOf('sign-in'),
  'limits.mail': limitOf('mail'),
  'limits.token': limitOf('token'),
  'limits.preview': limitOf('preview'),
  'limits.similar': limitOf('similar'),
  'limits.people': limitOf('people'),
  'limits.posts': limitOf('posts'),
  'limits.comments': limitOf('comments'),
  'limits.edits': limitOf('edits'),
  'limits.reports': limitOf('reports'),
  'limits.images': limitOf('images'),
  'limits.invitations': limitOf('invitations'),
  'metrics.listen': {
    description:
      'HOST:PORT at which serve shows Prometheus its metrics, such as 127.0.0.1:9464; PORT alone means 127.0.0.1',
    value: 'address',
    command: 'serve',
    notFromHere: () => true,
    check: (value) => (parseListen(value) ? undefined : 'must be HOST:PORT or PORT'),
  },
  'metrics.token': {
    description:
      'token that Prometheus must send for the metrics, at least 16 characters; needed where other machines reach them',
    value: 'text',
    takes: 'file',
    command: 'serve',
    secret: true,
    notFromHere: () => true,
    check: metricsTokenProblem,
  },
  'log.level': {
    description: `how much serve logs: ${LEVELS.join(', ')}`,
    value: 'level',
    default: 'info',
    reloads: true,
    check: (value) => (LEVELS.includes(value) ? undefined : `must be one of ${LEVELS.join(', ')}`),
  },
  'shutdown.timeout': {
    description: 'how long serve waits for open requests when it stops',
    value: 'time',
    default: '25s',
    check: secondsProblem(0, 9999, '0s to 9999s'),
  },
  context: {
    description: 'use the site in the table [contexts.NAME] of a configuration file',
    value: 'name',
    notFromHere: () => true,
  },
  server: {
    commandsOnly: true,
    description: 'use this server over HTTP instead of the database',
    value: 'url',
    notFromHere: () => true,
    check: serverUrlProblem,
  },
  token: {
    commandsOnly: true,
    description: 'session token for --server',
    value: 'text',
    takes: 'file',
    secret: true,
    derived: 'the token that "feedbackctl login" saved',
    notFromHere: () => true,
  },
  'setup.token': {
    description: 'token that setup over HTTP must send; commands that open the database need none',
    value: 'text',
    command: 'setup',
    takes: 'file',
    secret: true,
    notFromHere: () => true,
    check: (value) => (value.length < 16 ? 'must have at least 16 characters' : undefined),
  },
  'setup.email': {
    commandsOnly: true,
    description: "owner's e-mail address",
    value: 'address',
    flag: 'email',
    command: 'setup',
  },
  'setup.password': {
    commandsOnly: true,
    description: "owner's password",
    value: 'text',
    flag: 'password',
    command: 'setup',
    takes: 'either',
    secret: true,
    notFromHere: () => true,
  },
  'setup.name': {
    commandsOnly: true,
    description: "owner's display name",
    value: 'text',
    flag: 'name',
    command: 'setup',
    derived: 'Owner',
  },
  'setup.site-title': {
    commandsOnly: true,
    description: 'title of the site',
    value: 'text',
    flag: 'title',
    command: 'setup',
    derived: 'Feedback',
  },
} as const satisfies Record<string, Setting>

export type Key = keyof typeof SETTINGS
export const keys = Object.keys(SETTINGS) as Key[]
export const settings: Readonly<Record<Key, Setting>> = SETTINGS

export const flagOf = (key: Key): string => settings[key].flag ?? key.replaceAll('.', '-')
export const variableOf = (key: Key): string => `FEEDBACKCTL_${key.replaceAll(/[.-]/g, '_').toUpperCase()}`
/** Whether a server that runs uses a change of the setting only after a restart. */
export const needsRestart = (key: Key): boolean => !settings[key].commandsOnly
export const isSecret = (key: Key): boolean => settings[key].secret ?? false

/** The flags of a setting, as help shows them. */
export function declaredFlags(key: Key): { flags: string; description: string }[] {
  const { description, value, takes = 'value', default: preset, derived = preset } = settings[key]
  const flag = {
    flags: `--${flagOf(key)} <${value}>`,
    description: derived === undefined ? description : `${description} (default: ${derived})`,
  }
  const file = {
    flags: `--${flagOf(key)}-file <file>`,
    description: `file with the ${takes === 'file' ? description : key}`,
  }
  if (takes === 'value') return [flag]
  return takes === 'file' ? [file] : [flag, file]
}
