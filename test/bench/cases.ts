import type { Sample } from './measure.js'
import type { Plan, SiteName } from './plan.js'
import type { Postgres } from './postgres.js'
import type { Site } from './sites.js'

/** What a case needs to run. */
export interface Bench {
  plan: Plan
  site(this: void, name: SiteName): Promise<Site>
  postgres(this: void): Promise<Postgres>
  /** Session tokens of the first users of the seed. */
  tokens: string[]
}

/** A measurement and its reference. `--only` selects cases by their names. */
export interface Case {
  name: string
  /** Left out of a quick run. */
  long?: boolean
  run(this: void, bench: Bench): Promise<Row[]>
}

/** A line of the table. */
export interface Row {
  name: string
  /** Medians of the rounds. */
  ours?: Sample
  reference?: Sample
  result?: Result
  note?: string
  /** Why there are no numbers. */
  failure?: string
}

export interface Result {
  value: number
  unit: '%' | 'x' | 'MB' | 'ms' | 'µs'
  goal?: Goal
}

export type Goal = { least: number } | { most: number } | { below: number }

export function isMet(value: number, goal: Goal): boolean {
  if ('least' in goal) return value >= goal.least
  return 'most' in goal ? value <= goal.most : value < goal.below
}
