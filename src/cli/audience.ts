import { audience, type Audience } from '../service/audience.js'
import type { Call } from '../service/lib/operation.js'
import type { Values } from './lib/flags/fieldoption.js'

/** The flag of what nobody is to be told. --quiet, which shortens the output, means it too. */
export const QUIET = {
  flag: 'tell-nobody',
  word: 'tell',
  on: false,
  description: 'Tell who follows it (default); --no-tell or --quiet tells nobody',
}

/** How many a change of a post would tell. Undefined where it tells of nothing. */
export async function foretoldOf(call: Call, { id, roadmapId, message, quiet }: Values): Promise<string | undefined> {
  if (roadmapId === undefined && !message) return undefined
  if (quiet) return 'Would tell nobody.'
  const { audience: found } = await call(audience, {
    post_id: String(id),
    message: Boolean(message),
    ...(roadmapId !== undefined && { roadmapId: roadmapId as string | null }),
  })
  return `Would tell ${toldText(found)}.`
}

/** Such as `12 people: 9 by mail, 2 in a digest, 1 on the page only`. */
function toldText({ people, mail, digest, page }: Audience): string {
  if (people === 0) return 'nobody'
  const ways = [mail > 0 && `${mail} by mail`, digest > 0 && `${digest} in a digest`, page > 0 && `${page} on the page only`] // prettier-ignore
  return `${people} ${people === 1 ? 'person' : 'people'}: ${ways.filter(Boolean).join(', ')}`
}
