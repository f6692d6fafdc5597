import type { DeliveryKind } from '../core/deliverykinds.js'
import type { Db, DeliveryRow } from '../db/tables.js'

/** The delay after the first, second, … failed attempt, of which the last is repeated, and the number of attempts. */
export interface Backoff {
  delays: readonly number[]
  maxAttempts: number
}

/** What a failure says about a delivery: the receiver refused it for good, or for now. */
type Verdict = 'refused' | 'deferred'

/** How deliveries of a kind are sent. */
export interface Kind<Settings> {
  name: DeliveryKind
  /** Names the job that sends them, and its lease, which servers of other versions know: it never changes. */
  job: string
  /** How long a failed delivery waits. */
  backoff: Readonly<Record<Verdict, Backoff>>
  log: {
    /** The field with the id of a delivery. */
    id: string
    delivered: string
    failed: string
    unrecorded: string
    unreachable: string
    reachable: string
  }
  open(this: void, settings: Settings): Promise<Carrier>
  /** Called before each attempt. Returns true if it cancelled the delivery, as it may not be sent any more. */
  withdraw?(this: void, db: Db, delivery: DeliveryRow, now: Date): Promise<boolean>
  /** Called after a delivery was sent. */
  sent?(this: void, db: Db, delivery: DeliveryRow): Promise<void>
  /** Called after the receiver refused a delivery for good. */
  refused?(
    this: void,
    db: Db,
    delivery: DeliveryRow,
    refusal: { error: Error; reason: string; at: string },
  ): Promise<void>
}

export interface Carrier {
  /** Resolves when the receiver has accepted the delivery. */
  send(delivery: DeliveryRow): Promise<void>
  /** 'none': the failure says nothing about this delivery, such as a lost connection. */
  verdictOf(error: Error): Verdict | 'none'
  /** Rejects if nothing can be sent now. */
  verify(): Promise<void>
  close(): void
}
