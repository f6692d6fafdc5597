import { seededRandom } from '../../src/core/random.js'
import { time, WORDS } from './rows.js'

/** How much of what an import brings. */
export interface Load {
  people: number
  posts: number
  votes: number
  comments: number
}

/** Records of an import as lines of JSON, always the same for the same numbers, with texts as long as people write them. */
export function* recordLines({ people, posts, votes, comments }: Load): Generator<string> {
  const next = seededRandom(30)
  const below = (count: number) => Math.floor(next() * count)
  const words = (count: number) => Array.from({ length: count }, () => WORDS[below(WORDS.length)]).join(' ')
  const line = (record: object) => `${JSON.stringify(record)}\n`
  for (let n = 0; n < BOARDS; n++) yield line({ type: 'board', sourceId: `b${n}`, name: `Board ${n}` })
  for (let n = 0; n < 5; n++) yield line({ type: 'status', sourceId: `s${n}`, name: `Status ${n}` })
  for (let n = 0; n < 20; n++) yield line({ type: 'tag', sourceId: `t${n}`, name: `Tag ${n}` })
  for (let n = 0; n < people; n++)
    yield line({ type: 'person', sourceId: `u${n}`, name: `Person ${n}`, email: `person${n}@example.org`, createdAt: time(n / people) }) // prettier-ignore
  for (let n = 0; n < posts; n++)
    yield line({
      type: 'post',
      sourceId: `p${n}`,
      title: words(5),
      text: `${words(30)}.\n\n${words(20)}.`,
      author: `u${below(people)}`,
      board: `b${below(BOARDS)}`,
      ...(n % 3 === 0 && { status: `s${below(5)}` }),
      ...(n % 4 === 0 && { tags: [`t${below(20)}`] }),
      createdAt: time(n / posts),
      paths: [`/posts/${n}`],
    })
  for (let n = 0; n < votes; n++)
    yield line({ type: 'vote', post: `p${n % posts}`, person: `u${(n * 7 + Math.floor(n / posts) * 13) % people}`, createdAt: time(n / votes) }) // prettier-ignore
  for (let n = 0; n < comments; n++)
    yield line({ type: 'comment', sourceId: `c${n}`, post: `p${below(posts)}`, author: `u${below(people)}`, text: `${words(15)}.`, createdAt: time(n / comments) }) // prettier-ignore
}

const BOARDS = 10
