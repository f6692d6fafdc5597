import { shellQuoted } from '../../../core/shell.js'
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { ErrorCode } from '../../../core/errors.js'
import { notFoundCode, NOUNS, NOUNS_WITH_ROWS, type NotFoundCode } from '../../../core/nouns.js'
import { commandLine, optionValue, withOptions, withoutOption } from '../texts/commandline.js'
import { commandsOf, type About, type Failed } from './fixcommands.js'

/** Where the data of a systemd unit with StateDirectory=feedbackctl is. */
const STATE = '/var/lib/feedbackctl'

/** How many contexts a fix shows. */
const MOST_CONTEXTS = 3

/** Everything in a data folder, which its secret shows; of another folder only itself. */
const givenToThisUser = (folder: string): string =>
  `chown ${existsSync(path.join(folder, 'secret')) ? '-R ' : ''}${process.getuid?.()}:${process.getgid?.()} ${shellQuoted(folder)}`

/** The command that shows why systemd did not start a service. The socket and the server have a log each. */
function journalOf(args: readonly string[]): string {
  const name = optionValue(args, '--name') ?? 'feedbackctl'
  return `journalctl ${args.includes('--user') ? '--user ' : ''}-u ${name}.socket -u ${name} -n 20`
}

type Fixes = Partial<Record<ErrorCode, readonly string[]>>

/** The fix of each error, unless the command has its own. Nothing helps after a command that its user has ended. */
export function usualFixes(about: About): Record<ErrorCode, readonly string[]> {
  const failed = { ...about, ...commandsOf(about) }
  const lists = Object.fromEntries(
    NOUNS_WITH_ROWS.map((noun) => [notFoundCode(noun), failed.run(`${NOUNS[noun].plural} list`)]),
  ) as Record<NotFoundCode, string[]>
  return { ...lists, ...fixesOfAccount(failed), ...fixesOfContent(failed), ...fixesOfSite(failed) }
}

/** Fixes for input, sign-in and permissions. */
function fixesOfAccount({ server, run, explained, help, login, users, missing, password, who, totp, later }: Failed) {
  return {
    VALIDATION_ERROR: help,
    EMAIL_INVALID: help,
    PASSWORD_MISSING: help,
    PASSWORD_COMMON: ['Choose a longer password, or one that nobody else would.'],
    BOARD_NAME_MISSING: help,
    BOARD_URL_MISSING: help,
    SIGNUP_NOT_ALLOWED: run('settings update --signup'),
    MISSING_TOKEN: login,
    INVALID_EMAIL_DOMAIN: help,
    NAME_LENGTH: help,
    INVALID_ROLE_ID: run('roles list'),
    INVALID_USER_ID: users,
    INVALID_LOGO_URL: help,
    LOGO_URL_TOO_LONG: help,
    INVALID_ACCENT_COLOR: help,
    AMBIGUOUS_NAME: missing,
    DECODE_URI_ERROR: help,
    INVALID_JSON: help,
    BAD_REQUEST: help,
    INVALID_AUTH_HEADER: login,
    INVALID_AUTH_HEADER_FORMAT: login,
    INVALID_TOKEN: login,
    AUTHORIZATION_FAILED: login,
    USER_BLOCK: run('users unblock USER'),
    USER_BLOCKED: run('users unblock USER'),
    ACCESS_DENIED: run('roles assign ROLE USER'),
    INCORRECT_PASSWORD: password,
    TOTP_REQUIRED: totp,
    TOTP_WRONG: totp,
    TOTP_LIMITED: [...totp.map((line) => line.replace(/CODE$/, 'RECOVERY-CODE')), ...later],
    NOT_ENOUGH_PERMISSION: who,
    EMAIL_DOMAIN_BLACKLISTED: run('settings blocked-domains'),
    UNAUTHORIZED_NOT_AUTHOR: who,
    EMAIL_NOT_VERIFIED: run('account verify'),
    LABS_DISABLED: run('labs update --vote-on-behalf'),
    CANNOT_UPDATE_SYSTEM_ROLE: run('roles create NAME'),
    CANNOT_CHANGE_OWNER: run('owner promote USER'),
    SETUP_COMPLETED: [
      ...(server === undefined ? run('serve') : login),
      explained('setup --if-needed', 'to accept a site that is set up'),
    ],
    SETUP_REFUSED: run('setup'),
    FORM_REFUSED: help,
  } satisfies Fixes
}

