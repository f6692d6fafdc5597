import type { Command } from 'commander'
import type { Cli } from './session.js'

/** One word after `feedbackctl`. The module behind it is loaded only when the word is typed. */
export interface Branch {
  name: string
  summary: string
  group: string
  load(this: void): Promise<{ register(this: void, command: Command, cli: Cli): void }>
}

const SITE = 'The site:'
const CONTENT = 'What is on it:'
const OPERATION = 'Running it:'

/** The command tree, as data: everything `--help` needs without loading a command. */
export const branches: readonly Branch[] = [
  { name: 'setup', summary: 'Create the owner account and set the site up', group: SITE, load: () => import('./setup.js') },
  { name: 'demo', summary: 'Show a throwaway site with 23 boards', group: SITE, load: () => import('./demo.js') },
  { name: 'boards', summary: 'Work with boards', group: CONTENT, load: () => import('./boards.js') },
  { name: 'serve', summary: 'Serve the API and deliver mail until stopped', group: OPERATION, load: () => import('./serve.js') },
  { name: 'migrate', summary: 'Bring the database schema up to date', group: OPERATION, load: () => import('./migrate.js') },
  { name: 'config', summary: 'Show the settings in force', group: OPERATION, load: () => import('./config.js') },
  { name: 'login', summary: 'Sign in to a server, for commands with --server', group: OPERATION, load: () => import('./login.js') },
]
