import type { Command } from 'commander'
import * as mentions from '../service/mentions.js'
import type { Mentionable } from '../service/mentions.js'
import { nameOf } from '../service/lib/cells.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'

const columns: Column<Mentionable>[] = [
  { head: 'NAME', field: 'name', text: (person) => nameOf(person), drop: 0 },
  { head: 'USER NAME', field: 'username', text: ({ username }) => username, drop: 0 },
  { head: 'ID', field: 'userId', text: ({ userId }) => userId, drop: 1, short: true },
]

const output = {
  columns,
  id: ({ username }: Mentionable) => username,
  rows: ({ people }: { people: readonly Mentionable[] }) => people,
  list: true,
  empty: () => 'There is nobody else to mention.',
} as const

/** The commands of `posts` about whom to mention. */
export function register(group: Command, cli: Cli): void {
  command(
    group,
    mentions.people,
    {
      usage: 'people <post_id:post>',
      examples: ['posts people 12', 'posts people 12 -q'],
      output,
    },
    cli,
  )
  command(group, mentions.team, { usage: 'team', examples: ['posts team'], output }, cli)
}
