import { AppError } from '../core/errors.js'
import { counted } from '../core/text.js'
import * as boards from '../service/boards.js'
import type { Call, Operation } from '../service/lib/operation.js'
import * as roadmaps from '../service/roadmaps.js'
import * as roles from '../service/roles.js'
import * as settings from '../service/settings.js'
import * as tags from '../service/tags.js'
import { LIST_NAMES, LISTS, type Entry, type ListName, type Value, type Workspace } from './workspacefile.js'
import { siteNow, type Present, type Site } from './workspacesite.js'

type AnyOperation = Operation<unknown, unknown, unknown>

/** The operations of each list, the field of its ids, and what one of its rows is called. */
const OPERATIONS = {
  boards: { noun: 'board', id: 'boardId', ...boards },
  roadmaps: { noun: 'roadmap', id: 'id', ...roadmaps },
  tags: { noun: 'tag', id: 'tagId', ...tags },
  roles: { noun: 'role', id: 'id', ...roles },
} as const

export interface FieldChange {
  field: string
  before: Value
  after: Value
}

/** A change that a workspace file asks for. */
export interface Step {
  change: 'create' | 'update' | 'delete' | 'move'
  noun: string
  name: string
  fields: FieldChange[]
  /** Posts and people that have what is changed; null where that cannot be. */
  posts: number | null
  people: number | null
  /** Whether it is private: what belonged to it may be public without it, also posts that no count has, as merged ones. */
  isPrivate?: boolean
}

type Runs = Step & {
  /** Whether a trial of this step alone says whether it can be done. */
  isAlone: boolean
  run(this: void, call: Call): Promise<unknown>
}

/** What makes the site as the file says, in the order in which it is done. */
export async function planOf(call: Call, wanted: Workspace): Promise<Runs[]> {
  const site = await siteNow(call)
  const steps: Runs[] = []
  const fields = changedIn(wanted.settings ?? {}, site.settings)
  if (fields.length > 0) steps.push({ ...step('update', 'settings', '', fields), run: (own) => own(settings.update, inputOf(fields)) }) // prettier-ignore
  for (const list of LIST_NAMES) steps.push(...(await changesIn(call, list, wanted[list], site)))
  const domains = wanted.blockedDomains?.map((domain) => domain.trim().toLowerCase()) ?? site.blockedDomains
  const [before, after] = [site.blockedDomains.toSorted(), [...new Set(domains)].toSorted()]
  if (before.join('\n') !== after.join('\n'))
    steps.push({
      ...step('update', 'blocked domains', '', [{ field: 'domains', before, after }]),
      run: (own) => own(settings.setBlockedDomains, { domains: after }),
    })
  for (const list of LIST_NAMES) steps.push(...(await deletionsIn(call, list, wanted[list], site.lists[list])))
  return [...steps, ...movesIn(wanted.roadmaps, site.lists.roadmaps)]
}

/** Throws USAGE where a plan deletes what posts or people have, or what hides them. */
export function assertUnused(steps: readonly Step[], flag: string): void {
  const used = steps.filter(
    (each) => each.change === 'delete' && ((each.posts ?? 0) + (each.people ?? 0) > 0 || each.isPrivate),
  )
  const [first] = used
  if (!first) return
  const what = used.map((each) => `${each.noun} "${each.name}" (${hasOf(each)})`).join(', ')
  throw new AppError('USAGE', `The file leaves out what is in use, and would delete it: ${what}. Add it to the file, or give ${flag}. Nothing was changed.`) // prettier-ignore
}

const hasOf = ({ posts, people, isPrivate }: Step): string =>
  [
    ...(isPrivate ? ['private'] : []),
    ...(posts ? [counted(posts, 'post')] : []),
    ...(people ? [counted(people, 'user')] : []),
  ].join(', ')

const step = (change: Step['change'], noun: string, name: string, fields: FieldChange[] = []) => ({ change, noun, name, fields, posts: null, people: null, isAlone: true }) // prettier-ignore

