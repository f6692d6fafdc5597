import { createReadStream } from 'node:fs'
import { guessedKind } from '../core/statuskinds.js'
import { csvObjects, timeIn } from './csv.js'
import { markdownOf } from './lib/markdown.js'
import { Places, type Place } from './lib/places.js'
import { countIn, given as field } from './lib/values.js'
import type { Source } from './source.js'

/** The CSV of its suggestions, which has a row for each voter. */
export const uservoice: Source = {
  from: 'the CSV of its suggestions',
  async *read({ from, note }) {
    const places = new Places()
    const voters = new Map<string, number>()
    for await (const { ideaId = '', userEmailAddress: voter = '' } of csvObjects(createReadStream(from), [
      'ideaId',
      'ideaTitle',
    ]))
      if (voter !== '') voters.set(ideaId, (voters.get(ideaId) ?? 0) + 1)
    const seen = new Set<string>()
    let hidden = 0
    for await (const row of csvObjects(createReadStream(from), ['ideaId', 'ideaTitle'])) {
      const { ideaId: id = '', userEmailAddress: voter = '', ideaCreatorEmailAddress: creator = '' } = row
      if (/^(rejected|spam|flagged)/i.test(row.moderationState ?? '')) {
        hidden += 1
        continue
      }
      if (!seen.has(id)) {
        seen.add(id)
        const { forumName: board = '', publicStatusName: status = '' } = row
        const tags = [...new Set([row.categoryName ?? '', ...labelsIn(row.labels ?? '')])].filter((tag) => tag !== '').slice(0, 20) // prettier-ignore
        const named: Place[] = [
          ...(board === '' ? [] : [{ type: 'board' as const, sourceId: board, name: board }]),
          ...(status === '' ? [] : [{ type: 'status' as const, sourceId: status, name: status, kind: guessedKind(status) }]), // prettier-ignore
          ...tags.map((tag) => ({ type: 'tag' as const, sourceId: tag, name: tag })),
          ...(creator === '' ? [] : [{ type: 'person' as const, sourceId: creator, ...field('name', row.ideaCreatorName), email: creator }]), // prettier-ignore
        ]
        const post = {
          type: 'post' as const,
          sourceId: id,
          title: row.ideaTitle ?? '',
          text: await markdownOf(row.ideaDescription ?? ''),
          ...field('board', board),
          ...field('status', status),
          ...field('author', creator),
          tags,
          ...field('createdAt', timeIn(row.createdTimestamp ?? '')),
          importedVotes: Math.max(0, countIn(row.votersCount) - (voters.get(id) ?? 0)),
        }
        yield* places.before(post, named)
        const said = await markdownOf(row.publicStatusUpdateMessage ?? '')
        const { publicStatusCreatorEmailAddress: speaker = '' } = row
        if (said.trim() !== '') {
          if (speaker !== '') yield* places.once('person', speaker, { email: speaker })
          yield {
            type: 'comment',
            sourceId: `status ${id}`,
            post: id,
            ...field('author', speaker),
            text: said,
            ...field('createdAt', timeIn(row.publicStatusUpdatedTimestamp ?? '')),
            isUpdate: true,
            ...field('status', status),
          }
        }
      }
      if (voter === '') continue
      yield* places.once('person', voter, { email: voter })
      yield { type: 'vote', post: id, person: voter, ...field('createdAt', timeIn(row.linkedIdeaCreationDate ?? '')) }
    }
    if (hidden > 0) note(`Rows of rejected suggestions are not imported: ${hidden}.`)
  },
}

/** A JSON array, or separated by commas. */
function labelsIn(cell: string): string[] {
  try {
    const list: unknown = JSON.parse(cell)
    if (Array.isArray(list)) return list.filter((label): label is string => typeof label === 'string' && label !== '')
  } catch {
    // as text
  }
  return cell.split(',').map((label) => label.trim()).filter(Boolean) // prettier-ignore
}
