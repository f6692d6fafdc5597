import type { Command } from 'commander'
import { told, type NotifiedSummary } from '../service/told.js'
import { nameOf } from '../service/lib/cells.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

const number = (head: string, field: 'people' | 'page' | 'mail' | 'digest' | 'mailed' | 'read', drop: number): Column<NotifiedSummary> => ({ head, field, text: (row) => String(row[field]), right: true, drop }) // prettier-ignore

const columns: Column<NotifiedSummary>[] = [
  { head: 'EVENT', field: 'event_id', text: ({ event_id }) => String(event_id), right: true, drop: 0, whole: true },
  { head: 'WHAT', field: 'kind', text: ({ kind }) => kind, drop: 0 },
  { head: 'BY', field: 'user.username', text: ({ user }) => (user ? nameOf(user) : ''), drop: 2 },
  number('PEOPLE', 'people', 0),
  number('PAGE', 'page', 1),
  number('MAIL', 'mail', 1),
  number('DIGEST', 'digest', 1),
  number('MAILED', 'mailed', 1),
  number('READ', 'read', 1),
  {
    head: 'TIME',
    field: 'created_at',
    text: (row) => row.created_at,
    shown: (row, _paint, now) => ago(row.created_at, now),
    drop: 2,
  },
]

/** The command of `posts` about who was told. */
export const register = (group: Command, cli: Cli): void =>
  command(
    group,
    told,
    {
      usage: 'told <post_id:post>',
      examples: ['posts told 12'],
      output: {
        columns,
        id: (row) => String(row.event_id),
        rows: (answer): readonly NotifiedSummary[] => answer.told,
        list: true,
        empty: () => 'Nobody was told anything about the post.',
      },
    },
    cli,
  )
