import type { Command } from 'commander'
import { printable } from '../core/text.js'
import { tag } from '../service/usertags.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { nameOf } from './lib/output/person.js'
import type { Output } from './lib/output/output.js'
import type { User } from '../service/lib/people.js'
import type { Static } from 'typebox'

type Person = Static<typeof User>

/** The command of `users` that changes their tags. */
export function register(group: Command, cli: Cli, output: Output<{ user: Person }, Person>): void {
  command(
    group,
    tag,
    {
      usage: 'tag <user...>',
      examples: [
        'users tag eve@example.org --add "beta tester" --remove trial',
        'users list -q --query example.com | feedbackctl users tag - --add customer',
      ],
      output,
      requiresChange: true,
      done: ({ user }) =>
        `Changed the tags of ${printable(nameOf(user))}: ${user.tags.length === 0 ? 'none' : printable(user.tags.join(', '))}.`,
    },
    cli,
  )
}
