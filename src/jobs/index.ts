import type { MailSettings } from '../mail/transport.js'
import { changeLog } from './changelog.js'
import { courier } from './courier.js'
import { limits } from './limits.js'
import type { Job } from './runner.js'

/** The background jobs of a server. */
export const jobsOf = ({ mail }: { mail: MailSettings | null }): Job[] => [
  changeLog,
  limits,
  ...(mail ? [courier(mail)] : []),
]
