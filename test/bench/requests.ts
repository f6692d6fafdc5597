import { API_ROOT } from '../../src/core/wire.js'
import { sessionToken } from '../../src/service/lib/tokens.js'
import { id } from './rows.js'
import type { Site } from './sites.js'

/** A request to send. Bare `node:http` sends one recorded response for all requests of a `kind`. */
export interface Request {
  method: 'GET' | 'POST'
  path: string
  headers: Record<string, string>
  body: string
  kind: string
}

/** The measured servers sign tokens with it. */
export const SECRET = 'a secret for measurements only'

/** Number of users who are signed in, in turn. */
export const PEOPLE = 200

export const get = (path: string, headers: Record<string, string> = {}): Request => ({
  method: 'GET',
  path: API_ROOT + path,
  headers,
  body: '',
  kind: `GET ${API_ROOT}${path} `,
})

export function post(path: string, body: object, token?: string): Request {
  const text = JSON.stringify(body)
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  return { method: 'POST', path: API_ROOT + path, headers, body: text, kind: `POST ${API_ROOT}${path} ${text}` }
}

/** A page, as a browser asks for it; `token` is that of the session of whoever is signed in. */
export const page = (path: string, token?: string): Request => ({
  method: 'GET',
  path,
  headers: {
    accept: 'text/html',
    'accept-encoding': 'gzip, deflate, br',
    'accept-language': 'en',
    ...(token !== undefined && { cookie: `feedbackctl=${token}` }),
  },
  body: '',
  kind: `GET ${path} `,
})

/** A write: one recorded response stands for all to this path. */
export const write = (path: string, body: object, token: string): Request => ({
  ...post(path, body, token),
  kind: `POST ${API_ROOT}${path}`,
})

/** Session tokens of the first users of the seed. */
export const tokens = (): Promise<string[]> =>
  Promise.all(
    Array.from({ length: PEOPLE }, (_, n) =>
      sessionToken(
        { now: () => new Date(), secret: () => SECRET },
        { userId: id('user', n), sessionId: id('session', n), kind: 'api', createdAt: new Date().toISOString() },
      ),
    ),
  )

/** The board after which a page of `GET /boards` begins at this depth. */
export const boardAt = (site: Site, depth: number): string =>
  site.rows<{ boardId: string }>(
    'select boardId from boards where display = 1 order by createdAt desc, boardId desc limit 1 offset ?',
    depth - 1,
  )[0]?.boardId ?? ''

/** A post that this person has voted for, and one of the most liked, in turn: half of the answers show an own vote. */
export function slugsOf(site: Site): { slug: string; person: number }[] {
  const liked = site.rows<{ slug: string }>(
    'select slug from posts where display = 1 order by votesCount desc limit ?',
    PEOPLE,
  )
  return liked.flatMap(({ slug }, person) => {
    const own = site.rows<{ slug: string }>(
      'select slug from votes join posts using (postId) where votes.userId = ? and display = 1 order by votes.voteId limit 1 offset 20',
      id('user', person),
    )
    return [...own, { slug }].map((found) => ({ slug: found.slug, person }))
  })
}

/** Votes that hardly anybody has cast yet, each of another person than the one before, on posts from the whole site. */
export function votes(site: Site, signed: string[], count: number): Request[] {
  const posts = site.rows<{ postId: string }>(
    'select postId from posts where display = 1 and rowid % 41 = 3 order by rowid limit 20000',
  )
  return Array.from({ length: count }, (_, n) => {
    const [round, person] = [Math.floor(n / PEOPLE), n % PEOPLE]
    const { postId } = posts[(round * 7919 + person * 613) % posts.length]! // of a seeded site
    return write('/votes', { postId }, signed[person] ?? '')
  })
}
