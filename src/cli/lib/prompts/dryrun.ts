import { printable } from '../../../core/text.js'
import { tell, type Terminal } from '../terminal/terminal.js'
import type { Confirmation } from './prompts.js'

/** What commands say that they did, and what a dry run says in its place. */
const VERBS: Readonly<Record<string, string>> = {
  Added: 'add',
  Blocked: 'block',
  Changed: 'change',
  Confirmed: 'confirm',
  Commented: 'comment',
  Created: 'create',
  Deleted: 'delete',
  Enabled: 'enable',
  Ended: 'end',
  Gave: 'give',
  Hid: 'hide',
  Kept: 'keep',
  Made: 'make',
  Marked: 'mark',
  Moved: 'move',
  Removed: 'remove',
  Renamed: 'rename',
  Reopened: 'reopen',
  Replaced: 'replace',
  Reported: 'report',
  Revoked: 'revoke',
  Sending: 'send',
  Set: 'set',
  Took: 'take',
  Unblocked: 'unblock',
  Updated: 'update',
  Voted: 'vote',
}

/** `Created board "Ideas".` as `Would create board "Ideas".` */
export function wouldHave(done: string): string {
  const [sentence = ''] = done.split('\n') // what follows tells what came of it
  const [first = '', ...rest] = sentence.split(' ')
  const verb = VERBS[first]
  return verb === undefined ? `Would succeed: ${sentence}` : `Would ${verb} ${rest.join(' ')}`
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
