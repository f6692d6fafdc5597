import * as Type from 'typebox'
import { fieldsOf } from '../../core/fields.js'
import type { Context } from './context.js'
import { creating, type Creation, type Result } from './creating.js'
import { assertStill, type LongBody, type Piece } from './download.js'
import type { Operation } from './operation.js'
import { fields } from './schemas.js'
import { upload } from './upload.js'
import { NDJSON, rowsIn } from './uploadrows.js'

/** Some hundred posts of the greatest length. */
const MAX_BYTES = 64_000_000

interface Uploaded<In, Out> extends Omit<Creation<In, Out>, 'create'> {
  id: string
  summary: string
  http: `POST /${string} 200`
  /** What CSV calls fields, as commands do. */
  columns?: Readonly<Record<string, string>>
  /** Fields that the query may have, for rows that have none of their own. */
  forAll?: readonly string[]
  /** What of the answer says which row it is. */
  brief(this: void, answer: Out): object
}

/**
 * An upload of rows, for each of which an operation creates something: with its access, its checks, its limit and its
 * events. The answer has a line for each row, sent as soon as its hundred is stored, and a last one with the counts.
 */
export function uploadOf<In, Out>(
  create: Operation<In, Out, undefined>,
  { id, summary, http, columns = {}, forAll = [], brief, ...creation }: Uploaded<In, Out>,
): Operation<object, LongBody, undefined> {
  const { access, errors, writes, sensitive, input: { properties } } = create // prettier-ignore
  return upload({
    id,
    summary,
    http,
    access,
    errors,
    ...(writes && { writes }),
    ...(sensitive && { sensitive }),
    accepts: ['text/csv', NDJSON],
    maxBytes: MAX_BYTES,
    types: [NDJSON],
    input: fields({
      ...Object.fromEntries(Object.entries(properties).filter(([name]) => forAll.includes(name))),
      ...(creation.find && {
        ifNotExists: Type.Boolean({ default: false, description: 'Create only what does not exist yet' }),
      }),
      whole: Type.Boolean({ default: false, description: 'Answer with all of what was created, not only its names' }),
    }),
    output: Type.String(),
    async run(ctx: Context, input: Record<string, unknown>, body): Promise<LongBody> {
      const { ifNotExists = false, whole, ...shared } = input
      const rows = rowsIn(body, { main: creation.main, fields: fieldsOf(create.input), names: columns })
      const results = creating(
        { create, ...creation },
        ctx,
        { ifNotExists: ifNotExists === true, forAll: shared, mayGoOn: () => assertStill({ access }, ctx, 'upload') },
        rows,
      )
      return answerOf(results, whole === true ? undefined : brief)
    },
  })
}

const lineOf = (line: object): string => `${JSON.stringify(line)}\n`

function answerOf<Out>(
  results: AsyncIterable<readonly Result<Out>[]>,
  brief: ((answer: Out) => object) | undefined,
): LongBody {
  const counts = { created: 0, existing: 0, failed: 0 }
  async function* pieces(): AsyncGenerator<Piece> {
    for await (const done of results) {
      for (const { result } of done) counts[result === 'exists' ? 'existing' : result] += 1
      yield { text: done.map((each) => lineOf(shown(each, brief))).join(''), rows: done.length }
    }
    yield { text: lineOf({ result: 'complete', ...counts }), rows: 0 }
  }
  const end = ({ body: error }: { body: object }) => ({
    text: lineOf({ result: 'incomplete', ...counts, error }),
    rows: 0,
  })
  return { type: NDJSON, pieces: pieces(), end }
}

function shown<Out>(done: Result<Out>, brief: ((answer: Out) => object) | undefined): object {
  const { line, result } = done
  if (result === 'failed') return { line, result, error: done.error.body }
  return { line, result, ...(brief ? brief(done.answer) : done.answer) }
}
