import type { Command } from 'commander'
import type { Static } from 'typebox'
import { printable } from '../core/text.js'
import type { User } from '../service/lib/people.js'
import * as owner from '../service/owner.js'
import * as profile from '../service/profile.js'
import * as users from '../service/users.js'
import { command } from './lib/command/command.js'
import { assertLocal, type Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import { nameOf, PERSON } from './lib/output/person.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { tell } from './lib/terminal/terminal.js'
import { ago } from './lib/texts/age.js'

type Person = Static<typeof User>
type Link = Awaited<ReturnType<typeof owner.createLink>>

const table = { columns: PERSON, id: (user: Person) => user.userId, rows: ({ user }: { user: Person }) => [user] }
const label = (user: Pick<Person, 'name' | 'username' | 'email'>) => `${printable(nameOf(user))} <${user.email}>`

const LINK: (keyof Link)[] = ['url', 'email', 'userId', 'expiresAt']

const linkColumns: Column<Link>[] = [
  { head: 'LINK', field: 'url', text: ({ url }) => url ?? '', drop: 0, whole: true, ifAny: true },
  { head: 'EMAIL', field: 'email', text: ({ email }) => email },
  {
    head: 'EXPIRES',
    field: 'expiresAt',
    text: ({ expiresAt }) => expiresAt,
    shown: ({ expiresAt }, _paint, now) => ago(expiresAt, now),
  },
]

export function register(group: Command, cli: Cli): void {
  explain(withFields(group.command('link'), LINK), {
    local: true,
    examples: ['owner link', 'owner link --quiet'],
    notes: [
      'The link signs the owner in once, within an hour, without the password and without a second factor. Keep it to yourself. A newer link, a new password or ending the sessions makes it useless.',
      'It starts with the setting site.url. It opens while "feedbackctl serve" runs; the command itself needs no server.',
    ],
  })
    .description('Print a link that signs the owner in once')
    .option('--dry-run', 'check whether the command would work, but change nothing')
    .action(async (_flags: unknown, leaf: Command) => {
      const flags = leaf.optsWithGlobals<OutputFlags & { dryRun?: boolean }>()
      const dryRun = flags.dryRun ?? false
      const config = await cli.config()
      assertLocal(config, 'owner link')
      const app = await cli.open()
      const { operatorContext } = await import('../app/call.js')
      const link = await owner.createLink(operatorContext(app, { dryRun }))
      const { url, email } = link
      await print(cli.terminal, flags, {
        body: link,
        rows: [link],
        columns: linkColumns,
        id: () => url ?? '',
        single: true,
      })
      tell(
        cli.terminal,
        dryRun
          ? `Would make a link that signs ${email} in.`
          : `It signs ${email} in once, within an hour.\nIt opens while "feedbackctl serve" runs.`,
      )
      if (config.get('web.enabled') === 'false' || config.get('web.root') !== undefined)
        tell(cli.terminal, 'Note: only the pages of feedbackctl open it, and web.enabled or web.root leaves them out.')
      if (config.origin('site.url') === 'default')
        tell(
          cli.terminal,
          `Note: the link starts with ${config.get('site.url')}. Set site.url to the public URL of the site.`,
        )
    })
  command(
    group,
    users.update,
    {
      usage: 'reset',
      summary: 'Set a new password for the owner; all their sessions end, and their API keys are revoked',
      examples: ['owner reset', 'owner reset --generate-password', 'owner reset --password-stdin < password.txt'],
      output: table,
      input: {
        hidden: ['user', 'name', 'username', 'email', 'notes', 'isVerified', 'ifVersion'],
        prompts: ['password'],
        generated: 'password',
        finds: { fields: ['user'], from: async (call) => ({ user: (await call(profile.profile, {})).user.userId }) },
      },
      done: ({ user }) =>
        `Changed the password of ${label(user)}.\nAll their sessions and API keys have ended. A second factor stays. If it is lost, run:\n  feedbackctl users reset-totp ${user.email}`,
    },
    cli,
  )
  command(
    group,
    owner.promote,
    {
      usage: 'promote <user>',
      examples: ['owner promote eve@example.org'],
      output: table,
      async confirm(call, { user: given }) {
        const { user } = await call(users.show, { user: given })
        if (user.isOwner || user.isBlocked) return undefined
        return {
          question: `Make ${label(user)} the owner of the site? The present owner loses the rights of the owner.`,
          type: user.email,
        }
      },
      done: ({ user }) => `Made ${label(user)} the owner of the site.`,
    },
    cli,
  )
}
