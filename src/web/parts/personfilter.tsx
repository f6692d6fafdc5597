import { AppError } from '../../core/errors.js'
import * as users from '../../service/users.js'
import { withParameters } from '../kit/addresses.js'
import { Redirect, type LiveView, type View } from '../kit/page.js'
import { Foreign } from './foreign.js'
import { Person } from './person.js'

/** People that a page names where a filter could mean each of them. */
const MOST = 10

type Row = Awaited<ReturnType<typeof users.list.run>>['users'][number]

/** A filter by a person that tells nobody, or several. */
export interface Unclear {
  name: string
  text: string
  several: readonly Row[]
}

/**
 * Filters of the operations take user names and ids. Where the reader may search people, one by name leads to the
 * address with the user name of the only one it finds.
 */
export async function unclearPerson(view: LiveView, name: string): Promise<Unclear | undefined> {
  const text = view.query[name]?.trim()
  if (!text || !view.may(users.list) || (await isKnown(view, text))) return undefined
  const { users: several } = await view.call(users.list, { query: text.slice(0, 200), sort: 'name', limit: MOST })
  const [only, ...others] = several
  if (only && others.length === 0 && view.form.error === undefined)
    throw new Redirect(withParameters(view.url, { [name]: only.username, page: undefined }))
  return { name, text, several }
}

async function isKnown(view: LiveView, user: string): Promise<boolean> {
  try {
    await view.call(users.show, { user })
    return true
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return false
    throw error
  }
}

/** What a refused filter by a person says, where the operation refuses for that. */
export function nobodyIn(view: View, name: string, error: AppError): Unclear | undefined {
  const isAbout = error.code === 'USER_NOT_FOUND' || (error.errors?.some(({ field }) => field === 'authorId') ?? false)
  return isAbout ? { name, text: view.query[name] ?? '', several: [] } : undefined
}

/** Said above the form, which describes its field by it. */
export function UnclearPerson({ view, unclear }: { view: View; unclear: Unclear | undefined }) {
  if (!unclear) return null
  const { name, text, several } = unclear
  return (
    <div class="summary" role="alert" tabIndex={-1} autofocus id={`field-${name}-wrong`}>
      {several.length === 0 ? (
        <p>
          <a href={`#field-${name}`}>{view.t('filter.noPerson', { name: text })}</a>
        </p>
      ) : (
        <>
          <p>{view.t('filter.severalPeople', { name: text })}</p>
          <ul>
            {several.map((person) => (
              <li>
                <a href={view.href(withParameters(view.url, { [name]: person.username, page: undefined }))}>
                  <Person view={view} person={person} />
                </a>{' '}
                <span class="soft">
                  <Foreign text={person.username} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}

/** What ties the field of the filter to what is said about it. */
export const fieldOf = (name: string, isWrong: boolean) => ({
  id: `field-${name}`,
  ...(isWrong && { 'aria-invalid': 'true' as const, 'aria-describedby': `field-${name}-wrong` }),
})