async function changesIn(
  call: Call,
  list: ListName,
  wanted: readonly Entry[] | undefined,
  site: Site,
): Promise<Runs[]> {
  const { noun, id, create, update } = OPERATIONS[list]
  const steps: Runs[] = []
  for (const entry of wanted ?? []) {
    const name = keyOf(list, entry)
    const there = site.lists[list].find((each) => keyOf(list, each.entry) === name)
    const fields = changedIn(entry, there?.entry ?? {})
    if (!there) {
      if (typeof entry.name !== 'string') throw new AppError('USAGE', `The new ${noun} "${name}" needs a name. Nothing was changed.`) // prettier-ignore
      const run = async (own: Call) => assertKept(list, name, await own(create as AnyOperation, inputOf(fields)))
      steps.push({ ...step('create', noun, name, fields), run })
    } else if (fields.length > 0) {
      const input = { [id]: there.id, partial: true, ...inputOf(fields) }
      steps.push({ ...step('update', noun, name, fields), ...(await touched(call, there)), run: (own) => own(update as AnyOperation, input) }) // prettier-ignore
    }
  }
  return steps
}

/** A new row is found again by what the file calls it. */
function assertKept(list: ListName, name: string, answer: unknown): void {
  const { key } = LISTS[list]
  const [row] = Object.values(answer as Record<string, Entry>)
  if (row?.[key] !== name)
    throw new AppError('USAGE', `Its ${key} would be "${String(row?.[key])}". Write that in the file.`)
}

async function deletionsIn(
  call: Call,
  list: ListName,
  wanted: readonly Entry[] | undefined,
  there: readonly Present[],
): Promise<Runs[]> {
  const { noun, id, remove } = OPERATIONS[list]
  const kept = new Set(wanted?.map((entry) => keyOf(list, entry)))
  const steps: Runs[] = []
  for (const each of wanted ? there : [])
    if (!kept.has(keyOf(list, each.entry))) {
      const posts = each.posts(call)
      steps.push({
        ...step('delete', noun, keyOf(list, each.entry)),
        ...(await touched(call, each)),
        isPrivate: each.entry.display === false,
        run: async (own) => {
          // Somebody may have given it to a post meanwhile
          const count = await posts
          if (list === 'boards')
            return own(boards.remove, { boardId: each.id, ...(count !== undefined && { ifPosts: count }) })
          if ((await each.posts(own)) !== count) throw changedMeanwhile()
          return own(remove as AnyOperation, { [id]: each.id })
        },
      })
    }
  return steps
}

export const changedMeanwhile = () =>
  new AppError('USAGE', 'The site changed meanwhile, and the plan with it. Nothing was changed. Run the command again.')

/** Roadmaps are shown in the order of the file. Those that are new come last until then. */
function movesIn(wanted: readonly Entry[] | undefined, there: readonly Present[]): Runs[] {
  const order = wanted?.map((entry) => keyOf('roadmaps', entry))
  if (!order) return []
  const present = there.map(({ entry }) => keyOf('roadmaps', entry)).filter((url) => order.includes(url))
  const before = [...present, ...order.filter((url) => !present.includes(url))]
  if (before.join(' ') === order.join(' ')) return []
  const run = async (call: Call) => {
    let now = before
    for (const [at, url] of order.entries()) {
      if (now[at] === url) continue
      await call(roadmaps.move, { roadmap: url, position: at + 1 })
      now = now.filter((each) => each !== url).toSpliced(at, 0, url)
    }
  }
  return [{ ...step('move', 'roadmaps', '', [{ field: 'order', before, after: order }]), isAlone: false, run }]
}

const touched = async (call: Call, { posts, people }: Present) => ({ posts: (await posts(call)) ?? null, people: (await people(call)) ?? null }) // prettier-ignore

const keyOf = (list: ListName, entry: Entry): string => String(entry[LISTS[list].key]).trim()

/** The fields of an entry that the site has otherwise, in its own form. */
const changedIn = (entry: Entry, present: Entry): FieldChange[] =>
  Object.entries(entry)
    .map(([field, value]) => ({ field, before: present[field] ?? null, after: stored(field, value) }))
    .filter(({ field, before, after }) => JSON.stringify(stored(field, before)) !== JSON.stringify(after))

/** A value as the site stores it, so that another way to write it is no change. */
function stored(field: string, value: Value): Value {
  if (Array.isArray(value)) return field === 'permissions' ? [...new Set(value)].toSorted() : value
  if (typeof value !== 'string') return value
  const text = value.trim()
  if (text === '') return null
  if (field === 'color' || field === 'accentColor') {
    const digits = text.replace(/^#/, '').toLowerCase()
    return digits.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits
  }
  // A time without a zone is another on each machine: the operation refuses it
  const isWhole = field === 'announcementUntil' && /T.*(Z|[+-]\d\d:\d\d)$/i.test(text)
  const time = isWhole ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? text : new Date(time).toISOString()
}

const inputOf = (fields: readonly FieldChange[]) => Object.fromEntries(fields.map(({ field, after }) => [field, after]))