/** Fixes for missing rows and conflicts. */
function fixesOfContent({
  error,
  args,
  command,
  names,
  run,
  of,
  help,
  otherUrl,
  login,
  users,
  byReason,
  password,
}: Failed) {
  return {
    NOT_FOUND: run('status'),
    USER_NOT_FOUND: byReason[error.reason ?? 'database-refuses'] ?? users,
    BOARD_ID_OR_URL_MISSING: help,
    INVITATION_NOT_FOUND: run('invitations list'),
    UNDO_NOT_FOUND: run('events list --sort newest'),
    VOTE_NOT_FOUND: of('votes list', 'POST'),
    ROADMAP_ID_OR_URL_MISSING: help,
    TAG_ID_OR_URL_MISSING: help,
    USER_EXISTS: run('users list'),
    USERNAME_EXISTS: run('users list'),
    BOARD_URL_EXISTS: otherUrl(),
    ROADMAP_URL_EXISTS: otherUrl(),
    TAG_URL_EXISTS: otherUrl(),
    EMAIL_VERIFIED: login,
    VOTE_EXISTS: of('votes list', 'POST'),
    ALREADY_DECIDED: run('moderate list'),
    CONTENT_CHANGED:
      command[0] === 'moderate'
        ? run('moderate list')
        : command[0] === 'comments'
          ? of('comments show', 'COMMENT')
          : of('posts show', 'POST'),
    KEY_LIMIT: run('keys list'),
    VIEW_EXISTS: run('views list'),
    VIEW_LIMIT: run('views list'),
    TAG_LIMIT: run('tags list'),
    POST_TAG_LIMIT: help,
    IMAGE_NOT_FOUND: run('events list --action image.created'),
    IMAGE_REFUSED: help,
    IMAGES_UNAVAILABLE: [
      'npm install -g feedbackctl   where the server runs, with optional packages; then start it again',
    ],
    NOTIFICATION_NOT_FOUND: run('notifications list'),
    MAIL_KEY_NOT_FOUND: run('account notifications'),
    EVENT_NOT_FOUND: run('events list'),
    COMMENT_CANNOT_ANSWER: of('comments show', 'COMMENT'),
    POST_MERGED: of('posts show', 'POST'),
    POST_LOCKED: of('posts show', 'POST'),
    BOARD_ARCHIVED: run('boards list'),
    POST_NOT_MERGED: of('posts show', 'POST'),
    MERGE_REFUSED: help,
    UNDO_REFUSED: of('events show', 'EVENT'),
    TOTP_ENABLED: run('totp disable'),
    TOTP_NOT_ENABLED: run('totp begin'),
    IDENTITY_EXISTS: run('identities list'),
    LAST_IDENTITY: password,
    ROLE_USER_CONFLICT: run(`users show ${optionValue(args, '--user') ?? (names.length === 2 ? names[1] : 'USER')}`),
  } satisfies Fixes
}

