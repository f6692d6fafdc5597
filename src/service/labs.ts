import * as Type from 'typebox'
import { changesOf } from '../core/details.js'
import { lockSettings, readSettings, updateLabs } from '../db/settings.js'
import { change } from './lib/change.js'
import { operation } from './lib/operation.js'
import { fields } from './lib/schemas.js'
import { Labs, labsOf } from './settings.js'

export const show = operation({
  id: 'labs.show',
  summary: 'Show which experimental features are on',
  http: 'GET /settings/labs 200',
  access: 'public',
  cache: 'public',
  errors: [],
  input: fields({}),
  output: Type.Object({ labs: Labs }),
  async run({ db }) {
    return { labs: labsOf(await readSettings(db)) }
  },
})

/** The contract ignores a value that is not true or false. */
const whatever = Type.Unsafe<unknown>({
  type: ['boolean', 'null', 'number', 'string', 'array', 'object'],
  items: {},
  description: 'Whether staff may vote on behalf of others; values other than true and false are ignored',
})

export const update = operation({
  id: 'labs.update',
  summary: 'Switch experimental features on or off',
  http: 'PATCH /settings/labs 200',
  access: 'settings:update',
  errors: [],
  input: fields({ voteOnBehalf: Type.Optional(whatever) }, 'all'),
  output: Type.Object({ labs: Labs }),
  async run(ctx, { voteOnBehalf }) {
    if (typeof voteOnBehalf !== 'boolean') return { labs: labsOf(await readSettings(ctx.db)) }
    return change(ctx, async ({ db, record }) => {
      const before = await lockSettings(db)
      const row = await updateLabs(db, { voteOnBehalf })
      record('site.updated', 'site', row.title, undefined, changesOf('site', before, row))
      return { labs: labsOf(row) }
    })
  },
})
