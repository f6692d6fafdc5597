import * as Type from 'typebox'
import { readSettings } from '../db/settings.js'
import type { SettingsRow } from '../db/tables.js'
import { operation } from './operation.js'
import { fields, nullable } from './schemas.js'

const Settings = Type.Object({
  title: Type.String(),
  description: nullable('string'),
  logo: nullable('string'),
  icon: nullable('string'),
  accentColor: nullable('string', { description: 'Six hexadecimal digits' }),
  googleAnalyticsId: nullable('string'),
  isPoweredBy: Type.Boolean(),
  allowSignup: Type.Boolean(),
  developer_mode: Type.Boolean(),
  labs: Type.Record(Type.String(), Type.Boolean(), { description: 'Features that are tried out, by name' }),
})

export const site = operation({
  id: 'settings.site',
  summary: 'Show the settings of the site',
  http: 'GET /settings/site 200',
  access: 'public',
  errors: [],
  input: fields({}),
  output: Type.Object({ settings: Settings }),
  async run({ db }) {
    return { settings: toSettings(await readSettings(db)) }
  },
})

const toSettings = ({ title, description, logo, icon, accentColor, googleAnalyticsId, ...row }: SettingsRow): Type.Static<typeof Settings> => ({
  title,
  description,
  logo,
  icon,
  accentColor,
  googleAnalyticsId,
  isPoweredBy: row.isPoweredBy === 1,
  allowSignup: row.allowSignup === 1,
  developer_mode: row.developer_mode === 1,
  labs: JSON.parse(row.labs) as Record<string, boolean>, // written by us only
})
