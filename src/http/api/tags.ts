import type { AnyOperation } from '../../service/lib/operation.js'

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  site: 'Setup of the site, and its state',
  auth: 'Sign-in, sign-up, and what mailed links do',
  users: 'Your profile, and the accounts of the site',
  account: 'The data of your account, and its deletion',
  identities: 'The ways to sign in to your account',
  totp: 'The second factor of your account',
  sessions: 'The sessions of your account',
  keys: 'API keys for programs',
  invitations: 'Invitations to the site',
  posts: 'Feedback, and where it moved',
  imports: 'Imports from other products, and of a whole site',
  exports: 'The site, to take out',
  search: 'Search in posts and comments',
  moderation: 'Reports, and the queue of the moderators',
  undo: 'Taking back what one request changed',
  notifications: 'Notifications of your account',
  views: 'Saved filters of posts',
  votes: 'Votes for posts',
  comments: 'Comments on posts',
  images: 'Images in posts and comments',
  boards: 'Boards, which group posts by subject',
  roadmaps: 'Roadmaps, which say what happens to posts',
  tags: 'Tags of posts',
  roles: 'Roles, and the permissions that they give',
  settings: 'Settings of the site',
  legal: 'Imprint, privacy policy and terms of the site',
  labs: 'Experimental features',
  backups: 'Backups of the site, in the folder of the server',
  mails: 'Mails that wait to be sent',
  names: 'Names and short ids',
  events: 'The event log',
  audit: 'Check of the event log',
}

/** The noun of an operation. */
export const tagOf = ({ id }: AnyOperation): string => id.split('.')[0] ?? id

/** The tags of the API document, in the order of the operations. */
export const tags = (operations: readonly AnyOperation[]): { name: string; description?: string }[] =>
  [...new Set(operations.map(tagOf))].map((name) => {
    const description = DESCRIPTIONS[name]
    return { name, ...(description !== undefined && { description }) }
  })
