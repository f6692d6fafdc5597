import * as Type from 'typebox'
import { changesOf } from '../core/details.js'
import { lockSettings, readSettings, updateLabs } from '../db/settings.js'
import type { SettingsRow } from '../db/tables.js'
import { change } from './lib/change.js'
import { operation } from './lib/operation.js'
import { fields } from './lib/schemas.js'
import { assertVersion, ifVersion, versionField, versionOf } from './lib/versions.js'
import { Labs, labsOf } from './settings.js'

export const show = operation({
  id: 'labs.show',
  summary: 'Show which experimental features are on',
  http: 'GET /settings/labs 200',
  access: 'public',
  cache: 'public',
  errors: [],
  input: fields({}),
  output: Type.Object({ labs: Labs, version: versionField }),
  async run({ db }) {
    const row = await readSettings(db)
    return { labs: labsOf(row), version: versionOf(changeable(row)) }
  },
})

/** What `update` sets. */
const changeable = (row: SettingsRow) => [labsOf(row).voteOnBehalf === true ? 1 : 0]

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
  errors: ['CONTENT_CHANGED'],
  input: fields({ voteOnBehalf: Type.Optional(whatever), ifVersion }, 'all'),
  output: Type.Object({ labs: Labs }),
  async run(ctx, { voteOnBehalf, ifVersion: seen }) {
    if (typeof voteOnBehalf !== 'boolean') return { labs: labsOf(await readSettings(ctx.db)) }
    return change(ctx, async ({ db, record }) => {
      const before = await lockSettings(db)
      assertVersion(seen, changeable(before))
      const row = await updateLabs(db, { voteOnBehalf })
      record('site.updated', 'site', row.title, undefined, changesOf('site', before, row))
      return { labs: labsOf(row) }
    })
  },
})
