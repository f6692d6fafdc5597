import { AppError } from '../core/errors.js'
import { counted, printable, printableLines } from '../core/text.js'
import { remove as removeComment } from '../service/comments.js'
import { errorIn } from '../service/lib/bulk.js'
import type { Call } from '../service/lib/operation.js'
import { merge, unmerge } from '../service/merges.js'
import { decide, list, type Item } from '../service/moderation.js'
import { remove as removePost } from '../service/posts.js'
import { block, unblock } from '../service/users.js'
import { whyOf } from './similar.js'
import { nameOf } from './lib/output/person.js'
import { withPrompts } from './lib/prompts/prompts.js'
import { colors, hasColor, say, widthOf, type ColorFlag, type Terminal } from './lib/terminal/terminal.js'
import { ago } from './lib/texts/age.js'
import { wrapped } from './lib/texts/wrap.js'

const KEYS = {
  k: 'keep',
  s: 'spam',
  d: 'delete',
  b: 'block author',
  i: 'into the earlier post',
  n: 'next',
  m: 'more',
  u: 'undo',
  q: 'quit',
} as const
type Key = keyof typeof KEYS
/** The keys of an item: its whole text may be shown already, and it may repeat no earlier post that it can go into. */
const keysFor = ({ repeats }: Item, isCut: boolean): Partial<typeof KEYS> =>
  Object.fromEntries(
    Object.entries(KEYS).filter(([key]) => (key !== 'm' || isCut) && (key !== 'i' || repeats?.is_mergeable)),
  )
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

function decisionOf(key: Exclude<Key, 'm' | 'u' | 'q'>, item: Item, call: Call): Decision {
  const { id, kind, author, post, is_spam, is_held } = item
  const seen = { id, if_updated_at: item.updated_at } // who decides has read this text, and no other
  const what = kind === 'post' ? `#${post.number}` : `the comment on #${post.number}`
  const decided = { moves: true, counts: true, undo: () => call(decide, { id, decision: 'reopen', is_spam, is_held }) }
  switch (key) {
    case 'k':
      return { ...decided, said: `Kept ${what}.`, run: () => call(decide, { ...seen, decision: 'keep' }) }
    case 's':
      return { ...decided, said: `Marked ${what} as spam.`, run: () => call(decide, { ...seen, decision: 'spam' }) }
    case 'd':
      return {
        said: `Deleted ${what}. Press u to undo, before the next decision.`,
        moves: true,
        counts: true,
        later: () =>
          kind === 'post' ? call(removePost, { id }) : call(removeComment, { post_id: post.postId, comment_id: id }),
      }
    case 'b':
      return {
        said: `Blocked ${printable(nameOf(author))}. Now decide about the ${kind}.`,
        moves: false,
        counts: true,
        run: () => call(block, { user: author.userId }),
        undo: () => call(unblock, { user: author.userId }),
      }
    case 'i':
      return {
        said: `Merged ${what} into #${item.repeats?.number}.`,
        moves: true,
        counts: true,
        run: async () => refusedIn(await call(merge, { ids: [id], into: String(item.repeats?.number), if_updated_at: [item.updated_at] })), // prettier-ignore
        undo: () => call(unmerge, { ids: [id] }),
      }
    case 'n':
      return { said: `Left ${what} for later.`, moves: true, counts: false }
  }
}

/** Of one post, what refuses it refuses the whole. */
function refusedIn({ outcomes }: { outcomes: readonly { error?: Parameters<typeof errorIn>[0] }[] }): void {
  const error = outcomes[0]?.error
  if (error) throw errorIn(error)
}

/** Lines of the screen that the heading, the reports and the keys need. */
const LINES_AROUND = 9
const MIN_LINES = 4

