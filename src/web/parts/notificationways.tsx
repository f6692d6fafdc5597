import type { Key } from '../../core/catalogue.js'
import {
  DEFAULT_DIGEST,
  DIGESTS,
  NOTIFICATION_TOPICS,
  NOTIFICATION_WAYS,
  WEEKDAYS,
  type NotificationTopic,
  type NotificationWays,
} from '../../core/notificationways.js'
import type { Choices } from '../../service/lib/notificationchoices.js'
import { update } from '../../service/notificationsettings.js'
import type { Fields, View } from '../kit/page.js'
import { Check, Choice, Field } from './form.js'

const TOPICS: Readonly<Record<NotificationTopic, Key>> = {
  status: 'ways.status',
  answer: 'ways.answer',
  reply: 'ways.reply',
  mention: 'ways.mention',
  post: 'ways.post',
  report: 'ways.report',
}

export const WAYS: Readonly<Record<NotificationWays, Key>> = {
  'page,mail': 'ways.pageMail',
  'page,digest': 'ways.pageDigest',
  page: 'ways.page',
  mail: 'ways.mail',
  digest: 'ways.digest',
  none: 'ways.none',
}

/** A line for each topic with its ways. `site` are those of the site, where a person can choose them too. */
export const WaysByTopic = ({
  view,
  ways,
  site,
}: {
  view: View
  ways: Partial<Record<NotificationTopic, string>>
  site?: Partial<Record<NotificationTopic, NotificationWays>>
}) => (
  <div class="ways">
    {NOTIFICATION_TOPICS.filter((topic) => ways[topic] !== undefined).map((topic) => {
      const ofSite = site?.[topic]
      return (
        <Choice
          view={view}
          name={topic}
          label={view.t(TOPICS[topic])}
          value={ways[topic]}
          options={[
            ...(ofSite ? [{ value: 'default', text: view.t('ways.default', { ways: view.t(WAYS[ofSite]) }) }] : []),
            ...NOTIFICATION_WAYS.map((each) => ({ value: each, text: view.t(WAYS[each]) })),
          ]}
        />
      )
    })}
  </div>
)

const HOURS = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  text: `${String(hour).padStart(2, '0')}:00`,
}))

const FOLLOWS = {
  followsAuthored: 'ways.followsAuthored',
  followsVoted: 'ways.followsVoted',
  followsCommented: 'ways.followsCommented',
  followsMentioned: 'ways.followsMentioned',
  followsEverything: 'ways.followsEverything',
} as const satisfies Record<string, Key>
const FOLLOW_NAMES = Object.keys(FOLLOWS) as (keyof typeof FOLLOWS)[]

/** All that a person chooses about notifications. */
export function ChoiceFields({ view, choices }: { view: View; choices: Choices }) {
  const { t } = view
  const { defaults, site, digest, weekday, hour, timeZone, quietFrom, quietUntil, ...rest } = choices
  const chosen = Object.fromEntries(
    NOTIFICATION_TOPICS.map((topic) => [topic, defaults.includes(topic) ? 'default' : rest[topic]]),
  )
  const isSent = view.form.values.digest !== undefined
  return (
    <>
      <p class="hint">{t('ways.explained')}</p>
      <WaysByTopic view={view} ways={chosen} site={site} />
      <h2>{t('ways.digests')}</h2>
      <p class="hint">{t('ways.digestsHint')}</p>
      <div class="digest">
        <Choice
          view={view}
          name="digest"
          label={t('ways.often')}
          value={digest}
          options={DIGESTS.map((each) => ({ value: each, text: t(`ways.${each}`) }))}
        />
        <Choice
          view={view}
          name="weekday"
          label={t('ways.weekday')}
          value={weekday}
          options={WEEKDAYS.map((each) => ({ value: each, text: t(`weekday.${each}`) }))}
        />
        <Choice view={view} name="hour" label={t('ways.hour')} value={String(hour)} options={HOURS} />
      </div>
      <h2>{t('ways.quiet')}</h2>
      <p class="hint">{t('ways.quietHint')}</p>
      <div class="digest">
        <Choice view={view} name="quietFrom" label={t('ways.quietFrom')} value={String(quietFrom)} options={HOURS} />
        <Choice view={view} name="quietUntil" label={t('ways.quietUntil')} value={String(quietUntil)} options={HOURS} />
      </div>
      <Field
        view={view}
        of={update}
        name="timeZone"
        label={t('ways.timeZone')}
        hint={t('ways.timeZoneHint')}
        required
        value={timeZone}
        list="time-zones"
        data={timeZone === DEFAULT_DIGEST.timeZone ? { zone: timeZone } : {}}
      />
      <datalist id="time-zones">
        {Intl.supportedValuesOf('timeZone').map((name) => (
          <option value={name} />
        ))}
      </datalist>
      <fieldset class="reasons">
        <legend>{t('ways.follows')}</legend>
        {FOLLOW_NAMES.filter((name) => rest[name] !== undefined).map((name) => (
          <Check view={view} name={name} label={t(FOLLOWS[name])} checked={rest[name] ?? false} isSent={isSent} />
        ))}
      </fieldset>
    </>
  )
}

/** What an operation gets of these fields. */
export const choicesIn = (form: Fields) => ({
  ...Object.fromEntries(
    [...NOTIFICATION_TOPICS, 'digest', 'weekday', 'hour', 'timeZone', 'quietFrom', 'quietUntil'].flatMap((name) =>
      form[name] === undefined ? [] : [[name, form[name]]],
    ),
  ),
  ...Object.fromEntries(FOLLOW_NAMES.map((name) => [name, form[name] === 'true'])),
})
