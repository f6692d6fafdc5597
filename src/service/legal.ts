import * as Type from 'typebox'
import { changeOf } from '../core/details.js'
import { LEGAL_PAGES, type LegalPage } from '../core/legal.js'
import { LENGTHS } from '../core/lengths.js'
import { deleteLegalPage, findLegalPage, listLegalPages, putLegalPage } from '../db/legal.js'
import { lockSettings } from '../db/settings.js'
import type { LegalPageRow } from '../db/tables.js'
import { withoutImages } from './lib/brand.js'
import { change } from './lib/change.js'
import { operation } from './lib/operation.js'
import { fields, nullable, oneOf } from './lib/schemas.js'
import { assertVersion, ifVersion, versionField, versionOf } from './lib/versions.js'

const name = oneOf(LEGAL_PAGES, { description: 'Which legal page' })
const time = { format: 'date-time' }

const Listed = Type.Object({ name, updatedAt: Type.String(time) })
const Page = Type.Object({
  name,
  markdown: nullable('string', { description: 'The text in Markdown; null: the site has no such page' }),
  updatedAt: nullable('string', time),
})
export type Page = Type.Static<typeof Page>

export const list = operation({
  id: 'legal.list',
  summary: 'List the legal pages that the site has, without their texts',
  http: 'GET /settings/legal 200',
  access: 'public',
  cache: 'public',
  errors: [],
  input: fields({}),
  output: Type.Object({ pages: Type.Array(Listed) }),
  async run({ db }) {
    const rows = new Map((await listLegalPages(db)).map((row) => [row.name, row.updatedAt]))
    return {
      pages: LEGAL_PAGES.flatMap((each) => {
        const updatedAt = rows.get(each)
        return updatedAt === undefined ? [] : [{ name: each, updatedAt }]
      }),
    }
  },
})

export const show = operation({
  id: 'legal.show',
  summary: 'Show a legal page: the imprint, the privacy policy or the terms',
  http: 'GET /settings/legal/:name 200',
  access: 'public',
  cache: 'public',
  errors: [],
  input: fields({ name }),
  output: Type.Object({ page: Page, version: versionField }),
  async run({ db }, input) {
    const row = await findLegalPage(db, input.name)
    return { page: toPage(input.name, row), version: versionOf(changeable(row)) }
  },
})

export const set = operation({
  id: 'legal.set',
  summary: 'Set the text of a legal page; an empty text removes the page',
  http: 'PUT /settings/legal/:name 200',
  access: 'settings:update',
  errors: ['CONTENT_CHANGED'],
  input: fields({
    name,
    markdown: nullable('string', {
      maxLength: LENGTHS.legal,
      trim: true,
      description: 'Text of the page, in Markdown (empty: no page)',
    }),
    ifVersion,
  }),
  output: Type.Object({ page: Page }),
  async run(ctx, { name: page, markdown, ifVersion: seen }) {
    const text = withoutImages('markdown', markdown)
    return change(ctx, async ({ db, record }) => {
      const { title } = await lockSettings(db) // a page that is not there yet has no row to lock
      const before = await findLegalPage(db, page)
      assertVersion(seen, changeable(before))
      if (text === (before?.markdown ?? null)) return { page: toPage(page, before) }
      const row = text === null ? undefined : { name: page, updatedAt: ctx.now().toISOString(), markdown: text }
      await (row ? putLegalPage(db, row) : deleteLegalPage(db, page))
      record('site.updated', 'site', title, undefined, [changeOf(page, null, row ? 'edited' : 'removed')])
      return { page: toPage(page, row) }
    })
  },
})

/** The values that `set` changes, for the version. */
const changeable = (row: LegalPageRow | undefined) => [row?.markdown ?? null]

const toPage = (page: LegalPage, row: LegalPageRow | undefined): Page => ({
  name: page,
  markdown: row?.markdown ?? null,
  updatedAt: row?.updatedAt ?? null,
})
