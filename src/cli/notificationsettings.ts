import type { Command } from 'commander'
import { NOTIFICATION_TOPICS, TEAM_TOPICS, type NotificationTopic } from '../core/notificationways.js'
import * as service from '../service/notificationsettings.js'
import type { Own } from '../service/notificationsettings.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { stated } from './lib/prompts/dryrun.js'

/** Whether no flag changes anything: the command then shows what there is. */
const isLook = (given: object): boolean => Object.values(given).every((value) => value === undefined)

const wayOf = ({ defaults, ...ways }: Own, topic: NotificationTopic): string =>
  `${ways[topic] ?? ''}${defaults.includes(topic) ? ' (default)' : ''}`

const clockOf = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

const timeOf = ({ digest, weekday, hour, timeZone }: Own): string =>
  `${digest}${digest === 'weekly' ? ` on ${weekday}` : ''} at ${clockOf(hour)} (${timeZone})`

const quietOf = ({ quietFrom, quietUntil, timeZone }: Own): string =>
  quietFrom === quietUntil ? '' : `${clockOf(quietFrom)} to ${clockOf(quietUntil)} (${timeZone})`

const followsOf = (own: Own): string =>
  [
    own.followsAuthored && 'wrote',
    own.followsVoted && 'voted for',
    own.followsCommented && 'commented on',
    own.followsMentioned && 'are mentioned in',
  ]
    .filter(Boolean)
    .join(', ') || 'none'

const columns: Column<Own>[] = [
  ...NOTIFICATION_TOPICS.map((topic) => ({
    head: topic.toUpperCase(),
    text: (own: Own) => wayOf(own, topic),
    drop: 0,
    ...(TEAM_TOPICS.includes(topic) && { ifAny: true as const }),
  })),
  { head: 'DIGEST', text: timeOf, drop: 0 },
  { head: 'QUIET', text: quietOf, drop: 0, ifAny: true },
  { head: 'FOLLOWS POSTS YOU', text: followsOf, drop: 0 },
  {
    head: 'FOLLOWS ALL BOARDS',
    text: ({ followsEverything }) => (followsEverything === undefined ? '' : followsEverything ? 'yes' : 'no'),
    drop: 0,
    ifAny: true,
  },
  {
    head: 'MAIL STOPPED',
    text: ({ mailStopped }) => (mailStopped ? `${mailStopped.since}: ${mailStopped.reason}` : ''),
    drop: 0,
    ifAny: true,
  },
]

/** The command of `account` about how a person is told. */
export function registerOwn(group: Command, cli: Cli): void {
  command(
    group,
    service.update,
    {
      usage: 'notifications',
      summary: 'Show how you are told of news, or choose it',
      examples: [
        'account notifications --as eve@example.org',
        'account notifications --reply page --digest weekly --weekday friday --hour 8 --time-zone Europe/Berlin',
        'account notifications --quiet-from 22 --quiet-until 7 --time-zone Europe/Berlin',
        'account notifications --status default --no-follows-voted',
      ],
      output: { columns, id: () => '', rows: ({ settings }) => [settings] },
      instead: (given) => (isLook(given) ? service.settings : undefined),
      done: (_answer, given) => (isLook(given) ? undefined : stated('Your choices are saved.')),
    },
    cli,
  )
}

type OfSite = Awaited<ReturnType<typeof service.site.run>>

/** The command of `settings` about people who did not choose. */
export function registerSite(group: Command, cli: Cli): void {
  command(
    group,
    service.updateSite,
    {
      usage: 'notifications',
      summary: 'Show or choose how people are told of news who did not choose',
      examples: ['settings notifications', 'settings notifications --status page,digest --mention page,mail'],
      output: {
        columns: NOTIFICATION_TOPICS.map((topic) => ({
          head: topic.toUpperCase(),
          field: `ways.${topic}`,
          text: ({ ways }: OfSite) => ways[topic],
          drop: 0,
        })),
        id: () => '',
        rows: (answer) => [answer],
      },
      input: { hidden: ['ifVersion'] },
      instead: (given) => (isLook(given) ? service.site : undefined),
      done: (_answer, given) => (isLook(given) ? undefined : 'Updated the settings of the site.'),
    },
    cli,
  )
}
