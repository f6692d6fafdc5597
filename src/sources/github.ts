import { AppError } from '../core/errors.js'
import { pathIn } from './csv.js'
import { jsonValues } from './lib/jsonfiles.js'
import { Places } from './lib/places.js'
import { countIn, given as field, listIn, objectIn, textIn, type Json } from './lib/values.js'
import type { Source } from './source.js'

/** Issues as `gh api --paginate repos/OWNER/REPO/issues?state=all` saves them, with comments of `…/issues/comments`. */
export const github: Source = {
  from: 'a JSON file of its issues, or a folder with those of issues and comments',
  async *read({ from, note }) {
    const places = new Places()
    const person = ({ id, login }: Json) =>
      textIn(id) === '' ? [] : places.once('person', textIn(id), { name: textIn(login) })
    const issues = new Set<string>()
    let requests = 0
    for (const issue of jsonValues(from)) {
      if (issue.title === undefined || issue.number === undefined) continue
      if (issue.pull_request !== undefined) {
        requests += 1
        continue
      }
      const [id, user] = [textIn(issue.number), objectIn(issue.user)]
      const status = statusOf(issue)
      const labels = listIn(issue.labels).map((label) => ({ name: textIn(label.name), color: textIn(label.color) }))
      yield* person(user)
      if (status) yield* places.once('status', status.name, status)
      for (const label of labels) yield* places.once('tag', label.name, label)
      issues.add(id)
      const path = pathIn(textIn(issue.html_url) || undefined)
      yield {
        type: 'post',
        sourceId: id,
        title: textIn(issue.title),
        text: textIn(issue.body),
        ...(status && { status: status.name }),
        ...field('author', user.id),
        tags: labels.map(({ name }) => name).slice(0, 20),
        ...field('createdAt', issue.created_at),
        importedVotes: countIn(objectIn(issue.reactions)['+1']),
        ...(path !== undefined && { paths: [path] }),
      }
    }
    if (issues.size === 0) throw new AppError('USAGE', 'No issues were found. Save them with: gh api --paginate "repos/OWNER/REPO/issues?state=all" > issues.json') // prettier-ignore
    for (const comment of jsonValues(from)) {
      const issue = /\/issues\/(\d+)$/.exec(textIn(comment.issue_url))?.[1]
      if (issue === undefined || !issues.has(issue) || textIn(comment.body).trim() === '') continue
      yield* person(objectIn(comment.user))
      yield {
        type: 'comment',
        sourceId: textIn(comment.id),
        post: issue,
        ...field('author', objectIn(comment.user).id),
        text: textIn(comment.body),
        ...field('createdAt', comment.created_at),
      }
    }
    if (requests > 0) note(`Pull requests are not imported: ${requests}.`)
  },
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