/** Shows what waits, one after the other, and asks for a decision on each: one key, without Enter. */
export async function moderate(terminal: Terminal, flags: ColorFlag, call: Call): Promise<void> {
  const paint = colors(hasColor(terminal, terminal.stderr, flags))
  const { items, total } = await call(list, { limit: 100 })
  if (items.length === 0) return say(terminal, 'Nothing waits for a decision.')
  const history: (Decision & { at: number })[] = []
  const count = () => history.filter(({ counts }) => counts).length
  let at = 0
  let isWhole = false // whether the text is shown to its end

  /** Runs a deletion that waits: from then on it cannot be taken back. */
  async function settle(): Promise<void> {
    const last = history.at(-1)
    if (!last?.later) return
    const { later } = last
    delete last.later
    last.isFinal = true
    await later()
  }

  async function decideOn(key: Exclude<Key, 'm' | 'q'>, item: Item): Promise<string> {
    if (key === 'u') return undo()
    await settle()
    const decision = decisionOf(key, item, call)
    try {
      await decision.run?.()
    } catch (error) {
      if (error instanceof AppError && error.code === 'CONTENT_CHANGED') return reload(item)
      throw error
    }
    history.push({ ...decision, at })
    if (decision.moves) at += 1
    return decision.said
  }

  /** Shows the present text of one that was changed, to decide about that. */
  async function reload(item: Item): Promise<string> {
    const { items: present } = await call(list, { limit: 100 })
    const changed = present.find(({ id }) => id === item.id)
    if (changed) items[at] = changed
    else at += 1
    return changed
      ? 'It was changed meanwhile, so nothing was decided. This is its text now.'
      : 'It was changed meanwhile, and waits no longer.'
  }

  async function undo(): Promise<string> {
    const last = history.at(-1)
    if (!last) return 'There is nothing to undo.'
    if (last.isFinal) return 'A deletion before the last decision cannot be undone.'
    await last.undo?.()
    history.pop()
    at = last.at
    return 'Undone.'
  }

  for (;;) {
    const item = items[at]
    const place = `${at + 1} of ${total}`
    const view: ShownItem | undefined = item && shown(item, { terminal, paint, place, isWhole })
    if (view) say(terminal, view.text)
    const keys: Partial<typeof KEYS> = item === undefined || view === undefined ? LAST_KEYS : keysFor(item, view.isCut)
    const key: Key = await ask(terminal, keys).catch((error: unknown) => {
      throw interrupted(error, count(), history.at(-1)?.later !== undefined)
    })
    if (key === 'q') break
    isWhole = key === 'm'
    if (key === 'm') continue
    say(terminal, await (item ? decideOn(key, item) : undo()).catch(explained))
  }
  await settle()
  const more = at === items.length && total > at ? ` ${total - at} more wait. Run the command again.` : ''
  say(terminal, `Stopped. ${counted(count(), 'decision')} saved.${more}`)
}

function interrupted(error: unknown, count: number, pending: boolean): unknown {
  if (!(error instanceof AppError) || error.code !== 'INTERRUPTED') return error
  const kept = pending ? ' The last deletion was not carried out.' : ''
  return new AppError('INTERRUPTED', `Interrupted. ${counted(pending ? count - 1 : count, 'decision')} saved.${kept}`)
}

/** A decision that was refused, or about something that is gone, ends nothing. */
function explained(error: unknown): string {
  if (error instanceof AppError && error.exit !== 130 && error.exit !== 6)
    return `${error.message} Nothing was changed.`
  throw error
}

interface ShownItem {
  text: string
  /** Whether the text has more lines than are shown. */
  isCut: boolean
}

