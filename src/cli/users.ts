import type { Column } from './table.js'

interface Person {
  userId: string
  name: string
  username: string
  email: string
}

/** What to see of a person; never the token. */
export const PERSON: readonly Column<Person>[] = [
  { head: 'NAME', text: (user) => user.name, drop: 1 },
  { head: 'EMAIL', text: (user) => user.email, drop: 0 },
  { head: 'USER NAME', text: (user) => user.username, drop: 2 },
  { head: 'ID', text: (user) => user.userId },
]