/** Fixes for the server, mail, the database, files and backups. */
function fixesOfSite(failed: Failed) {
  const {
    error,
    args,
    server,
    command,
    again,
    run,
    explained,
    help,
    later,
    elsewhere,
    missing,
    origins,
    invalid,
    backups,
  } = failed
  return {
    PAYLOAD_TOO_LARGE: help,
    UNSUPPORTED_MEDIA_TYPE: help,
    RATE_LIMITED: later,
    SERVER_ERROR: args.includes('--debug')
      ? server === undefined
        ? run('doctor')
        : later
      : again(withOptions(args, '--debug')),
    MAIL_CONFIG_MISSING: [
      ...(command[0] === 'setup' && server !== undefined ? run('setup --no-mail') : []),
      '--mail-url smtp://USER:PASSWORD@HOST:587',
      'or FEEDBACKCTL_MAIL_URL, or mail.url in the configuration file (feedbackctl help mail-url)',
    ],
    DATABASE_UNREACHABLE: server === undefined ? run('doctor database') : later,
    STORAGE_FULL: server === undefined ? run('doctor disk') : later,
    SERVER_BUSY: later,
    USAGE: help,
    CONFIG_INVALID: invalid,
    INPUT_MISSING: missing,
    SETUP_INPUT_MISSING: missing,
    CONFIRMATION_NEEDED:
      error.reason === 'protected'
        ? again(withOptions(withoutOption(args, '--confirm'), ...(error.place === undefined ? [] : ['--confirm', error.place]))) // prettier-ignore
        : again(withOptions(args, '--yes')),
    SERVER_UNREACHABLE: [
      'Check the address, and that "feedbackctl serve" runs there.',
      ...(optionValue(args, '--server') === undefined ? [origins] : []),
    ],
    LISTEN_FAILED: elsewhere,
    PORT_IN_USE: elsewhere,
    MAIL_UNREACHABLE: run('mail test'),
    SECRET_MISMATCH: run('secret new'),
    DATABASE_NEWER: ['npm install -g feedbackctl@latest', ...backups],
    DATABASE_OUTDATED: run('migrate'),
    SITE_NOT_FOUND: otherSites(failed, run('setup').join('')),
    DATABASE_MISSING:
      command[0] === 'db' ? ['feedbackctl db copy FROM TO   with another FROM'] : [...backups, ...run('restore FILE')],
    DATABASE_UNUSABLE:
      error.reason === 'database-damaged'
        ? ['Stop "feedbackctl serve". A restore keeps the damaged file.', ...run('backup list', 'restore FILE')]
        : error.reason === 'folder-refuses'
          ? [givenToThisUser(error.place ?? '')]
          : run('doctor files disk'),
    UNSUPPORTED_NODE: run('doctor runtime'),
    OUTPUT_FAILED: ['Free some space, or write to another file.'],
    SERVICE_FAILED: [journalOf(args)],
    AUDIT_FINDINGS: [explained('backup list', 'for a backup to compare with')],
    MAIL_NOT_FOUND: run('mail queue list --sent'),
    MAIL_NOT_WAITING: run('mail queue list --sent'),
    MAIL_NOT_SUPPRESSED: run('mail suppressed list'),
    DOCTOR_FINDINGS: error.reason === 'by-hand' || args.includes('--fix') ? ['Do what each finding says.'] : again(withOptions(args, '--fix')), // prettier-ignore
    MAIL_TEST_FAILED: missing,
    COPY_DIFFERS: later,
    IMPORT_DIFFERS: later,
    BACKUP_DAMAGED: [explained('backup list', 'for an earlier one')],
    BACKUP_NOT_FOUND: command[1] === 'rehearse' ? run('backup create') : backups,
    BACKUP_EXISTS: command[0] === 'db' ? otherTarget(args, again) : help,
    BACKUP_RUNNING: later,
    IMPORT_RUNNING: later,
    IMPORT_NOT_FOUND: help,
    BACKUP_FAILED: run('doctor backups disk'),
    PASSPHRASE_WRONG: again(withOptions(withoutOption(args, '--backup-passphrase-file'), '--backup-passphrase-file', 'FILE')), // prettier-ignore
    DATABASE_IN_USE: [explained('status', 'to see who uses it')],
    CANCELED: [],
    INTERRUPTED: [],
  } satisfies Fixes
}

/** The command to copy a database, to a file that does not exist. */
function otherTarget(args: readonly string[], again: (changed: readonly string[]) => string[]): string[] {
  const target = args.filter((arg) => !arg.startsWith('-')).at(3)
  return again(args.map((arg) => (arg === target ? 'sqlite:NEW.db' : arg)))
}

/** The sites that the command could mean, where there is none in its data folder. */
function otherSites({ args, contexts, secrets }: About, setup: string): string[] {
  const withPlace = (...options: string[]) => commandLine([...args.filter((arg) => arg !== '--'), ...options], secrets)
  return [
    ...contexts.slice(0, MOST_CONTEXTS).map((name) => `${withPlace('--context', name)}   for the site ${name}`),
    ...(existsSync(`${STATE}/feedback.db`)
      ? [`${withPlace('--data-dir', STATE)}   for the site of the systemd unit`]
      : []),
    `${setup}   to create one here`,
    `${contexts.length > MOST_CONTEXTS ? '--context NAME, ' : ''}--data-dir FOLDER, --database-url URL, --server URL   to use another`,
  ]
}
