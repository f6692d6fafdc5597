import type { Command } from 'commander'
import { toldPeople, type Person } from '../service/toldpeople.js'
import { nameOf } from '../service/lib/cells.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

/** Why somebody was not told, in words. */
const WHY: Record<NonNullable<Person['reason']>, string> = {
  quiet: 'nobody was to be told',
  own: 'did it',
  blocked: 'is blocked',
  later: 'had nothing to do with it yet',
  muted: 'unfollowed the post',
  unfollowed: 'follows nothing by voting or writing',
  unreadable: 'may not read it',
  off: 'chose not to be told',
  unknown: 'not known any more',
}

const time = (head: string, field: 'mailed_at' | 'read_at', waits: (row: Person) => boolean): Column<Person> => ({
  head,
  field,
  text: (row) => row[field] ?? '',
  shown: (row, _paint, now) => (row[field] === null ? (waits(row) ? 'waits' : '') : ago(row[field], now)),
  drop: 2,
  ifAny: true,
})

const columns: Column<Person>[] = [
  { head: 'NAME', field: 'name', text: (person) => nameOf(person), drop: 0 },
  { head: 'USER NAME', field: 'username', text: ({ username }) => username, drop: 1 },
  { head: 'AS', field: 'kind', text: ({ kind }) => kind ?? '', drop: 1, ifAny: true },
  { head: 'PAGE', field: 'page', text: ({ page }) => (page ? 'yes' : ''), drop: 1, ifAny: true },
  {
    head: 'MAIL',
    field: 'mail',
    text: ({ mail }) => (mail === 'now' ? 'at once' : (mail ?? '')),
    drop: 0,
    ifAny: true,
  },
  time('MAILED', 'mailed_at', ({ mail_due_at }) => mail_due_at !== null),
  time('READ', 'read_at', () => false),
  {
    head: 'WHY NOT',
    field: 'reason',
    text: ({ reason }) => (reason === null ? '' : WHY[reason]),
    drop: 0,
    ifAny: true,
  },
]

/** The command of `events` about who was told. */
export const register = (group: Command, cli: Cli): void =>
  command(
    group,
    toldPeople,
    {
      usage: 'told <id>',
      examples: ['events told 13', 'events told 13 --untold'],
      output: {
        columns,
        id: ({ userId }) => userId,
        rows: ({ people }): readonly Person[] => people,
        list: 'people',
        empty: () => 'Nobody. "posts told" lists the events that people were told of.',
      },
      input: {
        switches: {
          told: { word: 'untold', on: false, description: 'Who has to do with the post and was not told, and why' },
        },
      },
    },
    cli,
  )
