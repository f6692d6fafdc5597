import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { guess } from '../core/guesses.js'
import { isLanguage, LANGUAGES } from '../core/language.js'
import { printableLines, quoted } from '../core/text.js'
import { letters, sampleLetter, type LetterName } from '../service/lib/mailings.js'
import { newsMails, sampleNews, type NewsName } from '../service/lib/samplenews.js'
import * as settings from '../service/settings.js'
import * as users from '../service/users.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { formatOf, print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { say, widthOf, write, type Terminal } from './lib/terminal/terminal.js'
import { wrappedText } from './lib/texts/wrap.js'

type TemplateName = LetterName | NewsName
const templates = [...letters, ...newsMails]
const isNews = (name: TemplateName): name is NewsName => newsMails.some((each) => each.name === name)

/** Posts in the preview of a digest. */
const MOST_POSTS = 1000

interface Preview {
  template: TemplateName
  language: string
  subject: string
  text: string
  html: string
}

interface Template {
  template: TemplateName
  subject: string
  to: string
}

interface Flags extends OutputFlags {
  as?: string
  language?: string
  html?: boolean
  text?: boolean
  posts?: string
}

const TEMPLATE: (keyof Template)[] = ['template', 'subject', 'to']
const PREVIEW: (keyof Preview)[] = ['template', 'language', 'subject', 'text', 'html']

const templateColumns: Column<Template>[] = [
  { head: 'TEMPLATE', field: 'template', text: ({ template }) => template, drop: 0 },
  { head: 'SUBJECT', field: 'subject', text: ({ subject }) => subject, drop: 1 },
  { head: 'GOES TO', field: 'to', text: ({ to }) => to, drop: 2 },
]

const columns: Column<Preview>[] = [
  { head: 'TEMPLATE', field: 'template', text: ({ template }) => template, drop: 0 },
  { head: 'LANGUAGE', field: 'language', text: ({ language }) => language, drop: 0 },
  { head: 'SUBJECT', field: 'subject', text: ({ subject }) => subject, drop: 0 },
  { head: 'TEXT', field: 'text', text: ({ text }) => text, drop: 0 },
]
const drawn = columns.filter(({ head }) => head !== 'TEXT')

export function registerPreview(group: Command, cli: Cli): void {
  explain(
    withFields(group.command('preview'), ([template]) => (template === undefined ? TEMPLATE : PREVIEW)),
    {
      local: true,
      examples: [
        'mail preview',
        'mail preview invitation --language de',
        'mail preview reset --html > reset.html',
        'mail preview digest --posts 80',
        'mail preview status --as ada@example.org',
      ],
      notes: [
        'The link in it does not work, and the name is made up unless you give a user. The title and the address are those of the site.',
      ],
    },
  )
    .description('Show a mail with sample data; without a template, list the templates')
    .argument('[template]', templates.map(({ name }) => name).join(', '))
    .option('--as <user>', 'with the name and in the language of this user')
    .option(
      '--language <code>',
      `language of the mail (${LANGUAGES.join(', ')}; default: that of the user or the site)`,
    )
    .option('--posts <n>', 'how many posts a digest is about (default: 5)')
    .option('--text', 'print only the text')
    .option('--html', 'print only the HTML')
    .action(async (given: string | undefined, _flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { html = false, text = false } = flags
      const format = formatOf(cli.terminal, flags)
      const isMachineFormat = flags.json || flags.quiet || flags.output !== undefined || flags.fields !== undefined
      if ((html && text) || ((html || text) && (isMachineFormat || given === undefined)))
        throw new AppError('USAGE', 'Give a template with --html or --text, and no output format.')
      const requested = flags.language
      if (requested !== undefined && !isLanguage(requested))
        throw new AppError('USAGE', `--language must be one of ${LANGUAGES.join(', ')}.`)
      const template = given === undefined ? undefined : templateOf(given)
      if (flags.posts !== undefined && template !== 'digest')
        throw new AppError('USAGE', 'Only a digest takes --posts.')
      const posts = Number(flags.posts ?? 5)
      if (!Number.isInteger(posts) || posts < 1 || posts > MOST_POSTS)
        throw new AppError('USAGE', `--posts must be a number from 1 to ${MOST_POSTS}.`)
      const { language: itsOwn, ...look } = await siteOf(cli)
      const receiver = flags.as === undefined ? undefined : await receiverOf(cli, flags.as)
      const language = requested ?? receiver?.language ?? itsOwn
      const sample = { ...look, name: receiver?.name ?? 'Ada Lovelace' }
      const previewOf = async (name: TemplateName): Promise<Preview> => ({
        template: name,
        language,
        ...(await (isNews(name)
          ? sampleNews(name, { ...sample, language, posts })
          : sampleLetter(name, { ...sample, language }))),
      })
      if (template === undefined) {
        const rows = await Promise.all(templates.map(async ({ name, to }) => ({ template: name, subject: (await previewOf(name)).subject, to }))) // prettier-ignore
        await print(cli.terminal, flags, { body: { templates: rows }, rows, columns: templateColumns, id: (row) => row.template, single: false }) // prettier-ignore
        return
      }
      const preview = await previewOf(template)
      if (html || text) return write(cli.terminal, asPrinted(cli.terminal, html ? preview.html : preview.text))
      const isDrawn = format === 'table' || format === 'wide'
      await print(cli.terminal, flags, { body: preview, rows: [preview], columns: isDrawn ? drawn : columns, id: (row) => row.template, single: true }) // prettier-ignore
      if (!isDrawn) return
      await write(cli.terminal, `\n${wrappedText(printableLines(preview.text), widthOf(cli.terminal.stdout)).trimEnd()}\n`) // prettier-ignore
      if (cli.terminal.stderr.isTTY) say(cli.terminal, `\nThe HTML: feedbackctl mail preview ${template} --html`)
    })
}

function templateOf(given: string): TemplateName {
  const names = templates.map(({ name }) => name)
  const found = names.find((name) => name === given)
  if (found) return found
  throw new AppError(
    'USAGE',
    `There is no template ${quoted(given)}.${guess(given, names)} Templates: ${names.join(', ')}.`,
  )
}

/** The address, the language and the look of the site: the usual one where there is no site yet, or no database. */
async function siteOf(cli: Cli): Promise<Omit<Parameters<typeof sampleLetter>[1], 'name'>> {
  const config = await cli.config()
  assertLocal(config, 'mail preview')
  const siteUrl = (config.get('site.url') ?? '').replace(/\/+$/, '')
  const language = config.get('site.language') ?? LANGUAGES[0]
  try {
    const call = await cli.connect()
    return { siteUrl, language, look: (await call(settings.site, {})).settings }
  } catch (error) {
    if (error instanceof AppError)
      return { siteUrl, language, look: { title: 'Feedback', logo: null, accentColor: null } }
    throw error
  }
}

/** The user to whom a mail is previewed. */
async function receiverOf(cli: Cli, given: string): Promise<{ name: string; language?: string }> {
  const call = await cli.connect()
  return (await call(users.show, { user: given })).user
}

/** In a pipe it is the mail as it is sent. */
const asPrinted = ({ stdout }: Terminal, text: string): string => (stdout.isTTY ? printableLines(text) : text)
