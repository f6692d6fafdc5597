import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Option, type Command } from 'commander'
import type { Config } from '../config.js'
import { databaseFile, redactedUrl } from '../core/addresses.js'
import { AppError } from '../core/errors.js'
import { keys, settings, type Key } from '../core/settings.js'
import { printable } from '../core/text.js'
import * as site from '../service/site.js'
import { deliverOutbox } from './lib/connection/delivery.js'
import { settingFlags, type Cli } from './lib/connection/session.js'
import { setFixes } from './lib/errors/fixes.js'
import { explain } from './lib/flags/helptext.js'
import { secretOptions, settingOptions } from './lib/flags/options.js'
import { hasWholeBody, isMachineReadable, print } from './lib/output/output.js'
import { PERSON } from './lib/output/person.js'
import { showPassword } from './lib/prompts/inputs.js'
import { serviceWith } from './lib/server/units.js'
import { hasSetting, prepareSettings, type Entries, type PreparedSettings } from './lib/settings/configfile.js'
import { containerCommand } from './lib/texts/commandline.js'
import { colors, hasColor, tell, write } from './lib/terminal/terminal.js'
import { gather, type Flags, type Gathered } from './setupprompts.js'

export function register(command: Command, cli: Cli): void {
  for (const key of ['setup.site-title', 'setup.name', 'setup.email', 'setup.token'] as const)
    for (const option of settingOptions(key)) command.addOption(option)
  command.addOption(new Option('--site-title <text>', 'the same as --title').hideHelp()) // of older versions
  const { description } = settings['setup.password']
  for (const option of secretOptions({ name: 'password', description }, 'password', true)) command.addOption(option)
  setFixes(command, { INVALID_TOKEN: ['setup --setup-token-file FILE'] })
  explain(command, {
    examples: ['setup', 'setup --email ada@example.org --generate-password --mail-url folder:mail'],
    notes: [
      'On a terminal setup asks for what no option gives. Mail is set with --mail-url: smtp://USER:PASSWORD@HOST:587, smtps://…, sendmail: or folder:PATH (feedbackctl help mail-url).',
    ],
  })
    .option('--board <name>', 'create a first board')
    .option('--no-board', 'do not ask for a first board')
    .option('--statuses', 'create the four usual roadmaps: Under review, Planned, In progress, Complete')
    .option('--no-statuses', 'do not ask whether to create them')
    .option('--no-mail', 'set the site up without mail: nobody signs up or resets a password until mail.url is set')
    .option('--if-needed', 'if the site has an owner, change nothing and succeed')
    .option('--dry-run', 'check the request and show the result, but change nothing')
    .action(async () => {
      const flags = command.optsWithGlobals<Flags>()
      const config = await cli.config({ flags: givenFlags(command), newFile: true })
      const remote = config.get('server') !== undefined
      // Its answers would go to the settings of all sites
      if (!remote && config.get('context') !== undefined)
        throw new AppError('USAGE', `setup makes no site in a context (from ${config.origin('context')}). Run it with --config, or without the context.`) // prettier-ignore
      try {
        if (await isSetUp(cli, config))
          throw new AppError('SETUP_COMPLETED', 'The site already has an owner. Sign in with that account.')
        const gathered = await gather(cli, config, flags, remote)
        if (remote) await setUpRemotely(cli, config, flags, gathered)
        else await setUpLocally(cli, config, flags, gathered)
      } catch (error) {
        if (!remote && error instanceof AppError && error.code === 'SETUP_COMPLETED')
          await finishEarlierSetup(cli, config, flags)
        if (!flags.ifNeeded || !(error instanceof AppError) || error.code !== 'SETUP_COMPLETED') throw error
        tell(cli.terminal, 'The site already has an owner: nothing to do.') // also if another process was faster
      }
    })
}

