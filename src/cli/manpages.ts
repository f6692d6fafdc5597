import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Command, Option } from 'commander'
import { EXIT_CODES } from './help.js'
import { detailsIn, optionGroups, rowOf, usageOf, visibleCommands } from './lib/flags/helptext.js'
import type { Terminal } from './lib/terminal/terminal.js'
import { blocks, paragraph, roff, sentenceOf, terms } from './lib/texts/roff.js'
import { version } from './version.js'

/** Writes the manual pages: one of the program, and one of each branch with all its commands. Each branch is filled. */
export function writeManPages(program: Command, folder: string, terminal: Pick<Terminal, 'env' | 'now'>): void {
  const date = dateOf(terminal)
  mkdirSync(folder, { recursive: true })
  const pages = new Map([
    ['feedbackctl', programPage(program, date)],
    ...visibleCommands(program).map((branch) => [`feedbackctl-${branch.name()}`, branchPage(branch, date)] as const),
  ])
  for (const [name, text] of pages) writeFileSync(path.join(folder, `${name}.1.gz`), gzipSync(text, { level: 9 }))
}

/** What was built from the same sources is the same, wherever a clock is fixed for it. */
const dateOf = ({ env, now }: Pick<Terminal, 'env' | 'now'>): string =>
  (env.SOURCE_DATE_EPOCH ? new Date(Number(env.SOURCE_DATE_EPOCH) * 1000) : now()).toISOString().slice(0, 10)

const head = (name: string, summary: string, date: string): string[] => [
  `.TH ${name.toUpperCase()} 1 "${date}" "feedbackctl ${version}" "feedbackctl Manual"`,
  '.SH NAME',
  `${roff(name)} \\- ${roff(summary.charAt(0).toLowerCase() + summary.slice(1))}`,
]

function programPage(program: Command, date: string): string {
  const isSetting = (option: Option) => option.hidden && option.helpGroupHeading !== undefined
  const commands = visibleCommands(program)
  const headings = [...new Set(commands.map((each) => each.helpGroup()))]
  return blocks([
    ...head('feedbackctl', 'a feedback board you run yourself', date),
    '.SH SYNOPSIS',
    ...synopsis(usageOf(program)),
    '.SH DESCRIPTION',
    ...paragraph(sentenceOf(program.description())),
    ...paragraph('Commands work on the database of this machine, or with --server on a server over HTTP.'),
    '.SH COMMANDS',
    ...headings.flatMap((heading) => [
      `.SS ${roff(heading.replace(/:$/, ''))}`,
      ...terms(
        commands.filter((each) => each.helpGroup() === heading).map((each) => [each.name(), each.description()]),
      ),
    ]),
    '.SH OPTIONS',
    ...terms(program.options.filter((option) => !isSetting(option)).map(rowOf)),
    '.SS Settings',
    ...paragraph('Each can also come from a variable or a file; see feedbackctl help environment.'),
    ...terms(program.options.filter(isSetting).map(rowOf)),
    '.SH EXIT STATUS',
    ...terms(EXIT_CODES),
    '.SH SEE ALSO',
    ...seeAlso(commands.map((each) => `feedbackctl-${each.name()}`)),
  ])
}

function branchPage(branch: Command, date: string): string {
  const leaves = leavesOf(branch)
  const isAlone = leaves.length === 1 && leaves[0] === branch
  return blocks([
    ...head(`feedbackctl-${branch.name()}`, branch.description(), date),
    '.SH SYNOPSIS',
    ...synopsis(usageOf(branch)),
    '.SH DESCRIPTION',
    ...paragraph(sentenceOf(branch.description())),
    ...(isAlone ? [] : ['.SH COMMANDS']),
    ...leaves.flatMap((leaf) => [...(isAlone ? [] : [`.SS ${roff(wordsOf(leaf))}`]), ...commandText(leaf, !isAlone)]),
    '.SH SEE ALSO',
    ...seeAlso(['feedbackctl']),
  ])
}

const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : visibleCommands(command).flatMap(leavesOf)

const wordsOf = (command: Command): string =>
  command.parent?.parent ? `${wordsOf(command.parent)} ${command.name()}` : command.name()

function commandText(command: Command, isOneOfMany: boolean): string[] {
  const { examples = [], notes = [], lists = {} } = detailsIn(command)
  const heading = (text: string) => ['.PP', `.I ${roff(text.replace(/:$/, ''))}`]
  return [
    ...(isOneOfMany ? [...synopsis(usageOf(command)), ...paragraph(sentenceOf(command.description()))] : []),
    ...optionGroups(command).flatMap(([title, options]) => [...heading(title), ...terms(options.map(rowOf))]),
    ...Object.entries(lists).flatMap(([title, rows]) => [...heading(title), ...terms(rows)]),
    ...notes.flatMap(paragraph),
    ...(examples.length === 0
      ? []
      : [...heading('Examples'), '.nf', ...examples.map((line) => roff(`$ feedbackctl ${line}`)), '.fi']),
  ]
}

const synopsis = (usage: string): string[] => ['.PP', `.B ${roff(usage)}`]

const seeAlso = (names: readonly string[]): string[] =>
  names.map((name, index) => `.BR ${roff(name)} (1)${index === names.length - 1 ? '' : ','}`)
