import type { Command } from 'commander'
import * as labs from '../service/labs.js'
import { command } from './command.js'
import type { Cli } from './session.js'

type Lab = [name: string, on: boolean]

const table = {
  columns: [
    { head: 'FEATURE', text: ([name]: Lab) => name, drop: 0 },
    { head: 'ON', text: ([, on]: Lab) => (on ? 'yes' : 'no'), drop: 0 },
  ],
  id: ([name]: Lab) => name,
  rows: (answer: { labs: Record<string, boolean> }): Lab[] => Object.entries(answer.labs),
  many: true,
} as const

export function register(group: Command, cli: Cli): void {
  command(group, labs.show, { ...table, words: 'show', examples: ['labs show'] }, cli)
  command(
    group,
    labs.update,
    { ...table, words: 'update', examples: ['labs update --vote-on-behalf true'], asks: ['voteOnBehalf'], done: () => 'Changed the labs.' },
    cli,
  )
}
