import { keys, settings, variableOf } from '../core/settings.js'

/** What a command ends with. */
export const EXIT_CODES: readonly (readonly [code: string, meaning: string])[] = [
  ['0', 'success, even if a list is empty or there is nothing to do'],
  ['1', 'internal failure'],
  ['2', 'wrong usage or an invalid value; nothing was done'],
  ['3', 'not found'],
  ['4', 'not signed in, or not allowed'],
  ['5', 'conflict, or something must be done or confirmed first, or you answered No'],
  ['6', 'the server, the database or the mail server cannot be reached, or the port is in use; try again'],
  ['7', 'some items were done, and some failed'],
  ['9', 'the check found problems'],
  ['78', 'serve cannot start with this configuration'],
  ['129', 'the terminal was closed (SIGHUP)'],
  ['130', 'interrupted (SIGINT)'],
  ['143', 'terminated (SIGTERM)'],
]

/** Texts of `feedbackctl help TOPIC`: what belongs to no command. */
export const topics: Record<string, () => string> = {
  'exit-codes': () => `Exit codes

${EXIT_CODES.map(([code, meaning]) => `  ${code.padEnd(3)}  ${meaning}`).join('\n')}

Every error shows its exit code, and -o json has it as "exit".
`,
  environment: () => `Environment variables and other sources of settings

feedbackctl reads a setting from the first of these sources that has it:

  1. a flag, such as --mail-url
  2. FEEDBACKCTL_MAIL_URL, or FEEDBACKCTL_MAIL_URL_FILE, which names a file that holds the value
  3. a systemd credential with the name of the key, mail.url
  4. HOST, PORT and DATABASE_URL, for listen and database.url
  5. ./feedbackctl.toml
  6. feedbackctl/config.toml in XDG_CONFIG_HOME (~/.config)
  7. /etc/feedbackctl/config.toml
  8. the default

--config FILE, or FEEDBACKCTL_CONFIG, replaces the three files. An empty value counts as not set.

To give a site a name, add a context, which is a table in file 6 or 7:

  feedbackctl context add prod --server https://feedback.example.org

The settings of a context rank right after the source that chose it: --context prod or FEEDBACKCTL_CONTEXT. Servers, databases, data folders and tokens from later sources are then ignored.

${keys.map((key) => `  ${variableOf(key).padEnd(31)}  ${settings[key].description}`).join('\n')}

Other variables:

  NO_COLOR, FORCE_COLOR, TERM   whether output is coloured (feedbackctl help formatting)
  CI                            never prompt, as with --no-input
  EDITOR, VISUAL                editor for long texts
  XDG_CONFIG_HOME               folder of the user's configuration and saved tokens
  XDG_DATA_HOME                 folder of the data, unless data.dir is set
  STATE_DIRECTORY               set by systemd: the default of data.dir
  XDG_CACHE_HOME                folder of compiled code, which makes the next start faster
  NODE_DISABLE_COMPILE_CACHE=1  keep no compiled code
  NODE_EXTRA_CA_CERTS           file with certificates of authorities to trust besides the usual

"feedbackctl config list --show-origin" shows every setting and where it comes from.
`,
  formatting: () => `Output

Data goes to stdout; messages, warnings and errors go to stderr.
On a terminal, lists are tables fitted to its width. In a pipe, they are tab-separated, with full values and no header.

  -o table   a table
  -o wide    a table with every column
  -o csv     for spreadsheets, with a header
  -o tsv     tab-separated; --header adds a header
  -o json    the HTTP response body (--json)
  -o jsonl   one JSON object per row
  -o yaml    the response body as YAML
  -o name    only ids or slugs (-q)

--fields number,title prints only these fields, in this order, as JSON or with -o csv, tsv, yaml, jsonl or table. --fields without names lists the fields. If a column is a field, its csv and tsv heading is the name of the field. -o csv --bom is for Excel.

Commands that take several names can also read them from stdin, one per line. Give - as the name:
  feedbackctl posts list -q --board ideas |
    feedbackctl posts update - --roadmap planned
With -o json the output is then an array with one answer per name; -o jsonl prints each row as soon as it is done. A name that fails is reported on stderr, and the others are still done.

Control characters and direction marks in user text never reach a terminal. JSON, YAML and tsv show them as \\u escapes, csv as spaces. A csv cell that a spreadsheet would run as a formula starts with an apostrophe. To print user text unchanged, use --raw with -o json, jsonl, yaml, csv or tsv.

Colour: --color always|never (--no-color), NO_COLOR, FORCE_COLOR=1 and TERM=dumb decide whether output is coloured, in this order. Otherwise it is coloured only on a terminal. TERM and COLORTERM say how many colours the terminal has.
`,
  'mail-url': () => `Mail

mail.url (--mail-url, FEEDBACKCTL_MAIL_URL) says how mail is sent:

  smtp://USER:PASSWORD@HOST:587   SMTP with STARTTLS, which is required with a password
  smtps://USER:PASSWORD@HOST:465  SMTP over TLS from the start
  sendmail:                       this machine's sendmail program (sendmail:/path for another)
  folder:PATH                     one .eml file per mail, for testing

A certificate of a private authority is trusted with NODE_EXTRA_CA_CERTS=FILE. smtp://HOST:587/?tls.rejectUnauthorized=false accepts any certificate, so whoever is between the two machines can read the password and the mail: use it for tests.

In USER and PASSWORD, write :, / and @ as %3A, %2F and %40. mail.from is the sender; the default is noreply@ and the host of site.url.

A mail is stored in the same transaction as the change that causes it, so neither is lost. A command sends its own mail immediately. "feedbackctl serve" sends the rest, and retries failed deliveries for days. If the process or the connection dies just as the mail server accepts a mail, the mail can arrive twice, with the same Message-ID: SMTP cannot rule that out.
`,
}
