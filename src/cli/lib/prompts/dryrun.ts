import { printable } from '../../../core/text.js'
import { tell, type Terminal } from '../terminal/terminal.js'
import type { Confirmation } from './prompts.js'

/** Verbs of messages about a change, and the same for a dry run. */
const VERBS = {
  Added: 'add',
  Blocked: 'block',
  Changed: 'change',
  Confirmed: 'confirm',
  Commented: 'comment',
  Created: 'create',
  Deleted: 'delete',
  Enabled: 'enable',
  Ended: 'end',
  Followed: 'follow',
  Gave: 'give',
  Hid: 'hide',
  Invited: 'invite',
  Kept: 'keep',
  Made: 'make',
  Marked: 'mark',
  Merged: 'merge',
  Moved: 'move',
  Removed: 'remove',
  Renamed: 'rename',
  Reopened: 'reopen',
  Replaced: 'replace',
  Reported: 'report',
  Revoked: 'revoke',
  Sending: 'send',
  Sent: 'send',
  Set: 'set',
  Snoozed: 'snooze',
  Took: 'take',
  Unblocked: 'unblock',
  Unfollowed: 'unfollow',
  Unmarked: 'unmark',
  Updated: 'update',
  Voted: 'vote',
  Woke: 'wake',
} as const

/** What a command says that it did. It begins with a verb, so that a dry run can say what the command would do. */
export type Done = `${keyof typeof VERBS} ${string}` | Stated

type Stated = string & { readonly isStated: true }

/** A sentence that begins with no verb. A dry run says that the command would succeed, and repeats the sentence. */
export const stated = (sentence: string): Stated => sentence as Stated

const isVerb = (word: string): word is keyof typeof VERBS => Object.hasOwn(VERBS, word)

/** `Created board "Ideas".` as `Would create board "Ideas".` */
export function wouldHave(done: Done): string {
  const [sentence = ''] = done.split('\n') // what follows tells what came of it
  const [first = '', ...rest] = sentence.split(' ')
  return isVerb(first) ? `Would ${VERBS[first]} ${rest.join(' ')}` : `Would succeed: ${sentence}`
}

/** The question before a loss, as what would be lost: `Delete board "Ideas"? …` as `Would delete board "Ideas". …` */
export function wouldLose(confirmation: Confirmation): string {
  const question = typeof confirmation === 'string' ? confirmation : confirmation.question
  const end = question.lastIndexOf('?')
  return `Would ${question.charAt(0).toLowerCase()}${question.slice(1, end)}.${question.slice(end + 1)}`
}

/** Prints each step of a dry run as `Would …`. Skips undefined steps. */
export function tellPlan(terminal: Terminal, plan: readonly (string | undefined)[]): void {
  for (const each of plan) if (each !== undefined) tell(terminal, printable(`Would ${each}.`))
}
