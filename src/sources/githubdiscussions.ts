import { AppError } from '../core/errors.js'
import { counted } from '../core/text.js'
import { pathIn } from './csv.js'
import type { GithubPeople } from './githubpeople.js'
import { jsonValues } from './lib/jsonfiles.js'
import { withLinkedImages } from './lib/markdown.js'
import type { Place, Places } from './lib/places.js'
import { countIn, given as field, isObject, listIn, objectIn, textIn, type Json } from './lib/values.js'
import type { Given, SourceRecord } from './source.js'

/** The address of its web page. REST calls it `html_url`, GraphQL `url`. */
export const addressOf = ({ html_url: rest, url }: Json): string => textIn(rest) || textIn(url)

/** REST and GraphQL both have the number and the title of a discussion; its category or its address tells it from an issue. */
export const isDiscussion = (value: Json): boolean =>
  value.number !== undefined && (isObject(value.category) || /\/discussions\/\d+$/.test(addressOf(value)))

/** The discussions of an answer: one of REST, a page of GraphQL, or the one whose further comments a page has. */
export function* discussionsIn(value: Json): Generator<Json> {
  if (isDiscussion(value)) yield value
  const { repository } = objectIn(value.data)
  const { discussions, discussion } = objectIn(repository)
  yield* nodesIn(discussions)
  if (isObject(discussion)) yield discussion
}

const nodesIn = (connection: unknown): Json[] => listIn(objectIn(connection).nodes)

/** The comments that are nested in a discussion of GraphQL, each before its replies. */
export function* commentsIn(discussion: Json): Generator<{ comment: Json; parent?: Json }> {
  for (const comment of nodesIn(discussion.comments)) {
    yield { comment }
    for (const reply of nodesIn(comment.replies)) yield { comment: reply, parent: comment }
  }
}

/** Reads the files twice: comments come after all posts. */
export class Discussions {
  readonly #from: string
  readonly #places: Places
  readonly #people: GithubPeople
  /** Numbers of discussions by what comments of REST call them. */
  readonly #numbers = new Map<string, string>()
  readonly #answers = new Set<string>()
  /** How many comments discussions have, by their number, as far as the files say it. */
  readonly #told = new Map<string, number>()
  readonly #brought = new Set<string>()
  #hidden = 0

  constructor(from: string, places: Places, people: GithubPeople) {
    this.#from = from
    this.#places = places
    this.#people = people
  }

  get count(): number {
    return this.#numbers.size
  }