/** Setting flags, with former names replaced by current ones. */
function givenFlags(command: Command): Record<string, string | undefined> {
  const { 'site-title': former, ...flags } = settingFlags(command)
  if (former !== undefined && flags.title !== undefined)
    throw new AppError('USAGE', '--site-title and --title set the same value. Give only one.')
  return former === undefined ? flags : { ...flags, title: former }
}

/** Whether there is no site yet: no SQLite file, or a PostgreSQL database without our tables. */
export async function isMissing(config: Config): Promise<boolean> {
  const file = databaseFile(config.get('database.url') ?? '')
  if (file !== undefined) return !existsSync(file)
  const { schemaOf } = await import('../app/schema.js')
  return (await schemaOf(config)).schema === undefined
}

/** Never creates the database, so that a failed setup leaves nothing behind. */
async function isSetUp(cli: Cli, config: Config): Promise<boolean> {
  if (config.get('server') === undefined && (await isMissing(config))) return false
  const call = await cli.connect()
  return (await call(site.status, {})).is_setup
}

async function setUpRemotely(cli: Cli, config: Config, flags: Flags, { answers, generated }: Gathered): Promise<void> {
  if (flags.dryRun)
    throw new AppError('USAGE', '--dry-run does not work with a server during setup, as it needs a signed-in account.')
  const call = await cli.connect()
  const answer = await call(site.setup, { ...answers, ...(flags.mail === false && { noMail: true }), setupToken: config.get('setup.token') }) // prettier-ignore
  await finish(cli, flags, answer, generated, [...madeLines(answers), `server  ${config.get('server')}`])
}

/** Creates the owner first, then writes the mail setting, so that only one of two concurrent setups writes it. */
async function setUpLocally(
  cli: Cli,
  config: Config,
  flags: Flags,
  { answers, mailUrl, mailWorks, mailFrom, siteUrl, generated }: Gathered,
): Promise<void> {
  const saved: Entries = {
    ...(mailUrl !== undefined && { 'mail.url': mailUrl }),
    ...(siteUrl !== undefined && { 'site.url': siteUrl }),
    ...givenAsFlags(config),
  }
  assertMayHold(config, saved)
  const [{ localCall }, { markSite }, { openTrial }] = await Promise.all([
    import('../app/call.js'),
    import('../app/open.js'),
    import('../app/trial.js'),
  ])
  const isNew = await isMissing(config)
  const isTrial = flags.dryRun === true && isNew
  // No other process uses an empty database. One with older tables is left to "feedbackctl migrate".
  const app = isTrial ? await openTrial(config) : await cli.open({ creating: true, migrating: isNew })
  const url = mailUrl ?? app.base.mail?.url
  const mail = url === undefined ? null : { url, from: mailFrom }
  const settingsFile = Object.keys(saved).length === 0 || flags.dryRun ? undefined : prepareSettings(config.file, saved)
  const answer = await localCall(
    { base: { ...app.base, mail, ...(siteUrl !== undefined && { siteUrl: siteUrl.replace(/\/+$/, '') }) } },
    { dryRun: flags.dryRun ?? false },
  )(site.setup, answers).catch(async (error: unknown) => {
    settingsFile?.discard()
    if (isTrial) await app.close()
    throw error
  })
  if (isTrial) await app.close()
  if (!flags.dryRun) markSite(config)
  commitSettings(cli, config, settingsFile)
  const origin = (key: Key) => (key in saved ? '' : ` (from ${config.origin(key)})`)
  await finish(cli, flags, answer, generated, [
    ...madeLines(answers),
    `data    ${redactedUrl(config.get('database.url') ?? '').replace(/^sqlite:/, '')}`,
    mail
      ? `mail    ${redactedUrl(mail.url)}${origin('mail.url')}`
      : 'mail    none: set mail.url (feedbackctl help mail-url)',
    ...('site.url' in saved ? [`address ${saved['site.url']}`] : []),
    ...('listen' in saved ? [`listen  ${saved.listen}`] : []),
    ...(Object.keys(saved).length > 0
      ? [`config  ${config.file} (${flags.dryRun ? 'would be written' : 'written'})`]
      : []),
    `next    ${containerCommand(cli.terminal.env, 'restart') ?? serviceWith(cli.terminal, config.file)?.restart ?? 'feedbackctl serve'}`,
  ])
  if (!mail || !mailWorks || flags.dryRun) return
  await deliverOutbox(cli.terminal, app, mail)
}

