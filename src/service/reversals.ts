import { EDITED, isCut, isRecorded, valueOf, type DetailedNoun, type FieldChange } from '../core/details.js'
import { NOUNS, type Action } from '../core/nouns.js'
import { effectiveWays } from '../core/notificationways.js'
import { searchKey } from '../core/text.js'
import { findComment } from '../db/comments.js'
import { stateBefore } from '../db/details.js'
import { lockRoadmapOrder } from '../db/roadmaps.js'
import { permissionsOfRole } from '../db/roles.js'
import { lockSettings } from '../db/settings.js'
import { listTags, tagsOf } from '../db/tags.js'
import * as answers from './answers.js'
import { setBlockedDomains } from './blockeddomains.js'
import * as boards from './boards.js'
import * as comments from './comments.js'
import * as labs from './labs.js'
import type { Context } from './lib/context.js'
import {
  changesIn,
  stepOf,
  type Final,
  type Reversal,
  type Reversing,
  type Step,
  type Undone,
} from './lib/reversing.js'
import * as notificationSettings from './notificationsettings.js'
import * as posts from './posts.js'
import { tag } from './posttags.js'
import * as roadmaps from './roadmaps.js'
import * as roles from './roles.js'
import * as settings from './settings.js'
import * as tags from './tags.js'
import { TOGGLES } from './toggles.js'

type Value = FieldChange['before']
type Values = Readonly<Record<string, Value>>

/** How changes of fields are taken back. */
interface Fields {
  noun: DetailedNoun
  fields: readonly string[]
  /** Those that no later event of the row need have changed, or that the site has in another form. */
  loose?: readonly string[]
  /** The events that change them. */
  actions: readonly Action[]
  steps(this: void, ctx: Context, event: Undone, before: Values): Promise<readonly Step[]>
}

const ofNoun = (noun: DetailedNoun): string[] => Object.keys(NOUNS[noun].details)

/** An empty text stands for none. */
const texts = (before: Values, fields: readonly string[]) =>
  Object.fromEntries(fields.flatMap((field) => (field in before ? [[field, before[field] ?? '']] : [])))

const parsed = (json: Value | undefined, otherwise: string): unknown =>
  json === undefined ? undefined : JSON.parse(String(json ?? otherwise))

const LISTS = ['headerLinks', 'footerLinks']
const APART = ['labs', 'notificationWays', 'blockedDomains']

const site: Fields = {
  noun: 'site',
  fields: ofNoun('site'),
  loose: APART,
  actions: ['site.updated'],
  async steps(_ctx, _event, before) {
    const own = Object.keys(before).filter((field) => ![...APART, ...LISTS].includes(field))
    const lists = Object.fromEntries(LISTS.flatMap((field) => (field in before ? [[field, parsed(before[field], '[]')]] : []))) // prettier-ignore
    const input = { ...texts(before, own), ...lists }
    const on = parsed(before.labs, '{}') as { voteOnBehalf?: boolean } | undefined
    return [
      ...(Object.keys(input).length > 0 ? [stepOf(settings.update, input)] : []),
      ...(on ? [stepOf(labs.update, { voteOnBehalf: on.voteOnBehalf === true })] : []),
      ...('notificationWays' in before
        ? [stepOf(notificationSettings.updateSite, effectiveWays(String(before.notificationWays ?? '{}')))]
        : []),
      ...('blockedDomains' in before
        ? [stepOf(setBlockedDomains, { domains: parsed(before.blockedDomains, '[]') })]
        : []),
    ]
  },
}

const FIELDS: Readonly<Record<string, Fields>> = {
  'board.updated': {
    noun: 'board',
    fields: ofNoun('board'),
    actions: ['board.updated'],
    steps: async (_ctx, { subject_id: boardId }, before) => [stepOf(boards.update, { boardId, partial: true, ...before })], // prettier-ignore
  },
  'roadmap.updated': {
    noun: 'roadmap',
    fields: ofNoun('roadmap').filter((field) => field !== 'index'),
    actions: ['roadmap.updated'],
    steps: async (_ctx, { subject_id: id }, before) => [stepOf(roadmaps.update, { id, partial: true, ...before })],
  },
  'roadmap.moved': {
    noun: 'roadmap',
    fields: ['index'],
    loose: ['index'], // the order is what counts
    actions: ['roadmap.moved', 'roadmap.created', 'roadmap.deleted'],
    async steps({ db }, { subject_id: id, details }, before) {
      const [was, is] = [Number(before.index), Number(details.find(({ field }) => field === 'index')?.after)]
      const others = (await lockRoadmapOrder(db)).filter((row) => row.id !== id)
      const above = others.filter(({ index }) => (was > is ? index <= was : index < was)) // those between have moved
      return [stepOf(roadmaps.move, { roadmap: id, position: above.length + 1 })]
    },
  },
  'tag.updated': {
    noun: 'tag',
    fields: ofNoun('tag'),
    actions: ['tag.updated'],
    steps: async (_ctx, { subject_id: tagId }, before) => [stepOf(tags.update, { tagId, partial: true, ...before })],
  },
  'role.updated': {
    noun: 'role',
    fields: [...ofNoun('role'), 'permissions'],
    actions: ['role.updated'],
    async steps(_ctx, { subject_id: id }, { permissions, ...before }) {
      const list = permissions === undefined ? {} : { permissions: String(permissions).split(' ').filter(Boolean) }
      return [stepOf(roles.update, { id, partial: true, ...before, ...texts(before, ['description']), ...list })]
    },
  },
  'post.updated': {
    noun: 'post',
    fields: ['title', 'boardId', 'roadmap_id', 'pinned', 'locked'],
    actions: ['post.updated'],
    // An undo is quiet: people were told of the mistake already
    steps: async (_ctx, { subject_id: id }, { roadmap_id: roadmapId, ...before }) => [
      stepOf(posts.update, {
        id,
        partial: true,
        quiet: true,
        ...before,
        ...(roadmapId !== undefined && { roadmapId }),
      }),
    ],
  },
  'comment.updated': {
    noun: 'comment',
    fields: ['is_internal', 'official'],
    actions: ['comment.updated'],
    async steps({ db }, { subject_id: id }, { official, ...before }) {
      const inThread = { post_id: (await findComment(db, id))?.post_id ?? '', comment_id: id }
      return [
        ...(Object.keys(before).length > 0 ? [stepOf(comments.update, { ...inThread, partial: true, ...before })] : []),
        ...(official === undefined ? [] : [stepOf(official === null ? answers.unanswer : answers.answer, inThread)]),
      ]
    },
  },
  'site.updated': site,
}

