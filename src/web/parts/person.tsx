import { links } from '../../core/pagelinks.js'
import { NIL } from 'uuid'
import { monogramOf } from '../../service/lib/avatars.js'
import type { View } from '../kit/page.js'

interface Someone {
  userId: string
  name: string
  username: string
  avatar: string
}

export const nameOf = (view: View, { userId, name, username }: Omit<Someone, 'avatar'>): string =>
  userId === NIL ? view.t('person.deleted') : name || username

/** The initials of a person: drawn in the page, as twenty pictures would be twenty requests. */
export function Avatar({ person, size = 24 }: { person: Someone; size?: number }) {
  if (person.avatar === '') return null
  const { color, initials } = monogramOf(person)
  return (
    <svg class="avatar" viewBox="0 0 64 64" width={size} height={size} aria-hidden="true">
      <rect width="64" height="64" fill={`#${color}`} />
      <text x="32" y="32" dy=".35em">
        {initials}
      </text>
    </svg>
  )
}

export const Person = ({ view, person }: { view: View; person: Someone }) => (
  <span class="person">
    <Avatar person={person} />
    <bdi>{nameOf(view, person)}</bdi>
  </span>
)

/** Marks who speaks for the site. */
export const TeamMark = ({ view, person }: { view: View; person: { isTeam?: boolean } }) =>
  person.isTeam ? <span class="mark team">{view.t('mark.team')}</span> : null

/** A person's picture and name, linked to the profile. A deleted account has no profile, so it gets no link. */
export const PersonLink = ({ view, person }: { view: View; person: Someone }) =>
  person.userId === NIL ? (
    <Person view={view} person={person} />
  ) : (
    <a class="person" href={view.href(links.profile(person.username))}>
      <Avatar person={person} />
      <bdi>{nameOf(view, person)}</bdi>
    </a>
  )