const madeLines = ({ board, statuses }: Gathered['answers']) => [
  ...(board === undefined ? [] : [`board   ${printable(board)}`]),
  ...(statuses ? ['made    the four usual roadmaps'] : []),
]

/** The file in the current folder gets nothing that it cannot set. */
function assertMayHold({ file, fileHere }: Config, entries: Entries): void {
  if (file !== fileHere) return
  const refused = keys.find((key) => key in entries && settings[key].notFromHere?.(entries[key] ?? ''))
  if (refused === undefined) return
  throw new AppError(
    'CONFIG_INVALID',
    `Setup does not write ${refused} into ${file}, as a folder may be shared. Remove mail.url there, or name another file with --config.`,
  )
}

/** What the flags of setup say about the server: it must find the same when it starts without them. */
const givenAsFlags = (config: Config): Entries =>
  Object.fromEntries(
    (['site.url', 'listen', 'mail.from'] as const)
      .filter((key) => config.origin(key).startsWith('--'))
      .map((key) => [key, config.get(key) ?? '']),
  )

/** Milliseconds that another setup has to write its settings, after it created the owner. */
const OTHER_WRITES_MS = 2000

/** Writes the mail setting if an earlier setup was killed after it created the owner, and before it wrote that. */
async function finishEarlierSetup({ terminal }: Cli, config: Config, { dryRun }: Flags): Promise<void> {
  const mailUrl = config.get('mail.url')
  if (dryRun || mailUrl === undefined || !config.origin('mail.url').startsWith('--')) return
  if (hasSetting(config.file, 'mail.url')) return
  await sleep(OTHER_WRITES_MS)
  if (hasSetting(config.file, 'mail.url')) return
  const saved: Entries = { 'mail.url': mailUrl, ...givenAsFlags(config) }
  assertMayHold(config, saved)
  prepareSettings(config.file, saved).commit()
  tell(terminal, `mail.url was not set yet: written to ${config.file}.`)
}

/** Only warns if it fails: the owner exists by now, and a generated password must still be shown. */
function commitSettings({ terminal }: Cli, { file }: Config, prepared: PreparedSettings | undefined): void {
  try {
    prepared?.commit()
  } catch (error) {
    tell(
      terminal,
      `Warning: could not write ${file} (${(error as { code?: string }).code}). Set mail.url there by hand, or serve sends no mail.`,
    )
  }
}

async function finish(
  { terminal }: Cli,
  flags: Flags,
  answer: Awaited<ReturnType<typeof site.setup.run>>,
  generated: string | undefined,
  facts: string[],
): Promise<void> {
  const password = flags.dryRun ? undefined : generated
  const inOutput = password !== undefined && hasWholeBody(terminal, flags)
  if (password !== undefined && !inOutput) showPassword(terminal, password)
  const user = inOutput ? { ...answer.user, password } : answer.user
  if (isMachineReadable(flags))
    return print(terminal, flags, {
      body: inOutput ? { ...answer, password } : answer,
      rows: [user],
      columns: PERSON,
      id: () => user.userId,
      single: true,
    })
  const { green, dim } = colors(hasColor(terminal, terminal.stdout, flags))
  const { name, email, username } = user
  const lines = [
    flags.dryRun ? 'Would set up the site.' : `${green('✓')} The site is set up.`,
    `  ${dim('owner   ')}${name} <${email}>, user name ${username}`,
    ...facts.map((fact) => `  ${fact}`),
  ]
  await write(terminal, `${lines.join('\n')}\n`)
}
