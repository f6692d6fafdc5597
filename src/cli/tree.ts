import type { Command } from 'commander'
import type { Cli } from './lib/connection/session.js'

/** A top-level command. Its module is loaded only when the command is used. */
export interface Branch {
  name: string
  summary: string
  group: string
  load(this: void): Promise<{ register(this: void, command: Command, cli: Cli): void }>
}

const SITE = 'Site:'
const CONTENT = 'Content:'
const PEOPLE = 'Users:'
const OPERATION = 'Operation:'

/** The command tree. Holds everything that `--help` needs, so that it loads no command. */
export const branches: readonly Branch[] = [
  {
    name: 'setup',
    summary: 'Set up the site and its owner account',
    group: SITE,
    load: () => import('./setup.js'),
  },
  {
    name: 'settings',
    summary: 'Show and change the settings of the site',
    group: SITE,
    load: () => import('./settings.js'),
  },
  {
    name: 'legal',
    summary: 'Show and change the imprint, the privacy policy and the terms',
    group: SITE,
    load: () => import('./legal.js'),
  },
  { name: 'labs', summary: 'Show and switch experimental features', group: SITE, load: () => import('./labs.js') },
  {
    name: 'open',
    summary: 'Open the site, a post, board or roadmap in the browser',
    group: SITE,
    load: () => import('./open.js'),
  },
  { name: 'demo', summary: 'Serve a temporary site with sample data', group: SITE, load: () => import('./demo.js') },
  {
    name: 'search',
    summary: 'Find posts by their titles, texts and comments',
    group: CONTENT,
    load: () => import('./search.js'),
  },
  { name: 'posts', summary: 'Manage posts', group: CONTENT, load: () => import('./posts.js') },
  {
    name: 'views',
    summary: 'Save filters of posts by a name, and share them',
    group: CONTENT,
    load: () => import('./views.js'),
  },
  {
    name: 'votes',
    summary: 'List, add and delete votes',
    group: CONTENT,
    load: () => import('./votes.js'),
  },
  {
    name: 'comments',
    summary: 'Manage comments',
    group: CONTENT,
    load: () => import('./comments.js'),
  },
  {
    name: 'moderate',
    summary: 'Decide about new, reported and spam posts and comments',
    group: CONTENT,
    load: () => import('./moderation.js'),
  },
  { name: 'boards', summary: 'Manage boards', group: CONTENT, load: () => import('./boards.js') },
  {
    name: 'roadmaps',
    summary: 'Manage roadmaps and their order',
    group: CONTENT,
    load: () => import('./roadmaps.js'),
  },
  {
    name: 'images',
    summary: 'Upload and delete images of posts and comments',
    group: CONTENT,
    load: () => import('./images.js'),
  },
  { name: 'tags', summary: 'Manage tags of posts', group: CONTENT, load: () => import('./tags.js') },
  {
    name: 'users',
    summary: 'Manage users: invite, block, sign out, delete',
    group: PEOPLE,
    load: () => import('./users.js'),
  },
  {
    name: 'invitations',
    summary: 'Invite people by mail, send invitations again, and revoke them',
    group: PEOPLE,
    load: () => import('./invitations.js'),
  },
  {
    name: 'roles',
    summary: 'Manage roles and assign them to users',
    group: PEOPLE,
    load: () => import('./roles.js'),
  },
  {
    name: 'account',
    summary: 'Sign up, confirm an address, set a password',
    group: PEOPLE,
    load: () => import('./account.js'),
  },
  {
    name: 'notifications',
    summary: 'List the notifications of an account, and mark them as read',
    group: PEOPLE,
    load: () => import('./notifications.js'),
  },
  {
    name: 'owner',
    summary: 'Sign in as the owner again, or hand over the site',
    group: PEOPLE,
    load: () => import('./owner.js'),
  },
  {
    name: 'keys',
    summary: 'Manage API keys for programs',
    group: PEOPLE,
    load: () => import('./keys.js'),
  },
  {
    name: 'login',
    summary: 'Sign in to a server for commands with --server',
    group: PEOPLE,
    load: () => import('./login.js'),
  },
  {
    name: 'logout',
    summary: 'Sign out of a server',
    group: PEOPLE,
    load: () => import('./logout.js'),
  },
  {
    name: 'sessions',
    summary: 'Show where an account is signed in, and end sessions',
    group: PEOPLE,
    load: () => import('./sessions.js'),
  },
  {
    name: 'identities',
    summary: 'Show the ways to sign in to an account, and remove one',
    group: PEOPLE,
    load: () => import('./identities.js'),
  },
  {
    name: 'totp',
    summary: 'Add a second factor to an account, or remove it',
    group: PEOPLE,
    load: () => import('./totp.js'),
  },
  {
    name: 'whoami',
    summary: 'Show the account that commands act as',
    group: PEOPLE,
    load: () => import('./whoami.js'),
  },
  { name: 'api', summary: 'Send a request of the API', group: OPERATION, load: () => import('./api.js') },
  {
    name: 'serve',
    summary: 'Serve the API and deliver mail',
    group: OPERATION,
    load: () => import('./serve.js'),
  },
  {
    name: 'service',
    summary: 'Run the server as a service of systemd',
    group: OPERATION,
    load: () => import('./service.js'),
  },
  {
    name: 'status',
    summary: 'Show which site this is and who serves it',
    group: OPERATION,
    load: () => import('./status.js'),
  },
  {
    name: 'healthcheck',
    summary: 'Check that the server answers, for containers and monitors',
    group: OPERATION,
    load: () => import('./healthcheck.js'),
  },
  {
    name: 'mail',
    summary: 'Test the mail settings, and manage waiting mail',
    group: OPERATION,
    load: () => import('./mail.js'),
  },
  {
    name: 'doctor',
    summary: 'Check the site, and say what is wrong and how to fix it',
    group: OPERATION,
    load: () => import('./doctor.js'),
  },
  { name: 'events', summary: 'Show the event log', group: OPERATION, load: () => import('./events.js') },
  {
    name: 'undo',
    summary: 'Take back what an event of the log changed',
    group: OPERATION,
    load: () => import('./undo.js'),
  },
  { name: 'audit', summary: 'Check the event log', group: OPERATION, load: () => import('./audit.js') },
  {
    name: 'backup',
    summary: 'Back up the site and check its backups',
    group: OPERATION,
    load: () => import('./backup.js'),
  },
  {
    name: 'restore',
    summary: 'Replace the site with a backup',
    group: OPERATION,
    load: () => import('./restore.js'),
  },
  {
    name: 'import',
    summary: 'Import boards, posts, votes and people from another product',
    group: OPERATION,
    load: () => import('./import.js'),
  },
  {
    name: 'export',
    summary: 'Write the whole site as lines of JSON or as CSV',
    group: OPERATION,
    load: () => import('./export.js'),
  },
  {
    name: 'workspace',
    summary: 'Keep settings, boards, roadmaps, tags and roles in a file',
    group: OPERATION,
    load: () => import('./workspace.js'),
  },
  {
    name: 'migrate',
    summary: 'Update the database schema',
    group: OPERATION,
    load: () => import('./migrate.js'),
  },
  {
    name: 'rollback',
    summary: 'Undo the last schema update',
    group: OPERATION,
    load: () => import('./rollback.js'),
  },
  {
    name: 'db',
    summary: 'Copy the database to another engine',
    group: OPERATION,
    load: () => import('./db.js'),
  },
  {
    name: 'secret',
    summary: 'Manage the key that signs session tokens',
    group: OPERATION,
    load: () => import('./secret.js'),
  },
  { name: 'config', summary: 'Show and change the configuration', group: OPERATION, load: () => import('./config.js') },
  {
    name: 'context',
    summary: 'Give sites names, choose one, and protect it',
    group: OPERATION,
    load: () => import('./context.js'),
  },
  { name: 'alias', summary: 'Give command lines names', group: OPERATION, load: () => import('./alias.js') },
  {
    name: 'completion',
    summary: 'Print a script that completes commands in bash, zsh or fish',
    group: OPERATION,
    load: () => import('./completion.js'),
  },
]
