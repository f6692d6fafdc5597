import { AppError } from '../../core/errors.js'
import { counted, printable, printableLines } from '../../core/text.js'
import { decide, list, type Item } from '../../service/moderation.js'
import { remove as removeComment } from '../../service/comments.js'
import type { Call } from '../../service/lib/operation.js'
import { remove as removePost } from '../../service/posts.js'
import { block, unblock } from '../../service/users.js'
import { ago } from './age.js'
import { nameOf } from './person.js'
import { withPrompts } from './prompts.js'
import { colors, hasColor, say, type ColorFlag, type Terminal } from './terminal.js'

const KEYS = { k: 'keep', s: 'spam', d: 'delete', b: 'block author', n: 'next', u: 'undo', q: 'quit' } as const
type Key = keyof typeof KEYS
/** After the last item, which can still be taken back. */
const LAST_KEYS = { u: KEYS.u, q: KEYS.q }

/** What a key does. A deletion waits in `later` until the next decision, so that it can be taken back. */
interface Decision {
  said: string
  /** Whether the next item is shown. */
  moves: boolean
  counts: boolean
  run?(this: void): Promise<unknown>
  undo?(this: void): Promise<unknown>
  later?(this: void): Promise<unknown>
  isFinal?: true
}

function decisionOf(key: Exclude<Key, 'u' | 'q'>, item: Item, call: Call): Decision {
  const { id, kind, author, post, is_spam } = item
  const decided = { moves: true, counts: true, undo: () => call(decide, { id, decision: 'reopen', is_spam }) }
  switch (key) {
    case 'k':
      return { ...decided, said: 'Kept.', run: () => call(decide, { id, decision: 'keep' }) }
    case 's':
      return { ...decided, said: 'Hidden as spam.', run: () => call(decide, { id, decision: 'spam' }) }
    case 'd':
      return {
        said: 'Deleted as soon as you decide about another one. Press u to take it back.',
        moves: true,
        counts: true,
        later: () =>
          kind === 'post' ? call(removePost, { id }) : call(removeComment, { post_id: post.postId, comment_id: id }),
      }
    case 'b':
      return {
        said: `Blocked ${printable(nameOf(author))}. Now decide about the ${kind}.`,
        moves: false,
        counts: false,
        run: () => call(block, { user: author.userId }),
        undo: () => call(unblock, { user: author.userId }),
      }
    case 'n':
      return { said: 'Left for later.', moves: true, counts: false }
  }
}

const LINES = 12

/** Shows what waits, one after the other, and asks for a decision on each: one key, without Enter. */
export async function moderate(terminal: Terminal, flags: ColorFlag, call: Call): Promise<void> {
  const paint = colors(hasColor(terminal, terminal.stderr, flags))
  const { items, total } = await call(list, { limit: 100 })
  if (items.length === 0) return say(terminal, 'Nothing waits for a decision.')
  const history: (Decision & { at: number })[] = []
  const count = () => history.filter(({ counts }) => counts).length
  let at = 0

  /** Runs a deletion that waits: from then on it cannot be taken back. */
  async function settle(): Promise<void> {
    const last = history.at(-1)
    if (!last?.later) return
    const { later } = last
    delete last.later
    last.isFinal = true
    await later()
  }

  async function decideOn(key: Exclude<Key, 'q'>, item: Item): Promise<string> {
    if (key === 'u') return undo()
    await settle()
    const decision = decisionOf(key, item, call)
    await decision.run?.()
    history.push({ ...decision, at })
    if (decision.moves) at += 1
    return decision.said
  }

  async function undo(): Promise<string> {
    const last = history.at(-1)
    if (!last) return 'There is nothing to take back.'
    if (last.isFinal) return 'A deletion that was carried out cannot be taken back.'
    await last.undo?.()
    history.pop()
    at = last.at
    return 'Taken back.'
  }

  for (;;) {
    const item = items[at]
    if (item) say(terminal, shown(item, { terminal, paint, place: `${at + 1} of ${total}` }))
    const key = await ask(terminal, item ? KEYS : LAST_KEYS).catch((error: unknown) => {
      throw interrupted(error, count(), history.at(-1)?.later !== undefined)
    })
    if (key === 'q') break
    say(terminal, await (item ? decideOn(key, item) : undo()).catch(explained))
  }
  await settle()
  const more = at === items.length && total > at ? ` ${total - at} more wait: run the command again.` : ''
  say(terminal, `Decided about ${counted(count(), 'item')}.${more}`)
}

function interrupted(error: unknown, count: number, pending: boolean): unknown {
  if (!(error instanceof AppError) || error.code !== 'INTERRUPTED') return error
  const kept = pending ? ' The last deletion was not carried out.' : ''
  return new AppError('INTERRUPTED', `Interrupted after ${counted(pending ? count - 1 : count, 'decision')}.${kept}`)
}

/** A decision that was refused, or about something that is gone, ends nothing. */
function explained(error: unknown): string {
  if (error instanceof AppError && error.exit !== 130 && error.exit !== 6)
    return `${error.message} Nothing was changed.`
  throw error
}

function shown(
  item: Item,
  { terminal, paint, place }: { terminal: Terminal; paint: ReturnType<typeof colors>; place: string },
): string {
  const now = terminal.now()
  const where =
    item.kind === 'post'
      ? `Post #${item.post.number} "${item.post.title}"`
      : `Comment on #${item.post.number} "${item.post.title}"`
  const marks = [...item.reasons, item.is_internal && 'internal', item.author_is_blocked && !item.reasons.includes('blocked') && 'blocked'] // prettier-ignore
  const lines = printableLines(item.text ?? '').split('\n')
  const about = [
    `by ${nameOf(item.author)} (@${item.author.username})`,
    ago(item.created_at, now),
    ...(item.board ? [`board ${item.board.name}`] : []),
  ]
  return [
    '',
    `${place}  ${printable(where)}  ${paint.red(marks.filter(Boolean).join(', '))}`,
    paint.dim(printable(about.join(', '))),
    ...(item.text ? ['', ...lines.slice(0, LINES)] : []),
    ...(lines.length > LINES ? [paint.dim(`… ${counted(lines.length - LINES, 'more line')}`)] : []),
    ...(item.reports.length > 0 ? [''] : []),
    ...item.reports.map(({ reason, person, created_at: at }) =>
      printable(`Reported by ${nameOf(person)}, ${ago(at, now)}${reason ? `: ${reason}` : ''}`),
    ),
    '',
  ].join('\n')
}

const legendOf = (keys: Partial<typeof KEYS>): string =>
  Object.entries(keys)
    .map(([key, name]) => (name.startsWith(key) ? `[${key}]${name.slice(1)}` : `[${key}] ${name}`))
    .join('  ')

/** One key of the legend. */
async function ask(terminal: Terminal, keys: Partial<typeof KEYS>): Promise<Key> {
  const { createPrompt, useKeypress, useState } = await import('@inquirer/core')
  const prompt = createPrompt<Key, object>((_config, done) => {
    const [chosen, choose] = useState<Key | undefined>(undefined)
    useKeypress(({ name }) => {
      if (!Object.hasOwn(keys, name)) return
      choose(name as Key)
      done(name as Key)
    })
    return chosen === undefined ? legendOf(keys) : KEYS[chosen]
  })
  return withPrompts(terminal, (_prompts, streams) => prompt({}, streams))
}
