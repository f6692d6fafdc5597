import * as Type from 'typebox'
import { AppError, type Issue } from '../../core/errors.js'
import { invalid, invalidField } from '../../core/fields.js'
import { isId, randomWord } from '../../core/ids.js'
import { NOUNS } from '../../core/nouns.js'
import { SLUG_MAX, slugOf, withSuffix } from '../../core/slugs.js'
import { quoted, searchKey } from '../../core/text.js'
import { LENGTHS } from '../../core/lengths.js'
import type { Visibility } from '../../db/counters.js'
import type { Period } from '../../db/paging.js'
import type { Db } from '../../db/tables.js'
import { can, notAllowed } from './access.js'
import type { CachedContext, Context } from './context.js'
import { oneLine, someOf } from './schemas.js'
import { isWithin } from './times.js'

interface Row {
  name: string
  nameFolded: string
  url: string
  color: string
  display: number
}

/** Stands for posts without a board or roadmap, where a list of ids is expected. No board or roadmap gets it as its url. */
export const NONE = 'none'

/** A noun whose rows have a name, a url, a colour and a visibility: boards, roadmaps and tags. */
interface Noun<R extends Row> {
  noun: 'board' | 'roadmap' | 'tag'
  /** The columns of the id and of the creation time. The id has the same name in the input. */
  id: keyof R & string
  createdAt: keyof R & string
  find(this: void, db: Db, urlOrId: string): Promise<R | undefined>
  /** Operations with a fixed word where the url of a row could stand. No row gets such a url. */
  routes(this: void): Routes
}

type Routes = readonly { http: string }[]

/** The words after `/boards/` in the routes of these operations: a board with such a url could not be reached by it. */
export const reservedWords = (operations: Routes): string[] =>
  operations.map(({ http }) => http.split(/[/ ]/)[3] ?? '').filter((word) => !word.startsWith(':'))

interface ListFilter extends Period {
  visibility: readonly Visibility[]
  prefix?: string | undefined
}

interface Given {
  name?: string
  url?: string
  color?: string
  display?: boolean
  partial?: boolean
}

/** What boards, roadmaps and tags share. */
export function named<R extends Row>({ noun, id, createdAt, find, routes }: Noun<R>) {
  const capital = noun.charAt(0).toUpperCase() + noun.slice(1)
  const NOUN = noun.toUpperCase() as Uppercase<typeof noun>

  const isReserved = (slug: string): boolean => isId(slug) || slug === NONE || reservedWords(routes()).includes(slug)

  const canRead = ({ actor }: Pick<Context, 'actor'>, row: R): boolean =>
    row.display === 1 || can(actor, NOUNS[noun].read)

  const notFound = (given: string) => new AppError(`${NOUN}_NOT_FOUND`, `${capital} ${quoted(given)} not found.`)

  async function readable(ctx: CachedContext, urlOrId: string): Promise<R> {
    const row = await find(ctx.db, urlOrId)
    if (!row) throw notFound(urlOrId)
    if (!canRead(ctx, row)) throw noun === 'tag' ? notFound(urlOrId) : notAllowed([NOUNS[noun].read]) // the contract tells of others
    return row
  }

  /** The error names the row that has the url only to those who can read that row. */
  async function urlTaken(ctx: Context, slug: string): Promise<AppError> {
    const row = await find(ctx.db, slug)
    const since = row && String(row[createdAt]).slice(0, 10)
    const why = row && canRead(ctx, row) ? `${noun} "${row.name}" has had it since ${since}` : undefined
    return new AppError(`${NOUN}_URL_EXISTS`, `The url "${slug}" is taken. Choose another.`, { why })
  }

  async function slugOfName(name: string): Promise<string> {
    const slug = (await slugOf(name)) || noun
    return isReserved(slug) ? withSuffix(slug, randomWord(4)) : slug
  }

  async function slugOfUrl(url: string): Promise<string> {
    const slug = await slugOf(url)
    const rule = 'text with a letter or a digit'
    if (slug === '')
      throw invalidField({
        code: `${NOUN}_URL_MISSING`,
        message: `url must be ${rule}; ${JSON.stringify(url)} is not.`,
        field: 'url',
        rule,
        value: url,
      })
    if (isReserved(slug))
      throw new AppError(`${NOUN}_URL_EXISTS`, `The url "${slug}" has a meaning of its own. Choose another.`)
    return slug
  }

  return {
    fields: {
      ...fieldsOf(NOUN),
      visibility: someOf(['public', 'private'], {
        default: ['public'],
        description: `Which ${noun}s; private ones need ${NOUNS[noun].read}`,
      }),
    },
    isReserved,
    notFound,

    readable,

    /** The row that an operation changes. Nobody changes what they may not read. */
    subject: async (ctx: Context, input: Record<string, unknown>): Promise<R> => {
      const { [id]: given } = input
      if (typeof given !== 'string' || given === '')
        throw new AppError(`${NOUN}_ID_OR_URL_MISSING`, `Which ${noun}? Give its ${id}, or its url.`)
      return readable(ctx, given)
    },

    /** The row of a cursor, if it is in a list with this filter. */
    async atCursor(db: Db, { visibility, prefix = '', ...period }: ListFilter, after: string): Promise<R | undefined> {
      const row = await find(db, after)
      const isListed =
        row?.[id] === after &&
        visibility.includes(row.display ? 'public' : 'private') &&
        row.nameFolded.startsWith(prefix) &&
        isWithin(period, String(row[createdAt]))
      return isListed ? row : undefined
    },

    /** The columns of a new row. Without a colour it gets the one that the fewest of these others have. */
    columns: ({ name = '', color, display }: Given, others: readonly Pick<R, 'color'>[]) => ({
      name,
      nameFolded: searchKey(name),
      color: color?.toLowerCase() ?? nextColor(noun, others),
      display: display ? 1 : 0,
    }),

    /** The columns that a change writes. */
    changes: ({ name, url, color, display }: Given, slug: string) => ({
      ...(url !== undefined && { url: slug }),
      ...(name !== undefined && { name, nameFolded: searchKey(name) }),
      ...(color !== undefined && { color: color.toLowerCase() }),
      ...(display !== undefined && { display: display ? 1 : 0 }),
    }),

    /** The url of a new row: the one given, or one made of the name. */
    slugOfNew: ({ name = '', url }: Given): Promise<string> => (url === undefined ? slugOfName(name) : slugOfUrl(url)),

    /**
     * The url of a changed row. Published clients send name and url with every change and expect an error without; a
     * partial change needs neither.
     */
    async slugOfChanged(input: Given, { url }: R): Promise<string> {
      if (!input.partial) assertNameAndUrl(NOUN, input)
      return input.url === undefined || input.url === url ? url : slugOfUrl(input.url)
    },

    /**
     * Inserts a row. A url made of the name gets a suffix while another row has it; a url that was given is refused.
     */
    async insert(tx: Context, slug: string, given: Given, insert: (url: string) => Promise<R | undefined>) {
      for (let url = slug; ; url = withSuffix(slug, randomWord(4))) {
        const row = await insert(url)
        if (row) return row
        if (given.url !== undefined) throw await urlTaken(tx, slug)
      }
    },

    /** The row after an update, or the error that says why there is none. */
    async updated(tx: Context, slug: string, given: string, outcome: R | 'taken' | undefined): Promise<R> {
      if (outcome === 'taken') throw await urlTaken(tx, slug)
      if (!outcome) throw notFound(given)
      return outcome
    },
  }
}

