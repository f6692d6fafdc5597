import { AppError } from '../core/errors.js'
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

/** How many a change of posts would tell. Undefined where it tells of nothing. */
export async function foretoldOf(
  call: Call,
  { id, ids, roadmapId, message, quiet, into }: Values,
): Promise<string | undefined> {
  if (roadmapId === undefined && !message && into === undefined) return undefined
  // A merge of several posts tells nobody unless asked
  const all = ids === undefined ? [String(id)] : (ids as string[])
  if (quiet ?? (into !== undefined && all.length > 1)) return 'Would tell nobody.'
  const [post_id = '', ...also] = all
  const found = await audienceOf(call, {
    post_id,
    message: Boolean(message),
    ...(typeof message === 'string' && message !== '' && { text: message }),
    ...(roadmapId !== undefined && { roadmapId }),
    ...(also.length > 0 && { also }),
    ...(typeof into === 'string' && { into }),
  })
  return found && `Would tell ${toldText(found)}.`
}

/** Undefined if the board hides its votes from the caller. */
export const audienceOf: (call: Call, input: Values) => Promise<Audience | undefined> = (call, input) =>
  call(audience, input).then(
    ({ audience: found }) => found,
    (error: unknown) => {
      if (error instanceof AppError && error.code === 'NOT_ENOUGH_PERMISSION') return undefined
      throw error
    },
  )

/** Such as `12 people: 9 by mail, 2 in a digest, 1 on the page only`. */
function toldText({ people, mail, digest, page }: Audience): string {
  if (people === 0) return 'nobody'
  const ways = [mail > 0 && `${mail} by mail`, digest > 0 && `${digest} in a digest`, page > 0 && `${page} on the page only`] // prettier-ignore
  return `${people} ${people === 1 ? 'person' : 'people'}: ${ways.filter(Boolean).join(', ')}`
}
