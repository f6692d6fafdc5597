import { settingLines } from './config.js'

/** Texts of `feedbackctl help TOPIC`: what belongs to no command. */
export const topics: Record<string, () => string> = {
  'exit-codes': () => `Exit codes

  0   done; also an empty list, and nothing to do
  1   failed inside
  2   wrong usage or a value that is not valid; nothing was done
  3   not found
  4   not signed in, or not allowed
  5   conflict, a precondition, or a confirmation is needed
  6   server or database not reachable: try again
  78  serve only: wrong configuration
  130, 143  interrupted, terminated
`,
  environment: () => `Settings and where they come from

Highest first: a flag, FEEDBACKCTL_* (or FEEDBACKCTL_*_FILE: a file that holds the value),
a systemd credential named like the key, ./feedbackctl.toml, the user's
feedbackctl/config.toml (in XDG_CONFIG_HOME), /etc/feedbackctl/config.toml, the default.
--config FILE (FEEDBACKCTL_CONFIG) replaces the three files. HOST, PORT and DATABASE_URL
are honoured below our own variables. An empty value counts as not set.

${settingLines().join('\n')}

Also: NO_COLOR, FORCE_COLOR, CI (never asks), XDG_CONFIG_HOME, XDG_DATA_HOME, STATE_DIRECTORY,
and XDG_CACHE_HOME, where compiled code is kept for the next start (NODE_DISABLE_COMPILE_CACHE=1: not).
"feedbackctl config list --show-origin" shows what is in force.
`,
  formatting: () => `Output

stdout has data only; everything said to a person goes to stderr.
On a terminal: a table fitted to its width. In a pipe: tab-separated full values, no header.

  -o table   a table            -o json   the body as HTTP answers it (--json)
  -o wide    every column       -o jsonl  one row of JSON a line
  -o csv     with a header      -o yaml   the body as YAML
  -o tsv     --header adds one  -o name   only ids or slugs (-q)

Colour: --no-color, else NO_COLOR, FORCE_COLOR=1, TERM=dumb, else only on a terminal.
`,
  mail: () => `Mail

mail.url (--mail-url, FEEDBACKCTL_MAIL_URL) says how mail is sent:

  smtp://USER:PASSWORD@HOST:587   SMTP with STARTTLS, which is required with a password
  smtps://USER:PASSWORD@HOST:465  SMTP over TLS from the start
  sendmail:                       the sendmail program of this machine (sendmail:/path for another)
  folder:PATH                     one .eml file a mail, to try things out

A colon, slash or @ in USER or PASSWORD is written as %3A, %2F or %40. mail.from is the sender; by default
noreply@ the host of site.url. Mail is written with what causes it, in one transaction, and delivered by
"feedbackctl serve"; what cannot be delivered is tried again, for days.
`,
}
