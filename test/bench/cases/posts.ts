import type { Bench, Case } from '../cases.js'
import { get, PEOPLE, post, slugsOf, type Request } from '../requests.js'
import { id } from '../rows.js'
import type { Site } from '../sites.js'
import { againstBare } from './compared.js'

/** Lists of posts and single posts, of visitors and of many people signed in, who are shown their own votes. */
export function posts(): Case[] {
  const asked: {
    name: string
    long?: boolean
    bodies(this: void, site: Site): { path: string; body: object; person: number }[]
  }[] = [
    { name: 'POST /posts/get newest, hot', bodies: () => everybody('/posts/get', {}) },
    { name: 'POST /posts/get by votes', bodies: () => everybody('/posts/get', { sort: 'votes' }) },
    {
      name: 'POST /posts/slug, one post',
      bodies: (site) => everybody('/posts/slug', { id: slugsOf(site)[1]?.slug }),
      long: true,
    },
    {
      name: 'POST /posts/slug, 400 posts',
      long: true,
      bodies: (site) => slugsOf(site).map(({ slug, person }) => ({ path: '/posts/slug', body: { id: slug }, person })),
    },
  ]
  return asked.flatMap(({ name, long = false, bodies }) => [
    againstBare({
      name: `${name}, signed in`,
      site: 'large',
      long,
      goal: 20,
      requests: (site, bench) => signedIn(bodies(site), bench),
    }),
    againstBare({
      name: `${name}, anonymous`,
      site: 'large',
      long: true,
      requests: (site) => bodies(site).map(({ path, body }) => post(path, body)),
    }),
  ])
}

/** What further lists cost, without a goal. */
export const filters = (): Case[] => [
  ...Object.entries({
    'of a board': { boardId: ['board-0'] },
    'of 5 boards by votes': { boardId: [0, 1, 2, 3, 4].map((number) => `board-${number}`), sort: 'votes' },
    'of a roadmap': { roadmapId: 'roadmap-0' },
    'of a board and a roadmap': { boardId: ['board-0'], roadmapId: 'roadmap-0', sort: 'votes' },
    'of an author': { authorId: 'person_7' },
    'page 1,000': { page: 1000 },
  }).map(([name, body]) =>
    againstBare({
      name: `POST /posts/get ${name}`,
      site: 'large',
      long: true,
      requests: () => [post('/posts/get', body)],
    }),
  ),
  againstBare({
    name: 'GET /posts/:id/votes, the first posts',
    site: 'large',
    long: true,
    requests: () => [0, 1, 2].map((n) => get(`/posts/${id('post', n)}/votes`)),
  }),
]

const everybody = (path: string, body: object) =>
  Array.from({ length: PEOPLE }, (_, person) => ({ path, body, person }))

const signedIn = (asked: { path: string; body: object; person: number }[], { tokens }: Bench): Request[] =>
  asked.map(({ path, body, person }) => post(path, body, tokens[person]))
