import type { Command } from 'commander'
import type { LegalPage } from '../core/legal.js'
import { links } from '../core/pagelinks.js'
import * as legal from '../service/legal.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { stated } from './lib/prompts/dryrun.js'
import { ago } from './lib/texts/age.js'

interface Listed {
  name: LegalPage
  updatedAt: string | null
}

const id = ({ name }: Listed) => name
const listed: Column<Listed>[] = [
  { head: 'PAGE', field: 'name', text: id, drop: 0 },
  {
    head: 'CHANGED',
    field: 'updatedAt',
    text: ({ updatedAt }) => updatedAt ?? '',
    shown: ({ updatedAt }, _paint, now) => (updatedAt === null ? '' : ago(updatedAt, now)),
    drop: 0,
  },
]
const shown: Column<legal.Page>[] = [
  ...(listed as Column<legal.Page>[]),
  { head: 'TEXT', field: 'markdown', text: ({ markdown }) => markdown ?? '', drop: 0 },
]
const rows = ({ page }: { page: legal.Page }) => [page]

export function register(group: Command, cli: Cli): void {
  command(
    group,
    legal.list,
    {
      usage: 'list',
      examples: ['legal list'],
      output: { columns: listed, id, rows: (answer): Listed[] => answer.pages, list: true },
    },
    cli,
  )
  command(
    group,
    legal.show,
    { usage: 'show <name>', examples: ['legal show imprint'], output: { columns: shown, id, rows } },
    cli,
  )
  command(
    group,
    legal.set,
    {
      usage: 'set <name>',
      examples: ['legal set terms --text-file terms.md', 'legal set imprint --text ""'],
      output: { columns: listed, id, rows }, // nobody has to read again what they wrote
      input: {
        hidden: ['ifVersion'],
        flags: { markdown: 'text' },
        text: 'markdown',
        async editor(call, { name }) {
          const { page } = await call(legal.show, { name })
          return page.markdown ?? ''
        },
      },
      done: ({ page: { name, markdown } }) =>
        markdown === null
          ? stated(`The site has no page ${links.legal(name)}.`)
          : `Set the text of the page ${links.legal(name)}.`,
    },
    cli,
  )
}
