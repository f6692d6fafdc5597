import * as service from '../../service/mentions.js'
import { page, type View } from '../kit/page.js'
import { nameOf, Person } from '../parts/person.js'

const shown = {
  cache: 'never',
  isUnlisted: true,
  signedIn: true,
  title: ({ t }: View) => t('people.title'),
  show: (view: View, found: readonly service.Mentionable[]) => (
    <>
      <h1>{view.t('people.title')}</h1>
      <p class="soft">{view.t('people.explained')}</p>
      <ul class="rows">
        {found.map((person) => (
          <li data-username={person.username} data-name={nameOf(view, person)}>
            <Person view={view} person={person} /> <code dir="ltr">@{person.username}</code>
          </li>
        ))}
      </ul>
      <p class="hidden" data-keys="">
        {view.t('people.keys')}
      </p>
    </>
  ),
} as const

/** People that a comment can mention. The script that completes an @ reads this page. */
export const people = page({
  ...shown,
  load: async (view) => (await view.call(service.people, { post_id: view.params.slug })).people,
})

/** The same for a new post. */
export const team = page({ ...shown, load: async (view) => (await view.call(service.team, {})).people })