function shown(
  item: Item,
  {
    terminal,
    paint,
    place,
    isWhole,
  }: { terminal: Terminal; paint: ReturnType<typeof colors>; place: string; isWhole: boolean },
): ShownItem {
  const now = terminal.now()
  const where =
    item.kind === 'post'
      ? `Post #${item.post.number} "${item.post.title}"`
      : `Comment on #${item.post.number} "${item.post.title}"`
  const reasons = item.reasons.map((reason) => (reason === 'edited' ? 'edited later' : reason))
  const marks = [...reasons, item.is_internal && 'internal', item.author_is_blocked && !item.reasons.includes('blocked') && 'blocked'] // prettier-ignore
  const { columns, rows } = { columns: widthOf(terminal.stderr), rows: terminal.stderr.rows || 24 }
  const lines = linesOf(printableLines(item.text ?? ''), columns)
  const most = isWhole
    ? Infinity
    : Math.max(MIN_LINES, rows - LINES_AROUND - item.reports.length - (item.repeats ? 2 : 0))
  const cut = lines.length > most + 1 ? lines.length - most : 0
  const about = [
    `by ${nameOf(item.author)} (@${item.author.username})`,
    ago(item.created_at, now),
    ...(item.board ? [`board ${item.board.name}`] : []),
  ]
  const heading = [
    `${place}  ${printable(where)}  ${paint.red(marks.filter(Boolean).join(', '))}`,
    paint.dim(wrapped(printable(about.join(', ')), columns)),
  ]
  const text = [
    '',
    ...heading,
    ...(item.text ? ['', ...lines.slice(0, lines.length - cut)] : []),
    ...(cut > 0 ? [paint.dim(`… ${counted(cut, 'more line')}: press m`)] : []),
    // The heading of a long text has left the screen
    ...(isWhole ? ['', ...heading] : []),
    ...(item.reports.length > 0 ? [''] : []),
    ...(item.repeats ? ['', printable(repeatOf(item.repeats))] : []),
    ...item.reports.map(({ reason, person, created_at: at }) =>
      printable(`Reported by ${nameOf(person)}, ${ago(at, now)}${reason ? `: ${reason}` : ''}`),
    ),
    '',
  ].join('\n')
  return { text, isCut: cut > 0 }
}

/** Where one key does not merge into it, others may see it than those who see the item. */
function repeatOf(repeats: NonNullable<Item['repeats']>): string {
  const { number, title, board, is_private: isPrivate, is_held: isHeld, is_mergeable: isMergeable } = repeats
  const place = [board && `board ${board.name}`, isPrivate && 'private', isHeld && 'waits for a look']
    .filter(Boolean)
    .join(', ')
  return `May repeat #${number} "${title}"${isMergeable || place === '' ? '' : ` (${place})`}: ${whyOf(repeats)}`
}

/** The lines of a text as the terminal shows them. */
const linesOf = (text: string, columns: number): string[] =>
  text.split('\n').flatMap((line) => wrapped(line, columns).split('\n'))

/** The keys, in lines that break between two of them. */
function legendOf(keys: Partial<typeof KEYS>, columns: number): string {
  const all = Object.entries(keys).map(([key, name]) => `[${key}]${name.slice(1)}`)
  return wrapped(all.map((each) => `${each.replace(' ', GLUE)} `).join(' '), columns)
    .replaceAll(GLUE, ' ')
    .replaceAll(/ +$/gm, '')
}

/** Stands for a space at which no line breaks. */
const GLUE = '\u00a0'

/** One key of the legend. */
async function ask(terminal: Terminal, keys: Partial<typeof KEYS>): Promise<Key> {
  const { createPrompt, useKeypress, useState } = await import('@inquirer/core')
  const prompt = createPrompt<Key, object>((_config, done) => {
    const [chosen, choose] = useState<Key | undefined>(undefined)
    const [isUnknown, setUnknown] = useState(false)
    useKeypress(({ name }) => {
      if (!Object.hasOwn(keys, name)) return setUnknown(true)
      choose(name as Key)
      done(name as Key)
    })
    const legend = legendOf(keys, widthOf(terminal.stderr))
    const names = Object.keys(keys)
    const hint = `Press ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`
    if (chosen !== undefined) return KEYS[chosen]
    return isUnknown ? `${legend}\n${hint}` : legend
  })
  return withPrompts(terminal, (_prompts, streams) => prompt({}, streams))
}
