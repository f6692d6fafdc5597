import type { Command } from 'commander'
import type { Cli } from './lib/session.js'

/** One word after `feedbackctl`. The module behind it is loaded only when the word is typed. */
export interface Branch {
  name: string
  summary: string
  group: string
  load(this: void): Promise<{ register(this: void, command: Command, cli: Cli): void }>
}

const SITE = 'The site:'
const CONTENT = 'What is on it:'
const PEOPLE = 'Who is on it:'
const OPERATION = 'Running it:'

/** The command tree, as data: everything `--help` needs without loading a command. */
export const branches: readonly Branch[] = [
  {
    name: 'setup',
    summary: 'Create the owner account and set the site up',
    group: SITE,
    load: () => import('./setup.js'),
  },
  {
    name: 'settings',
    summary: 'Show and change the settings of the site',
    group: SITE,
    load: () => import('./settings.js'),
  },
  { name: 'labs', summary: 'Switch features on that are tried out', group: SITE, load: () => import('./labs.js') },
  { name: 'demo', summary: 'Show a throwaway site', group: SITE, load: () => import('./demo.js') },
  { name: 'posts', summary: 'Work with posts', group: CONTENT, load: () => import('./posts.js') },
  {
    name: 'votes',
    summary: 'See who voted, vote and take votes back',
    group: CONTENT,
    load: () => import('./votes.js'),
  },
  {
    name: 'comments',
    summary: 'Read, write and moderate comments',
    group: CONTENT,
    load: () => import('./comments.js'),
  },
  { name: 'boards', summary: 'Work with boards', group: CONTENT, load: () => import('./boards.js') },
  {
    name: 'roadmaps',
    summary: 'Work with roadmaps and their order',
    group: CONTENT,
    load: () => import('./roadmaps.js'),
  },
  {
    name: 'users',
    summary: 'Work with people: invite, block, sign out, delete',
    group: PEOPLE,
    load: () => import('./users.js'),
  },
  {
    name: 'roles',
    summary: 'Work with roles, and give them to people',
    group: PEOPLE,
    load: () => import('./roles.js'),
  },
  {
    name: 'account',
    summary: 'Sign up, confirm an address, choose a password',
    group: PEOPLE,
    load: () => import('./account.js'),
  },
  {
    name: 'login',
    summary: 'Sign in to a server, for commands with --server',
    group: PEOPLE,
    load: () => import('./login.js'),
  },
  { name: 'whoami', summary: 'Show in whose name commands work', group: PEOPLE, load: () => import('./whoami.js') },
  {
    name: 'serve',
    summary: 'Serve the API and deliver mail until stopped',
    group: OPERATION,
    load: () => import('./serve.js'),
  },
  { name: 'events', summary: 'Show what was changed and by whom', group: OPERATION, load: () => import('./events.js') },
  {
    name: 'migrate',
    summary: 'Bring the database schema up to date',
    group: OPERATION,
    load: () => import('./migrate.js'),
  },
  { name: 'config', summary: 'Show the settings in force', group: OPERATION, load: () => import('./config.js') },
]