/** Why an event cannot be taken back, whatever the state of the site. */
export function finalOf({ action, details }: Pick<Undone, 'action' | 'details'>): Final | undefined {
  const [, verb = ''] = action.split('.')
  if (action in TOGGLES) return undefined
  if (DECIDING.includes(verb) || details.some(({ field }) => field === 'is_spam')) return 'decided'
  if (CREATING.includes(verb)) return 'created'
  if (DELETING.includes(verb)) return 'deleted'
  const changes = changesIn(details)
  if (changes.length === 0) return ['updated', 'tagged'].includes(verb) ? 'unkept' : 'happened'
  if (changes.some(({ field, before }) => field === EDITED.field && before === null)) return 'text'
  if (changes.some(({ before, after }) => isCut(before) || isCut(after))) return 'cut' // or a newer change would be lost unseen
  if (action === 'post.tagged') return undefined
  const known = FIELDS[action]?.fields
  if (!known) return 'happened'
  return changes.every(({ field }) => known.includes(field)) ? undefined : 'unkept'
}

/** What was hidden must not come back by an undo that knows less than the queue. */
const DECIDING = ['kept', 'marked_spam', 'reopened']
const DELETING = ['deleted', 'revoked', 'unlinked', 'ended', 'signed_out', 'invitation_revoked', 'merged']
const CREATING = ['created', 'signed_up', 'linked', 'imported']

/** How an event is taken back. Called in a transaction, and locks what the event is about. */
export const reversalOf: Reversing = async (ctx, event) => {
  const final = finalOf(event)
  if (final) return final
  const toggle = TOGGLES[event.action]
  if (toggle) return toggle(ctx, event)
  const fields = FIELDS[event.action]
  return fields ? setBack(ctx, event, fields) : retagged(ctx, event)
}

async function setBack(ctx: Context, event: Undone, way: Fields): Promise<Reversal> {
  const changes = changesIn(event.details)
  const is = async (side: 'before' | 'after', checked: readonly FieldChange[]): Promise<boolean> => {
    const now = await stateOf(ctx, way.noun, event.subject_id)
    return now !== undefined && checked.every((each) => isRecorded(now(each.field), each[side]))
  }
  const strict = changes.filter(({ field }) => !way.loose?.includes(field))
  const before = Object.fromEntries(changes.map((each) => [each.field, each.before]))
  return {
    steps: await way.steps(ctx, event, before),
    rivals: {
      actions: way.actions,
      ofAll: event.action === 'roadmap.moved',
      ...(event.action !== 'roadmap.moved' && { fields: changes.map(({ field }) => field) }),
    },
    stands: () => is('after', changes),
    isBack: () => is('before', strict),
  }
}

/** The present values of a row, which stays as it is until the transaction ends. Undefined where it is gone. */
async function stateOf({ db }: Context, noun: DetailedNoun, id: string) {
  if (noun === 'site') {
    const row = await lockSettings(db)
    return (field: string) => valueOf('site', row, field)
  }
  const row = await stateBefore(db, noun, id)
  if (!row) return undefined
  const permissions = noun === 'role' ? roles.listed(await permissionsOfRole(db, id)) : null
  return (field: string) => (field === 'permissions' ? permissions : valueOf(noun, row as never, field))
}

const namesIn = (value: Value | undefined): string[] => (typeof value === 'string' ? value.split(', ') : [])

/** Events have the tags of a post by their names: tags that were renamed or deleted since are not found. */
async function retagged({ db }: Context, { subject_id: id, details }: Undone): Promise<Reversal | Final> {
  const change = details.find(({ field }) => field === 'tags')
  const [had, got] = [namesIn(change?.before), namesIn(change?.after)]
  const ids: Record<'add' | 'remove', string[]> = { add: [], remove: [] }
  for (const name of [...had, ...got]) {
    if (had.includes(name) && got.includes(name)) continue
    const found = await listTags(db, { visibility: ['public', 'private'], prefix: searchKey(name) }, { limit: 100 })
    const [only, another] = found.filter((each) => each.name === name)
    if (!only || another || found.some((each) => each.name.startsWith(`${name}, `))) return 'unkept' // one name or two
    ids[had.includes(name) ? 'add' : 'remove'].push(only.tagId)
  }
  const has = async () => (await tagsOf(db, [id], true)).map(({ tagId }) => tagId)
  return {
    steps: [stepOf(tag, { ids: [id], ...ids })],
    rivals: { actions: ['post.tagged'] },
    async stands() {
      const now = await has()
      return ids.remove.every((each) => now.includes(each)) && !ids.add.some((each) => now.includes(each))
    },
  }
}
