import { loadOf, type Load, type Report } from './load.js'
import { CONNECTIONS, type Plan } from './plan.js'
import { cpuBetween, cpuTimes, peakOfAll, sum } from './processes.js'
import type { Request } from './requests.js'
import type { Server } from './servers.js'

/** The measurements of one load. */
export interface Sample {
  /** Responses per second with a status below 400. */
  rate: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** CPU of the server per response, in microseconds. */
  cpu: number
  /** Peak memory of the server since its start, in MB. */
  memory: number
  refused: number
  /** CPU of PostgreSQL per response, in microseconds; NaN where it is not known. */
  database: number
}

export type Samples = [Sample, ...Sample[]]

/** Servers that are loaded at the same time, and with what. */
export interface Target {
  servers: Server[]
  requests: readonly Request[]
  /** All of the servers together; otherwise `CONNECTIONS`. */
  connections?: number
  /** Requests to each server before it is measured; otherwise the plan's seconds. */
  warmUp?: number
  /** The process id of the PostgreSQL whose CPU is measured too. */
  postgres?: number | undefined
  /** Starts something that runs beside each load, and returns what stops it. */
  beside?: (this: void) => Promise<() => Promise<void>>
}

/**
 * Warms up all targets, loads each once per round of the plan, in alternating order, and stops their servers at the
 * end.
 */
export async function alternately<Name extends string>(
  plan: Plan,
  targets: Record<Name, Target>,
): Promise<Record<Name, Samples>> {
  const names = Object.keys(targets) as Name[]
  const loaded = names.map((name) => ({
    ...targets[name],
    name,
    // Each server starts at another place, or two would be sent the same votes
    loads: targets[name].servers.map((_, server, { length }) =>
      loadOf(targets[name].requests, Math.floor((targets[name].requests.length * server) / length)),
    ),
    samples: [] as Sample[],
  }))
  try {
    for (const one of loaded) await warmUp(one, plan.warm)
    for (let round = 0; round < plan.rounds; round++)
      for (const one of round % 2 === 0 ? loaded : loaded.toReversed()) one.samples.push(await run(one, plan.seconds))
  } finally {
    for (const { servers } of loaded) await Promise.all(servers.map((server) => server.stop()))
  }
  // A plan has at least one round
  return Object.fromEntries(loaded.map(({ name, samples }) => [name, samples])) as Record<Name, Samples>
}

export function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  // The list is not empty
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The median of each number. */
export function medians(samples: Samples): Sample {
  const names = Object.keys(samples[0]) as (keyof Sample)[]
  return Object.fromEntries(
    names.map((name) => [name, median(samples.map((sample) => sample[name]))]),
  ) as unknown as Sample // the same names
}

/** If a larger share of the requests is refused, the load did not measure what it should, and fails. */
const MOST_REFUSED = 0.02

/** A server that is sent few requests a second needs longer. */
async function warmUp(target: Target & { loads: Load[] }, seconds: number): Promise<void> {
  const { servers, warmUp: wanted = 0 } = target
  let answered = 0
  do answered += ((await run(target, seconds)).rate * seconds) / servers.length
  while (answered < wanted)
}

async function run(
  { servers, loads, connections: all = CONNECTIONS, postgres, beside }: Target & { loads: Load[] },
  seconds: number,
): Promise<Sample> {
  const stop = await beside?.()
  const pids = servers.map(({ pid }) => pid)
  const databases = postgres === undefined ? [] : [postgres]
  const before = { servers: cpuTimes(pids), databases: cpuTimes(databases) }
  const connections = all / servers.length
  const reports = await Promise.all(loads.map((load, n) => load.send({ url: servers[n]!.url, connections, seconds }))) // a load for each server
  const cpu = cpuBetween(before.servers, cpuTimes(pids))
  const database = postgres === undefined ? NaN : cpuBetween(before.databases, cpuTimes(databases))
  await stop?.()
  const total = (of: (report: Report) => number) => sum(reports.map(of))
  const [requests, refused, broken] = [
    total((report) => report.requests),
    total((report) => report.refused),
    total((report) => report.broken),
  ]
  if (broken > 0 || refused > requests * MOST_REFUSED)
    throw new Error(`Of ${requests} requests ${refused} were refused and ${broken} had no answer.`)
  return {
    rate: total((report) => (report.requests - report.refused) / report.seconds),
    p50: Math.max(...reports.map(({ p50 }) => p50)),
    p99: Math.max(...reports.map(({ p99 }) => p99)),
    cpu: (cpu * 1000) / requests,
    memory: sum(pids.map(peakOfAll)),
    refused,
    database: (database * 1000) / requests,
  }
}
