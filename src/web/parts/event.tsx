import type { Key } from '../../core/catalogue.js'
import type { Action } from '../../core/nouns.js'
import { links } from '../../core/pagelinks.js'
import type * as service from '../../service/events.js'
import { DELETED_USER } from '../../service/lib/people.js'
import * as roles from '../../service/roles.js'
import * as users from '../../service/users.js'
import { withParameters, withQuery } from '../kit/addresses.js'
import type { View } from '../kit/page.js'
import { nameOf } from './person.js'

export const LOG = '/dashboard/settings/log'

/** The address of the log with another filter. */
export const only = (view: View, query: Record<string, string>): string =>
  view.href(withParameters(view.url, { ...query, page: undefined }))

/** The name of an action in the language of the reader, or its code if a later version wrote it. */
export const actionText = ({ words }: View, action: string) => {
  const key = `event.${action}`
  return words.has(key) ? words.t(key) : <code>{action}</code>
}

/** The action and its changed fields, each with both values. */
export const What = ({ view, event }: { view: View; event: service.Event }) => (
  <>
    <a href={only(view, { action: event.action })}>{actionText(view, event.action)}</a>
    {event.details && event.details.length > 0 ? (
      <ul class="changes">
        {event.details.map((change) => (
          <li>
            <Change view={view} change={change} />
          </li>
        ))}
      </ul>
    ) : null}
  </>
)

/** A field with both values. A flag shows only its name, struck out when it was turned off. */
function Change({ view, change }: { view: View; change: NonNullable<service.Event['details']>[number] }) {
  const { field, before, after, before_name: was, after_name: is } = change
  const name = <FieldName view={view} field={field} />
  if (field === 'update') return <ins>{view.t('mark.update')}</ins> // its value is an id
  if (NAMED.has(field) && (after === 'true' || after === 'false'))
    return after === 'true' ? <ins>{name}</ins> : <del>{name}</del>
  return (
    <>
      {name} {(was ?? before ?? null) === null ? null : <del dir="auto">{was ?? before}</del>}{' '}
      <ins dir="auto">{is ?? after ?? '–'}</ins>
    </>
  )
}

/** The label of a field on pages, or its name in the API. */
function FieldName({ view: { t }, field }: { view: View; field: string }) {
  if (SAID_BY_ACTION.has(field)) return null
  const key = NAMED.get(field)
  return key === undefined ? <code>{field}</code> : t(key)
}

const SAID_BY_ACTION: ReadonlySet<string> = new Set(['way', 'tags'])

const NAMED: ReadonlyMap<string, Key> = new Map([
  ['accentColor', 'general.accent'],
  ['allowSignup', 'general.allowSignup'],
  ['announcement', 'general.announcement'],
  ['announcementUntil', 'general.announcementUntil'],
  ['archived', 'mark.archived'],
  ['boardId', 'filter.board'],
  ['color', 'place.color'],
  ['customCss', 'general.customCss'],
  ['description', 'general.description'],
  ['footerLinks', 'general.footerLinks'],
  ['headerLinks', 'general.headerLinks'],
  ['holdFirstPosts', 'general.holdFirstPosts'],
  ['is_internal', 'mark.internal'],
  ['is_spam', 'mark.spam'],
  ['locked', 'post.locked'],
  ['logo', 'general.logoFile'],
  ['logoDark', 'general.logoDarkFile'],
  ['name', 'field.name'],
  ['pinned', 'mark.pinned'],
  ['require_totp', 'role.totp'],
  ['roadmap_id', 'filter.roadmap'],
  ['signupNote', 'general.signupNote'],
  ['template', 'board.template'],
  ['title', 'post.title'],
  ['url', 'place.url'],
])

/** Links to the page of what the event is about, or to its log where it has no page. */
export function Subject({ view, event }: { view: View; event: service.Event }) {
  const { subject, subject_id: id } = event
  if (isByItsSubject(event)) return null // `By` names them
  const name = event.user ? <bdi>{nameOf(view, event.user)}</bdi> : subject === null ? <code>{id}</code> : <bdi>{subject}</bdi> // prettier-ignore
  return <a href={view.href(pageOf(view, event) ?? withQuery(LOG, { subject: id }))}>{name}</a>
}

const isOf = ({ action }: service.Event, noun: string): boolean => action.startsWith(`${noun}.`)

function pageOf(view: View, event: service.Event): string | undefined {
  const { subject, subject_id: id } = event
  if (event.subject_gone) return undefined
  if (isOf(event, 'post')) return links.post(id)
  if (isOf(event, 'user') && subject !== null && view.may(users.show)) return links.person(subject)
  return isOf(event, 'role') && view.may(roles.show) ? links.role(id) : undefined
}

/** Whoever did it, and the other person concerned. */
export function By({ view, event }: { view: View; event: service.Event }) {
  const { actor, operator, person, user } = event
  return (
    <>
      {actor ? (
        <Somebody view={view} person={actor} />
      ) : operator !== null ? (
        <span>{view.t('log.operator', { name: operator })}</span>
      ) : user !== null && isByItsSubject(event) ? (
        <Somebody view={view} person={user} />
      ) : (
        <span>{view.t('log.visitor')}</span>
      )}
      {person && person.userId !== actor?.userId ? (
        <>
          {' → '}
          <Somebody view={view} person={person} />
        </>
      ) : null}
    </>
  )
}

const isByItsSubject = ({ action, actor, operator, user }: service.Event): boolean =>
  OWN.has(action) && actor === null && operator === null && user !== null

/** Actions without a session that only the owner of the account can take. */
const OWN: ReadonlySet<string> = new Set<Action>([
  'user.signed_up',
  'user.signed_in',
  'user.verified',
  'user.link_used',
  'user.totp_recovery',
])

type Who = NonNullable<service.Event['actor']>

const Somebody = ({ view, person }: { view: View; person: Who }) => (
  <a href={only(view, { person: person.username === DELETED_USER.username ? person.userId : person.username })}>
    <bdi>{person.username === DELETED_USER.username ? view.t('person.deleted') : nameOf(view, person)}</bdi>
  </a>
)