  *posts(): Generator<SourceRecord> {
    for (const value of jsonValues(this.#from)) {
      const [error] = listIn(value.errors)
      if (error)
        throw new AppError('USAGE', `An answer of GitHub says: ${textIn(error.message).slice(0, 200)} Save it again.`)
      for (const discussion of discussionsIn(value)) if (discussion.title !== undefined) yield* this.#post(discussion)
    }
  }

  *#post(discussion: Json): Generator<SourceRecord> {
    const { category, labels, answer, comments } = discussion
    const number = textIn(discussion.number)
    this.#numbers.set(number, number)
    if (typeof discussion.id === 'number') this.#numbers.set(`id ${discussion.id}`, number)
    this.#answers.add(keyOf(objectIn(answer))).add(anchorIn(textIn(discussion.answer_html_url)))
    this.#told.set(number, Math.max(this.#told.get(number) ?? 0, toldIn(comments)))
    const board = boardOf(objectIn(category))
    const status = statusOf(discussion)
    const tags = (Array.isArray(labels) ? listIn(labels) : nodesIn(labels)).map((label) => ({ name: textIn(label.name), color: textIn(label.color) })).slice(0, 20) // prettier-ignore
    const author = discussion.user ?? discussion.author
    const named: Place[] = [
      ...this.#people.named(author),
      ...(board ? [{ type: 'board' as const, sourceId: board.url, ...board }] : []),
      ...(status ? [{ type: 'status' as const, sourceId: status.name, ...status }] : []),
      ...tags.map((tag) => ({ type: 'tag' as const, sourceId: tag.name, ...tag })),
    ]
    const path = pathIn(addressOf(discussion) || undefined)
    const post = {
      type: 'post' as const,
      sourceId: number,
      title: textIn(discussion.title),
      text: withLinkedImages(textIn(discussion.body)),
      ...(board && { board: board.url }),
      ...(status && { status: status.name }),
      ...field('author', this.#people.idOf(author)),
      tags: tags.map(({ name }) => name),
      ...field('createdAt', discussion.created_at ?? discussion.createdAt),
      importedVotes: votesOf(discussion),
      ...(path !== undefined && { paths: [path] }),
    }
    yield* this.#places.before(post, named)
  }

  /** Call it after `posts`. */
  *comments(note: Given['note']): Generator<SourceRecord> {
    const found = new Map<string, number>()
    const count = (post: string) => found.set(post, (found.get(post) ?? 0) + 1)
    const alone: Json[] = []
    for (const value of jsonValues(this.#from)) {
      for (const discussion of discussionsIn(value)) {
        const post = textIn(discussion.number)
        if (!this.#numbers.has(post)) continue
        for (const { comment, parent } of commentsIn(discussion)) {
          if (!parent) count(post)
          yield* this.#comment(comment, post, parent ? keyOf(parent) : '')
        }
      }
      if (value.issue_url === undefined && anchorIn(addressOf(value)) !== '') alone.push(value)
    }
    // A reply refers to a comment that was written before it
    for (const comment of alone.toSorted((a, b) => (textIn(a.created_at) < textIn(b.created_at) ? -1 : 1))) {
      const [, number = ''] = /\/discussions\/(\d+)#/.exec(addressOf(comment)) ?? []
      const post = this.#numbers.get(`id ${textIn(comment.discussion_id)}`) ?? this.#numbers.get(number)
      if (post === undefined) continue
      count(post)
      yield* this.#comment(comment, post, `${ANCHOR}${textIn(comment.parent_id)}`)
    }
    const lacking = [...this.#told].filter(([post, told]) => told > (found.get(post) ?? 0)).map(([post]) => `#${post}`)
    if (this.#hidden > 0) note(`Comments that were hidden as spam or abuse are not imported: ${this.#hidden}.`)
    if (lacking.length > 0) note(`The files do not have all comments of ${counted(lacking.length, 'discussion')}: ${listed(lacking)}.`) // prettier-ignore
  }

  *#comment(comment: Json, post: string, parent: string): Generator<SourceRecord> {
    const key = keyOf(comment)
    const text = withLinkedImages(textIn(comment.body))
    const isHidden = comment.isMinimized === true && /^(spam|abuse)$/i.test(textIn(comment.minimizedReason))
    if (isHidden) this.#hidden += 1
    if (isHidden || text.trim() === '' || key === '') return
    const author = comment.user ?? comment.author
    yield* this.#people.records(author)
    yield {
      type: 'comment',
      sourceId: key,
      post,
      ...field('author', this.#people.idOf(author)),
      ...(this.#brought.has(parent) && { parent }),
      text,
      ...field('createdAt', comment.created_at ?? comment.createdAt),
      ...((comment.isAnswer === true || this.#answers.has(key)) && { isAnswer: true }),
    }
    this.#brought.add(key)
  }
}

const listed = (names: readonly string[]): string =>
  `${names.slice(0, 10).join(', ')}${names.length > 10 ? ', and others' : ''}`

/** Begins what a comment is called, as its address does: issues have comments with the same numbers. */
const ANCHOR = 'discussioncomment-'
const anchorIn = (url: string): string => /#(discussioncomment-\d+)$/.exec(url)?.[1] ?? ''

/** What REST and GraphQL both call a comment; what GraphQL alone calls it where the query asked for nothing else. */
function keyOf(comment: Json): string {
  const number = /^\d+$/.exec(textIn(comment.databaseId) || textIn(comment.id))?.[0]
  return number === undefined ? anchorIn(addressOf(comment)) || textIn(comment.id) : `${ANCHOR}${number}`
}

/** How many comments there are, without their replies. */
function toldIn(comments: unknown): number {
  if (!isObject(comments)) return countIn(comments)
  const more = objectIn(comments.pageInfo).hasNextPage === true ? 1 : 0
  return Math.max(countIn(comments.totalCount), nodesIn(comments).length + more)
}

function boardOf({ name, slug }: Json): { name: string; url: string } | undefined {
  const url = textIn(slug) || textIn(name).toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/g, '') // prettier-ignore
  return url === '' ? undefined : { name: textIn(name) || url, url }
}

/** An upvote is a vote. REST has no count of them, but one of reactions. */
function votesOf({ upvoteCount, reactions }: Json): number {
  return upvoteCount === undefined ? countIn(objectIn(reactions)['+1']) : countIn(upvoteCount)
}

/** A closed discussion is done or declined, and one with an answer is answered. */
function statusOf(discussion: Json) {
  const reason = textIn(discussion.stateReason ?? discussion.state_reason).toLowerCase()
  if (discussion.closed === true || discussion.state === 'closed')
    return reason === 'outdated' || reason === 'duplicate'
      ? { name: 'Declined', kind: 'declined' as const }
      : { name: 'Done', kind: 'done' as const }
  const { answer, isAnswered, answerChosenAt, answer_chosen_at: chosenAt } = discussion
  const isSettled = isObject(answer) || isAnswered === true || textIn(answerChosenAt ?? chosenAt) !== ''
  return isSettled ? { name: 'Answered', kind: 'done' as const } : undefined
}
