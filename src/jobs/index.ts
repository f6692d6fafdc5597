import type { DeliverySettings } from '../delivery/kinds.js'
import { backups, type Schedule } from './backups.js'
import { backupTasks, type BackupWork } from './backuptasks.js'
import { rowChanges } from './rowchanges.js'
import { couriers } from './courier.js'
import { limits } from './limits.js'
import { notifications } from './notifications.js'
import type { Job } from './runner.js'
import { seals } from './seals.js'
import { sessions } from './sessions.js'

/** The background jobs of a server. */
export const jobsOf = ({
  schedule,
  backupWork,
  ...settings
}: DeliverySettings & { schedule?: Schedule | undefined; backupWork?: BackupWork | undefined }): Job[] => [
  rowChanges,
  limits,
  seals,
  sessions,
  notifications,
  ...(schedule ? [backups(schedule)] : []),
  ...(backupWork ? [backupTasks(backupWork)] : []),
  ...couriers(settings),
]