const fieldsOf = (noun: 'BOARD' | 'ROADMAP' | 'TAG') => ({
  name: Type.String({
    ...oneLine(LENGTHS.placeName),
    description: 'Name shown to visitors',
    codes: { required: `${noun}_NAME_MISSING`, type: `${noun}_NAME_MISSING`, minLength: `${noun}_NAME_MISSING` },
  }),
  url: Type.String({
    minLength: 1,
    maxLength: SLUG_MAX,
    trim: true,
    description: 'Slug in the address',
    codes: { required: `${noun}_URL_MISSING`, type: `${noun}_URL_MISSING`, minLength: `${noun}_URL_MISSING` },
  }),
  color: Type.String({
    minLength: 6,
    maxLength: 6,
    pattern: '^[0-9a-fA-F]*$',
    rule: 'six hexadecimal digits without #',
    description: 'Six hexadecimal digits without #',
    codes: {
      minLength: `${noun}_COLOR_HEX_LENGTH`,
      maxLength: `${noun}_COLOR_HEX_LENGTH`,
      pattern: `${noun}_COLOR_HEX_CHAR`,
    },
  }),
  display: Type.Boolean({ description: 'Shown to everyone' }),
  partial: Type.Optional(
    Type.Boolean({ description: 'Keep name and url if they are not given; otherwise both are needed' }),
  ),
})

/** Colours that are readable under white text and easy to tell apart. */
export const PALETTE = [
  'c2410c',
  'b45309',
  '4d7c0f',
  '15803d',
  '0f766e',
  '0e7490',
  '1d4ed8',
  '4338ca',
  '6d28d9',
  'a21caf',
  'be185d',
  'b91c1c',
]

/** Adjacent palette colours look alike, so each new colour is five steps further; five steps reach every colour. */
const SPREAD = PALETTE.map((_, index) => PALETTE[(index * 5) % PALETTE.length] ?? '')
const ORDER = { board: SPREAD, roadmap: SPREAD.toReversed(), tag: PALETTE }

function nextColor(noun: keyof typeof ORDER, others: readonly { color: string }[]): string {
  const uses = (color: string) => others.filter((other) => other.color === color).length
  return ORDER[noun].reduce((best, color) => (uses(color) < uses(best) ? color : best))
}

function assertNameAndUrl(noun: 'BOARD' | 'ROADMAP' | 'TAG', input: Given): void {
  const missing = (['name', 'url'] as const)
    .filter((field) => input[field] === undefined)
    .map((field): Issue => ({
      code: `${noun}_${field.toUpperCase()}_MISSING`,
      message: `${field} is missing.`,
      field,
      rule: 'given, unless partial is true',
    }))
  if (missing.length > 0) throw invalid(missing)
}
