import type { Command } from 'commander'
import * as labs from '../service/labs.js'
import { command } from './lib/command.js'
import type { Cli } from './lib/session.js'

/** The contract has it in every answer, and nothing reads it. */
const UNUSED = 'comments'

type Lab = [name: string, on: boolean]

const table = {
  columns: [
    { head: 'FEATURE', text: ([name]: Lab) => name, drop: 0 },
    { head: 'ON', text: ([, on]: Lab) => (on ? 'yes' : 'no'), drop: 0 },
  ],
  id: ([name]: Lab) => name,
  rows: (answer: { labs: Record<string, boolean> }): Lab[] =>
    Object.entries({ voteOnBehalf: false, ...answer.labs }).filter(([name]) => name !== UNUSED),
  many: true,
} as const

export function register(group: Command, cli: Cli): void {
  command(group, labs.show, { ...table, words: 'show', examples: ['labs show'] }, cli)
  command(
    group,
    labs.update,
    {
      ...table,
      words: 'update',
      examples: ['labs update --vote-on-behalf true'],
      changes: true,
      done: () => 'Changed the labs.',
    },
    cli,
  )
}
