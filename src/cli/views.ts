import type { Command } from 'commander'
import { printable } from '../core/text.js'
import * as views from '../service/views.js'
import type { View } from '../service/views.js'
import { command } from './lib/command/command.js'
import { showTitled } from './lib/command/existing.js'
import { FILTER_FLAGS } from './postflags.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

/** The filter in the words of flags: `board ideas,none · sort votes`. */
function filterText({ filter: { boardId, roadmapIds, authorId, tags, ...others }, missing }: View): string {
  const all = { board: boardId, roadmap: roadmapIds, author: authorId, tag: tags, ...others }
  const parts = Object.entries(all).flatMap(([field, value]) =>
    value === undefined || value === false ? [] : [value === true ? field : `${field} ${String(value)}`],
  )
  return [...parts, ...(missing.length > 0 ? [`${missing.length} gone`] : [])].join(' · ')
}

const columns: Column<View>[] = [
  { head: 'NAME', field: 'name', text: (view) => view.name, drop: 0 },
  { head: 'FILTER', text: filterText, drop: 1 },
  { head: 'ACCESS', text: (view) => (view.shared ? 'shared' : 'private'), drop: 0 },
  { head: 'USER', field: 'user.username', text: (view) => view.user?.username ?? '', drop: 2 },
  {
    head: 'UPDATED',
    field: 'updatedAt',
    text: (view) => view.updatedAt,
    shown: (view, _paint, now) => ago(view.updatedAt, now),
    drop: 3,
  },
  { head: 'ID', field: 'viewId', text: (view) => view.viewId, drop: 3, short: true },
]

const id = (view: View) => view.viewId
const one = { columns, id, rows: ({ view }: { view: View }) => [view] }
const label = (view: View) => `"${printable(view.name)}"`

export function register(group: Command, cli: Cli): void {
  command(
    group,
    views.list,
    {
      usage: 'list',
      examples: ['views list', 'views list --query triage'],
      output: {
        columns,
        id,
        rows: (answer) => answer.views,
        list: 'views',
        empty: () => 'You have no views, and nobody shares one.',
      },
    },
    cli,
  )
  command(group, views.show, { usage: 'show <view:view>', examples: ['views show triage'], output: one }, cli)
  command(
    group,
    views.create,
    {
      usage: 'create <name>',
      examples: ['views create triage --roadmap none --sort oldest', 'views create "Hot bugs" --board bugs --shared'],
      output: one,
      input: { flags: FILTER_FLAGS },
      existing: {
        by: 'a view with this name, of yours or shared,',
        find: (call, { name }) =>
          showTitled(call, 'view', { name }, { show: (view) => call(views.show, { view }), nameOf: ({ view }) => view.name }), // prettier-ignore
        said: ({ view }) => `View ${label(view)}`,
      },
      done: ({ view }) => `Created view ${label(view)}.`,
    },
    cli,
  )
  command(
    group,
    views.update,
    {
      usage: 'update <view:view...>',
      examples: ['views update triage --name "To do"', 'views update triage --board ideas --replace'],
      output: one,
      input: { flags: FILTER_FLAGS, hidden: ['ifVersion'] },
      requiresChange: true,
      done: ({ view }) => `Updated view ${label(view)}.`,
    },
    cli,
  )
  command(
    group,
    views.remove,
    {
      usage: 'delete <view:view...>',
      examples: ['views delete triage --yes'],
      output: { ...one, rows: () => [] },
      deletes: async (call, { view }) => (await call(views.show, { view })).view,
      confirm: async (call, { view }) => `Delete view ${label((await call(views.show, { view })).view)}?`,
      done: (_, given, { removed }) => `Deleted view ${removed ? label(removed) : String(given.view)}.`,
    },
    cli,
  )
}
