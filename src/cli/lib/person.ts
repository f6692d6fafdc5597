import type { Column } from './table.js'

interface Person {
  userId: string
  name: string
  username: string
  email: string
}

/** What to see of a person who just signed in; never the token. */
export const PERSON: readonly Column<Person>[] = [
  { head: 'NAME', text: (user) => user.name, drop: 1 },
  { head: 'EMAIL', text: (user) => user.email, drop: 0 },
  { head: 'USER NAME', text: (user) => user.username, drop: 2 },
  { head: 'ID', text: (user) => user.userId },
]

/** The name to call somebody by: people may leave theirs empty. */
export const nameOf = ({ name, username }: { name: string; username: string }): string => name || username
