import { DELIVERY_KINDS, type DeliveryKind } from '../core/deliverykinds.js'
import type { Rate } from '../core/limits.js'
import { sentSince } from '../db/deliveries.js'
import type { Carrier, Kind } from '../delivery/kind.js'
import { KINDS, type DeliverySettings } from '../delivery/kinds.js'
import { deliver, isAnyDue } from '../delivery/queue.js'
import { RateWindow } from '../delivery/rate.js'
import type { Db, DeliveryRow } from '../db/tables.js'
import type { Job } from './runner.js'

/** The delay before what was unreachable is tried again. It doubles up to the maximum. */
const MIN_PROBE_MS = 1_000
const MAX_PROBE_MS = 20_000

/** A courier for each kind of delivery that can be sent. A kind waits for no other. */
export const couriers = (settings: DeliverySettings, rates: DeliveryRates = {}): Job[] =>
  DELIVERY_KINDS.flatMap((name) => couriersOf(name, settings, rates))

/** How many deliveries of a kind leave in a time. Absent: as many as there are. */
type DeliveryRates = Partial<Record<DeliveryKind, Rate | null>>

function couriersOf<Name extends DeliveryKind>(name: Name, settings: DeliverySettings, rates: DeliveryRates): Job[] {
  const given = settings[name]
  return given === null ? [] : [courier(KINDS[name], given, rates[name] ?? null)]
}

/** Delivers what any process has queued of a kind. It polls twice a second, so that it leaves promptly. */
function courier<Settings>(kind: Kind<Settings>, settings: Settings, limit: Rate | null): Job {
  let rate: RateWindow | undefined
  /** Set while nothing can be reached. `probeAt` is a time of `performance.now()`. */
  let outage: { delay: number; probeAt: number } | undefined
  const waitLonger = () => {
    const delay = outage ? Math.min(outage.delay * 2, MAX_PROBE_MS) : MIN_PROBE_MS
    outage = { delay, probeAt: performance.now() + delay }
  }
  const naming = ({ deliveryId }: DeliveryRow) => ({ [kind.log.id]: deliveryId })
  return {
    name: kind.job,
    every: 500,
    exclusive: true,
    isDue: async ({ db, now }) =>
      (!outage || performance.now() >= outage.probeAt) && (await isAnyDue(db, kind, now(), rate)),
    async run({ db, now, log, signal }) {
      rate = await windowOf(db, { kind: kind.name, limit, now: now() })
      const carrier = await kind.open(settings)
      const onUnrecorded = (delivery: DeliveryRow, error: Error) =>
        log.warn({ ...naming(delivery), reason: error.message }, kind.log.unrecorded)
      try {
        if (outage) {
          if (!(await isReachable(carrier))) return waitLonger()
          outage = undefined
          log.info({}, kind.log.reachable)
        }
        for await (const { delivery, error, isUnreachable } of deliver(db, {
          kind,
          carrier,
          now,
          onUnrecorded,
          rate,
        })) {
          const { attempts } = delivery
          if (isUnreachable) {
            if (!outage) log.warn({ reason: error?.message }, kind.log.unreachable)
            if (!outage) waitLonger()
          } else if (error) log.warn({ ...naming(delivery), attempts, reason: error.message }, kind.log.failed)
          else log.info(naming(delivery), kind.log.delivered)
          if (signal.aborted) return
        }
      } finally {
        carrier.close()
      }
    },
  }
}

/** What other servers sent counts too, and what left before this process began. */
async function windowOf(
  db: Db,
  { kind, limit, now }: { kind: DeliveryKind; limit: Rate | null; now: Date },
): Promise<RateWindow> {
  const rate = new RateWindow(limit)
  if (!rate.isBounded) return rate
  for (const at of await sentSince(db, kind, rate.beginning(now).toISOString())) rate.count(new Date(at))
  return rate
}

const isReachable = (carrier: Carrier): Promise<boolean> =>
  carrier.verify().then(
    () => true,
    () => false,
  )
