import type { DeliverySettings } from '../delivery/kinds.js'
import { backups, type Schedule } from './backups.js'
import { rowChanges } from './rowchanges.js'
import { couriers } from './courier.js'
import { limits } from './limits.js'
import type { Job } from './runner.js'
import { seals } from './seals.js'
import { sessions } from './sessions.js'

/** The background jobs of a server. */
export const jobsOf = ({ schedule, ...settings }: DeliverySettings & { schedule?: Schedule | undefined }): Job[] => [
  rowChanges,
  limits,
  seals,
  sessions,
  ...(schedule ? [backups(schedule)] : []),
  ...couriers(settings),
]
