import type { Confirmation } from './prompts.js'

/** What commands say that they did, and what a dry run says in its place. */
const VERBS: Readonly<Record<string, string>> = {
  Added: 'add',
  Blocked: 'block',
  Changed: 'change',
  Commented: 'comment',
  Created: 'create',
  Deleted: 'delete',
  Ended: 'end',
  Gave: 'give',
  Hid: 'hide',
  Kept: 'keep',
  Marked: 'mark',
  Moved: 'move',
  Removed: 'remove',
  Reopened: 'reopen',
  Reported: 'report',
  Revoked: 'revoke',
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
  return verb === undefined ? `Dry run, nothing was changed: ${sentence}` : `Would ${verb} ${rest.join(' ')}`
}

/** The question before a loss, as what would be lost: `Delete board "Ideas"? …` as `Would delete board "Ideas". …` */
export function wouldLose(confirmation: Confirmation): string {
  const question = typeof confirmation === 'string' ? confirmation : confirmation.question
  const end = question.lastIndexOf('?')
  return `Would ${question.charAt(0).toLowerCase()}${question.slice(1, end)}.${question.slice(end + 1)}`
}
