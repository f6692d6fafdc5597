import type { Manifest, Told } from './records.js'

/** What a restore or a rehearsal does at the moment. During 'wait', for servers to close the database, no rows are counted. */
export type Step = 'check' | 'restore' | 'index' | 'compare' | 'wait'

/**
 * Told of each step how many of the rows are done. The number of all is known from the second step on. May throw, which
 * ends the work.
 */
export type Steps = (step: Step, table: string, rows: number, all: number | undefined) => void

/** Adds up the rows of the tables, as each is told from zero. */
export const counter =
  (told: Steps) =>
  (step: Step, all: number | undefined): Told => {
    const counts = new Map<string, number>()
    return (table, rows) => {
      counts.set(table, rows)
      told(step, table, [...counts.values()].reduce((sum, each) => sum + each, 0), all) // prettier-ignore
    }
  }

export const rowsOf = ({ tables }: Pick<Manifest, 'tables'>): number =>
  Object.values(tables).reduce((sum, { rows }) => sum + rows, 0)
