import type { Command } from 'commander'
import { counted, printable } from '../core/text.js'
import { merge } from '../service/usermerges.js'
import * as users from '../service/users.js'
import { command } from './lib/command/command.js'
import { unlessMissing } from './lib/command/existing.js'
import type { Cli } from './lib/connection/session.js'
import { nameOf } from './lib/output/person.js'
import type { Output } from './lib/output/output.js'
import type { User } from '../service/lib/people.js'
import type { Static } from 'typebox'

type Person = Static<typeof User>
type Counts = Readonly<Record<'posts' | 'comments' | 'votes' | 'repeated', number>>

/** Registers `users merge`. */
export function register(
  group: Command,
  cli: Cli,
  output: Output<{ user: Person; merged: Counts }, Person>,
  label: (user: Person) => string,
): void {
  command(
    group,
    merge,
    {
      usage: 'merge <user...>',
      examples: ['users list --query imported.invalid', 'users merge ann_k3v9x2pq --into ann@example.org'],
      output,
      async confirm(call, { user: given, into }) {
        const { user: from } = await call(users.show, { user: given })
        const found = await unlessMissing(() => call(users.show, { user: into }))
        if (!found || !from.may.includes('merge')) return undefined // refused
        return `Make ${label(found.user)} the author of what ${printable(nameOf(from))} (${from.username}) has: ${counted(Number(from.posts), 'post')}, ${counted(Number(from.votes), 'vote')}, and their comments?`
      },
      done: ({ user, merged }, given) =>
        `Merged ${printable(String(given.user))} into ${label(user)}: ${said(merged)}.`,
    },
    cli,
  )
}

const said = ({ posts, comments, votes, repeated }: Counts): string =>
  [
    counted(posts, 'post'),
    counted(comments, 'comment'),
    `${counted(votes, 'vote')}${repeated === 0 ? '' : `, and ${repeated} for ${repeated === 1 ? 'a post' : 'posts'} that both had voted for`}`,
  ].join(', ')
