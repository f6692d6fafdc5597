import type { Bench, Case, Goal, Row } from '../cases.js'
import { alternately, median, medians, type Sample, type Samples } from '../measure.js'
import type { SiteName } from '../plan.js'
import type { Request } from '../requests.js'
import { bareLike, serve } from '../servers.js'
import type { Site } from '../sites.js'

export interface Reads {
  name: string
  site: SiteName
  long?: boolean
  /** Least share of bare `node:http`, in percent. A case without a goal has no reference. */
  goal?: number
  /** `url` is that of a server which may be asked. */
  requests(this: void, site: Site, bench: Bench, url: string): readonly Request[] | Promise<readonly Request[]>
}

/** Our server and bare `node:http` with the same responses, in turn. */
export const againstBare = ({ name, site: siteName, long = false, goal, requests }: Reads): Case => ({
  name,
  long,
  async run(bench) {
    const site = await bench.site(siteName)
    const server = await serve(`sqlite:${site.file}`)
    const sent = await requests(site, bench, server.url)
    const ours = { servers: [server], requests: sent }
    if (goal === undefined) return [{ name, ours: medians((await alternately(bench.plan, { ours })).ours) }]
    const reference = { servers: [await bareLike(server, sent)], requests: sent }
    return [comparedRow(name, await alternately(bench.plan, { ours, reference }), { least: goal })]
  },
})

/** A row with the share of the reference that was reached. */
export const comparedRow = (
  name: string,
  { ours, reference }: { ours: Samples; reference: Samples },
  goal: Goal,
): Row => ({
  name,
  ours: medians(ours),
  reference: medians(reference),
  result: { value: 100 * share(ours, reference), unit: '%', goal },
})

/**
 * What part of the reference was reached: of requests a second or of CPU for a request, whichever is worse, since a
 * load generator that is the limit itself makes everything look equally fast. Of every round, then the median.
 */
const share = (ours: Samples, reference: Samples): number =>
  median(ours.map((sample, round) => worse(sample, reference[round] ?? sample)))

const worse = (ours: Pick<Sample, 'rate' | 'cpu'>, reference: Pick<Sample, 'rate' | 'cpu'>): number =>
  Math.min(ours.rate / reference.rate, reference.cpu / ours.cpu)

/** A row with how many times the reference's requests a second there were. */
export const timesRow = (
  name: string,
  { ours, reference }: { ours: Samples; reference: Samples },
  goal?: Goal,
): Row => ({
  name,
  ours: medians(ours),
  reference: medians(reference),
  result: {
    value: median(ours.map((sample, round) => sample.rate / (reference[round] ?? sample).rate)),
    unit: 'x',
    ...(goal && { goal }),
  },
})
