import type { Command } from 'commander'
import * as labs from '../service/labs.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'

/** A feature that the API contract lists, but that nothing uses. */
const UNUSED = 'comments'

type Lab = [name: string, on: boolean]

const output = {
  columns: [
    { head: 'FEATURE', text: ([name]: Lab) => name, drop: 0 },
    { head: 'ON', text: ([, on]: Lab) => (on ? 'yes' : 'no'), drop: 0 },
  ],
  id: ([name]: Lab) => name,
  rows: (answer: { labs: Record<string, boolean> }): Lab[] =>
    Object.entries({ voteOnBehalf: false, ...answer.labs }).filter(([name]) => name !== UNUSED),
  list: true,
} as const

export function register(group: Command, cli: Cli): void {
  command(group, labs.show, { usage: 'show', examples: ['labs show'], output }, cli)
  command(
    group,
    labs.update,
    {
      usage: 'update',
      examples: ['labs update --vote-on-behalf'],
      output,
      input: {
        hidden: ['ifVersion'],
        switches: {
          voteOnBehalf: { word: 'vote-on-behalf', description: 'whether staff may vote on behalf of others' },
        },
      },
      requiresChange: true,
      done: () => 'Updated the experimental features.',
    },
    cli,
  )
}
