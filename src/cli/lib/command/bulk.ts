import type { Command } from 'commander'
import { counted, listed, printable } from '../../../core/text.js'
import type { Outcome } from '../../../service/lib/bulk.js'
import * as undos from '../../../service/undos.js'
import type { Cli } from '../connection/session.js'
import type { Column } from '../output/table.js'
import { command } from './command.js'
import { exitOf } from './several.js'

/** The answer of a change of many things. */
interface Changed {
  outcomes: readonly Outcome[]
  changed: number
  failed: number
  undo: { undo_id: string } | null
}

/** The columns of a bulk command's result: one row for each item. */
export const outcomeColumns: Column<Outcome>[] = [
  { head: 'NUMBER', text: ({ number }) => String(number ?? ''), shown: ({ number, given }) => (number === null ? given : `#${number}`), drop: 0, whole: true }, // prettier-ignore
  { head: 'TITLE', text: ({ title }) => title ?? '', drop: 1 },
  {
    head: 'OUTCOME',
    text: ({ outcome }) => outcome,
    shown: ({ outcome }, paint) => (outcome === 'failed' ? paint.red(outcome) : outcome),
    drop: 0,
  },
  { head: 'AUTHOR', text: ({ author }) => author ?? '', drop: 0, ifAny: true },
  { head: 'LOST', text: ({ lost }) => (lost ? listed({ vote: lost.votes, comment: lost.comments }, lost.votes_hidden ? ['its votes'] : []) : ''), drop: 0, ifAny: true }, // prettier-ignore
  { head: 'MOVED', text: ({ moved }) => (moved ? listed({ vote: moved.votes, comment: moved.comments }, moved.votes_hidden ? ['its votes'] : []) : ''), drop: 0, ifAny: true }, // prettier-ignore
  { head: 'WHY', text: ({ error }) => error?.message ?? '', drop: 0, ifAny: true },
]

/** How a command shows the answer of a change of many things, and the exit code where some of them failed. */
export const bulkView = {
  output: {
    columns: outcomeColumns,
    id: ({ id, given }: Outcome) => id ?? given,
    rows: ({ outcomes }: Changed) => outcomes,
    list: true,
  },
  exit: ({ changed, failed }: Changed): number => (failed === 0 ? 0 : exitOf(Array<number>(failed).fill(5), changed)),
} as const

/** The count, such as `3 posts.`, with the number of failures and the command that undoes the change. */
export function saidOfMany({ outcomes, changed, failed, undo }: Changed, branch: string, noun: string): string {
  const unchanged = outcomes.length - changed - failed
  return [
    `${counted(changed, noun)}.${unchanged > 0 ? ` ${unchanged} had nothing to change.` : ''}${failed > 0 ? ` ${failed} failed.` : ''}`,
    ...(undo ? [`To undo it within ten minutes: feedbackctl ${branch} undo ${printable(undo.undo_id)}`] : []),
  ].join('\n')
}

/** The command that takes back what a command of the branch changed. */
export function registerUndo(group: Command, cli: Cli): void {
  command(
    group,
    undos.apply,
    {
      ...bulkView,
      usage: 'undo <undo_id>',
      examples: [`${group.name()} undo 01a20f3c-6d5e-7f10-8a9b-0c1d2e3f4a5b`],
      done: (answer) => `Took back ${saidOfMany(answer, group.name(), 'change')}`,
    },
    cli,
  )
}
