import { AppError } from '../core/errors.js'
import { counted, printableLine, quoted } from '../core/text.js'
import type { Cluster } from '../service/duplicates.js'
import { votesAfter } from '../service/lib/cells.js'
import { commandLine } from './lib/texts/commandline.js'
import { whyOf } from './similar.js'

/** A line of a plan: a post that is merged into another. Both are numbers, slugs or ids. */
export interface Planned {
  line: number
  post: string
  into: string
}

/** A title in a comment. */
const titleOf = (title: string): string => `"${printableLine(title)}"`

/** A plan that merges clusters, for a person to read and to change. */
export function planText(clusters: readonly Cluster[], file: string): string {
  const plan = commandLine(['posts', 'merge', '--plan', file === '-' ? 'FILE' : file])
  return [
    '# Posts that look like the same wish: a line merges the first post into the second.',
    '# Take out, change or add lines. What follows a # is ignored. Then look at what it would do, and do it:',
    `#   ${printableLine(plan)} --dry-run`,
    `#   ${printableLine(plan)}`,
    ...clusters.flatMap(({ into, posts }) => [
      '',
      `# ${titleOf(into.title)}${votesAfter(into)}`,
      ...posts.map((post) => `${post.number} -> ${into.number}  # ${titleOf(post.title)} into ${titleOf(into.title)}: ${whyOf(post)}`), // prettier-ignore
    ]),
    '',
  ].join('\n')
}

const LINE = /^(\S+)\s*->\s*(\S+)$/
/** An error message names at most this many invalid lines. */
const MOST_NAMED = 5

/** The last line of each circle of merges. */
function closing(merges: ReadonlyMap<string, Planned>): Planned[] {
  const [found, done] = [[] as Planned[], new Set<string>()]
  for (const start of merges.values()) {
    const way = new Map<string, Planned>()
    let at: Planned | undefined = start
    for (; at && !done.has(at.post) && !way.has(at.post); at = merges.get(at.into)) way.set(at.post, at)
    if (at && way.has(at.post)) {
      const all = [...way.values()]
      const circle = all.slice(all.indexOf(at))
      found.push(circle.reduce((last, each) => (each.line > last.line ? each : last)))
    }
    for (const post of way.keys()) done.add(post)
  }
  return found
}

/** The merges of a plan. Throws USAGE with the numbers of lines that say something else. */
export async function planIn(lines: AsyncIterable<string>, name: string): Promise<Planned[]> {
  const all: Planned[] = []
  const first = new Map<string, Planned>()
  const wrong: string[] = []
  let line = 0
  for await (const text of lines) {
    line += 1
    const said = text.replace(/#.*/su, '').trim()
    if (said === '') continue
    const [, post, into] = LINE.exec(said) ?? []
    if (post === undefined || into === undefined || post.includes('->') || into.includes('->')) {
      wrong.push(`Line ${line} of ${name} must be like "12 -> 7"; ${quoted(text.trim())} is not.`)
      continue
    }
    const before = first.get(post)
    if (before && before.into !== into) wrong.push(`Line ${line} of ${name} merges ${post} into ${into}, and line ${before.line} into ${before.into}.`) // prettier-ignore
    if (post === into) wrong.push(`Line ${line} of ${name} merges ${post} into itself.`)
    if (post !== into) first.set(post, before ?? { line, post, into })
    all.push({ line, post, into })
  }
  for (const each of closing(first)) wrong.push(`Line ${each.line} of ${name} merges ${each.post} into ${each.into}, which other lines merge into ${each.post}.`) // prettier-ignore
  if (wrong.length === 0) return all
  const more = wrong.length > MOST_NAMED ? ` ${counted(wrong.length - MOST_NAMED, 'more line')} cannot be read either.` : '' // prettier-ignore
  throw new AppError('USAGE', `${wrong.slice(0, MOST_NAMED).join(' ')}${more} Nothing was changed.`)
}
