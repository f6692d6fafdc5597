import type { Key } from '../../core/catalogue.js'
import { links } from '../../core/pagelinks.js'
import * as posts from '../../service/posts.js'
import type { Fields, View } from '../kit/page.js'
import { pendingIn } from '../kit/pending.js'

/** What a visitor wants to do, and signs in for. */
export interface Wish {
  kind: 'vote' | 'follow' | 'post' | 'comment' | 'text' | 'other'
  /** Of the post to vote for or to follow. */
  title: string
}

/** Undefined where nobody wants anything but to sign in. */
export async function wishOf(view: View): Promise<Wish | undefined> {
  const pending = pendingIn(view.form.values)
  if (!pending) return undefined
  const kind = KINDS.get(pending.route)
  const title = kind && NAMING.has(kind) ? await titleOf(view, pending.params.slug) : ''
  if (kind && (!NAMING.has(kind) || title !== '')) return { kind, title }
  return { kind: hasText(pending.fields) ? 'text' : 'other', title: '' }
}

const KINDS: ReadonlyMap<string, Wish['kind']> = new Map([
  [links.newPost, 'post'],
  ['/posts/:slug/vote', 'vote'],
  ['/posts/:slug/follow', 'follow'],
  ['/posts/:slug/comments', 'comment'],
])

/** Wishes whose sentence names the post. */
const NAMING: ReadonlySet<Wish['kind']> = new Set(['vote', 'follow'])

/** Empty where the visitor may not see the post. */
async function titleOf(view: View, slug: string | undefined): Promise<string> {
  try {
    return (await view.call(posts.show, { id: slug })).post.title
  } catch {
    return ''
  }
}

const hasText = ({ title, contentMarkdown, body, reason }: Fields): boolean =>
  [title, contentMarkdown, body, reason].some(Boolean)

export const WISH_WORDS: Record<'login' | 'join', Record<Wish['kind'], Key>> = {
  login: {
    vote: 'login.toVote',
    follow: 'login.toFollow',
    post: 'login.toPost',
    comment: 'login.toComment',
    text: 'login.toText',
    other: 'login.toOther',
  },
  join: {
    vote: 'join.toVote',
    follow: 'join.toFollow',
    post: 'join.toPost',
    comment: 'join.toComment',
    text: 'join.toText',
    other: 'join.toOther',
  },
}
