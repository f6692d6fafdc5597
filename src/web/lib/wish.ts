import type { Key } from '../../core/catalogue.js'
import * as posts from '../../service/posts.js'
import { within } from './addresses.js'
import { fieldsIn } from './fields.js'
import type { View } from './page.js'
import { PENDING } from './pending.js'

/** What a visitor wants to do, and signs in for. */
export interface Wish {
  kind: 'vote' | 'post' | 'comment' | 'text' | 'other'
  /** Of the post to vote for. */
  title: string
}

/** Undefined where nobody wants anything but to sign in. */
export async function wishOf(view: View): Promise<Wish | undefined> {
  const path = within(view.form.values[PENDING.path])
  if (path === undefined) return undefined
  const [, slug = '', what] = /^\/posts\/([^/]+)(?:\/(vote|comments))?$/.exec(path) ?? []
  const title = what === 'vote' ? await titleOf(view, slug) : ''
  if (title !== '') return { kind: 'vote', title }
  return { kind: what === 'comments' ? 'comment' : slug === 'new' ? 'post' : hasText(view) ? 'text' : 'other', title }
}

/** Empty where the visitor may not see the post. */
async function titleOf(view: View, slug: string): Promise<string> {
  try {
    return (await view.call(posts.show, { id: decodeURIComponent(slug) })).post.title
  } catch {
    return ''
  }
}

function hasText({ form }: View): boolean {
  const { title, contentMarkdown, body, reason } = fieldsIn(form.values[PENDING.fields])
  return [title, contentMarkdown, body, reason].some(Boolean)
}

export const WISH_WORDS: Record<'login' | 'join', Record<Wish['kind'], Key>> = {
  login: {
    vote: 'login.toVote',
    post: 'login.toPost',
    comment: 'login.toComment',
    text: 'login.toText',
    other: 'login.toOther',
  },
  join: {
    vote: 'join.toVote',
    post: 'join.toPost',
    comment: 'join.toComment',
    text: 'join.toText',
    other: 'join.toOther',
  },
}
