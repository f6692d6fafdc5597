import type { Manifest, OnProgress } from './records.js'

/** What a restore or a rehearsal does at the moment. During 'wait', for servers to close the database, no rows are counted. */
export type Step = 'check' | 'restore' | 'index' | 'compare' | 'wait'

/**
 * Reports how many of the rows of each step are done. The number of all is known from the second step on. May throw, which
 * ends the work.
 */
export type OnStep = (step: Step, table: string, rows: number, all: number | undefined) => void

/** Adds up the rows of the tables, as each is reported from zero. */
export const counter =
  (onProgress: OnStep) =>
  (step: Step, all: number | undefined): OnProgress => {
    const counts = new Map<string, number>()
    return (table, rows) => {
      counts.set(table, rows)
      onProgress(step, table, [...counts.values()].reduce((sum, each) => sum + each, 0), all) // prettier-ignore
    }
  }

export const rowsOf = ({ tables }: Pick<Manifest, 'tables'>): number =>
  Object.values(tables).reduce((sum, { rows }) => sum + rows, 0)
