import { AppError } from '../core/errors.js'
import { pathIn } from './csv.js'
import { addressOf, commentsIn, discussionsIn, Discussions, isDiscussion } from './githubdiscussions.js'
import { GithubPeople } from './githubpeople.js'
import { jsonValues } from './lib/jsonfiles.js'
import { withLinkedImages } from './lib/markdown.js'
import { Places, type Place } from './lib/places.js'
import { countIn, given as field, listIn, objectIn, textIn, type Json } from './lib/values.js'
import type { Source, SourceRecord } from './source.js'

const ISSUES = 'gh api --paginate "repos/OWNER/REPO/issues?state=all" > issues.json'

/** Issues and discussions as `gh api --paginate` saves them, with their comments. */
export const github: Source = {
  from: 'a JSON file of its issues or discussions, or a folder with those and their comments',
  async *read({ from, note }) {
    const places = new Places()
    const people = new GithubPeople(places)
    const repositories = new Set<string>()
    for (const value of jsonValues(from)) {
      people.look(value.user)
      for (const each of [value, ...discussionsIn(value)]) {
        people.look(each.author)
        for (const { comment } of commentsIn(each)) people.look(comment.author)
        const [, repository] =
          /^https?:\/\/[^/]+\/([^/]+\/[^/]+)\/(?:issues|discussions)\/\d+$/.exec(addressOf(each)) ?? []
        if (repository !== undefined) repositories.add(repository)
      }
    }
    if (repositories.size > 1) throw new AppError('USAGE', `This is of several repositories, whose numbers are the same: ${[...repositories].slice(0, 3).join(', ')}. Import each alone, with a --source of its own.`) // prettier-ignore
    const discussions = new Discussions(from, places, people)
    const issues = new Set<string>()
    let requests = 0
    for (const issue of jsonValues(from)) {
      if (issue.title === undefined || issue.number === undefined || isDiscussion(issue)) continue
      if (issue.pull_request !== undefined) {
        requests += 1
        continue
      }
      issues.add(textIn(issue.number))
      yield* issueOf(issue, places, people)
    }
    yield* discussions.posts()
    if (issues.size === 0 && discussions.count === 0) throw new AppError('USAGE', `No issues or discussions were found. Save issues with: ${ISSUES}`) // prettier-ignore
    for (const comment of jsonValues(from)) {
      const issue = /\/issues\/(\d+)$/.exec(textIn(comment.issue_url))?.[1]
      if (issue === undefined || !issues.has(issue) || textIn(comment.body).trim() === '') continue
      yield* people.records(comment.user)
      yield {
        type: 'comment',
        sourceId: textIn(comment.id),
        post: issue,
        ...field('author', people.idOf(comment.user)),
        text: withLinkedImages(textIn(comment.body)),
        ...field('createdAt', comment.created_at),
      }
    }
    yield* discussions.comments(note)
    if (requests > 0) note(`Pull requests are not imported: ${requests}.`)
  },
}

function* issueOf(issue: Json, places: Places, people: GithubPeople): Generator<SourceRecord> {
  const status = statusOf(issue)
  const labels = listIn(issue.labels).map((label) => ({ name: textIn(label.name), color: textIn(label.color) })).slice(0, 20) // prettier-ignore
  const named: Place[] = [
    ...people.named(issue.user),
    ...(status ? [{ type: 'status' as const, sourceId: status.name, ...status }] : []),
    ...labels.map((label) => ({ type: 'tag' as const, sourceId: label.name, ...label })),
  ]
  const path = pathIn(textIn(issue.html_url) || undefined)
  const post = {
    type: 'post' as const,
    sourceId: textIn(issue.number),
    title: textIn(issue.title),
    text: withLinkedImages(textIn(issue.body)),
    ...(status && { status: status.name }),
    ...field('author', people.idOf(issue.user)),
    tags: labels.map(({ name }) => name),
    ...field('createdAt', issue.created_at),
    importedVotes: countIn(objectIn(issue.reactions)['+1']),
    ...(path !== undefined && { paths: [path] }),
  }
  yield* places.before(post, named)
}

/** A closed issue is done or declined, one with a milestone is planned, and others are open. */
function statusOf({ state, state_reason: reason, milestone }: Json) {
  if (state === 'closed')
    return reason === 'not_planned' || reason === 'duplicate'
      ? { name: 'Declined', kind: 'declined' as const }
      : { name: 'Done', kind: 'done' as const }
  const name = textIn(objectIn(milestone).title)
  return name === '' ? undefined : { name, kind: 'planned' as const }
}
