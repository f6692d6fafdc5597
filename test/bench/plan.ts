import type { Size } from './rows.js'

/** `usual` is a site of a usual size, for loads with writes; the others differ in the number of boards. */
export type SiteName = 'small' | 'middle' | 'large' | 'usual'

export const SITES_BY_BOARDS = ['small', 'middle', 'large'] as const satisfies SiteName[]

/** How much is measured, and for how long. */
export interface Plan {
  sites: Record<SiteName, Size>
  rounds: number
  /** Seconds of load: before it counts, and of each measurement. */
  warm: number
  seconds: number
  /** Requests of a mix before it is measured: V8 has compiled all of its code after them. */
  mixed: number
  /** How often a command is started. */
  starts: number
  /** Sweeps over pages that are in no cache, each on a server of its own. */
  sweeps: number
}

export const FULL: Plan = {
  sites: {
    small: site(20, { users: 1000, posts: 1000, votes: 5000 }),
    middle: site(1000, { users: 1000, posts: 10_000, votes: 50_000 }),
    large: site(100_000, { users: 20_000, posts: 1_000_000, votes: 2_000_000 }),
    usual: site(20, { users: 2000, posts: 30_000, votes: 200_000 }),
  },
  rounds: 3,
  warm: 2,
  seconds: 3,
  mixed: 12_000,
  starts: 20,
  sweeps: 5,
}

/** Small enough for a minute. It shows that everything works, and what is far from its goal. */
export const QUICK: Plan = {
  sites: {
    small: FULL.sites.small,
    middle: FULL.sites.middle,
    large: site(10_000, { users: 1000, posts: 20_000, votes: 100_000 }),
    usual: FULL.sites.usual,
  },
  rounds: 1,
  warm: 1,
  seconds: 1,
  mixed: 2000,
  starts: 5,
  sweeps: 1,
}

/** Connections of a load, where a case does not say otherwise. */
export const CONNECTIONS = 64

/** Number of public boards: every tenth board of the seed is private. */
export const publicBoards = ({ boards }: Size): number => boards - Math.floor(boards / 10)

function site(boards: number, rest: Pick<Size, 'users' | 'posts' | 'votes'>): Size {
  return { boards: boards + Math.floor((boards - 1) / 9), roadmaps: 6, ...rest }
}
