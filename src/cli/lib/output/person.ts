import { printable } from '../../../core/text.js'
import type { Call } from '../../../service/lib/operation.js'
import type { Column } from './table.js'

export { nameOf } from '../../../service/lib/cells.js'

interface Person {
  userId: string
  name: string
  username: string
  email: string
}

/** The columns of a user who just signed in. The token is never shown. */
export const PERSON: readonly Column<Person>[] = [
  { head: 'NAME', text: (user) => user.name, drop: 1 },
  { head: 'EMAIL', text: (user) => user.email, drop: 0 },
  { head: 'USER NAME', text: (user) => user.username, drop: 2 },
  { head: 'ID', text: (user) => user.userId },
]

/** Describes a post: `#12 "Dark mode"`. */
export async function postNamed(call: Call, which: unknown): Promise<string> {
  const { show } = await import('../../../service/posts.js')
  const { post } = await call(show, { id: String(which) })
  return `#${post.number} "${printable(post.title)}"`
}
