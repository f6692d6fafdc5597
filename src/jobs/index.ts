import type { Rate } from '../core/limits.js'
import type { DeliverySettings } from '../delivery/kinds.js'
import type { ImportBase } from '../service/lib/importevents.js'
import type { Context } from '../service/lib/context.js'
import { backups, type Schedule } from './backups.js'
import { backupTasks, type BackupWork } from './backuptasks.js'
import { rowChanges } from './rowchanges.js'
import { couriers } from './courier.js'
import { images } from './images.js'
import { importRuns } from './importruns.js'
import { limits } from './limits.js'
import { notificationMails } from './notificationmails.js'
import { notifications } from './notifications.js'
import { oldNotifications } from './oldnotifications.js'
import type { Job } from './runner.js'
import { search } from './search.js'
import { seals } from './seals.js'
import { sessions } from './sessions.js'

/** The background jobs of a server. */
export const jobsOf = ({
  schedule,
  backupWork,
  importBase,
  mailRate = null,
  ...settings
}: DeliverySettings &
  Pick<Context, 'siteUrl' | 'siteLanguage'> & {
    schedule?: Schedule | undefined
    backupWork?: BackupWork | undefined
    /** What imports that an owner asks for are made with. */
    importBase?: ImportBase | undefined
    /** How many mails leave; null for no bound. */
    mailRate?: Rate | null
  }): Job[] => [
  rowChanges,
  limits,
  seals,
  sessions,
  search,
  notifications(settings),
  oldNotifications,
  images(),
  ...(settings.mail ? [notificationMails(settings)] : []),
  ...(schedule ? [backups(schedule)] : []),
  ...(backupWork ? [backupTasks(backupWork)] : []),
  ...(importBase ? [importRuns(importBase)] : []),
  ...couriers(settings, { mail: mailRate }),
]
