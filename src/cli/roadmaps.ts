import type { Command } from 'commander'
import { printable, quoted } from '../core/text.js'
import * as roadmaps from '../service/roadmaps.js'
import type { Roadmap } from '../service/roadmaps.js'
import { command } from './lib/command/command.js'
import { showTitled } from './lib/command/existing.js'
import type { View } from './lib/command/view.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

const columns: Column<Roadmap>[] = [
  { head: 'POSITION', field: 'index', text: (roadmap) => String(roadmap.index), right: true, drop: 2 },
  { head: 'NAME', field: 'name', text: (roadmap) => roadmap.name, drop: 0 },
  { head: 'URL', field: 'url', text: (roadmap) => roadmap.url, id: (roadmap) => roadmap.id, drop: 0, whole: true },
  { head: 'KIND', field: 'kind', text: (roadmap) => roadmap.kind, drop: 1 },
  {
    head: 'COLOR',
    field: 'color',
    text: (roadmap) => roadmap.color,
    shown: (roadmap, paint) => `${paint.hex(roadmap.color)('■')} ${roadmap.color}`,
    drop: 3,
  },
  {
    head: 'ACCESS',
    text: (roadmap) => (roadmap.display ? 'public' : 'private'),
    shown: (roadmap, paint) => (roadmap.display ? 'public' : paint.yellow('private')),
    drop: 0,
  },
  {
    head: 'CREATED',
    field: 'created_at',
    text: (roadmap) => roadmap.created_at,
    shown: (roadmap, _paint, now) => ago(roadmap.created_at, now),
  },
  { head: 'ID', field: 'id', text: (roadmap) => roadmap.id },
]

const table = { columns, id: (roadmap: Roadmap) => roadmap.url }
const one = { ...table, rows: ({ roadmap }: { roadmap: Roadmap }) => [roadmap] }
const switches = { display: { word: 'private', on: false, description: 'Only for users with roadmap:read' } } as const
const label = (roadmap: Roadmap) => `"${printable(roadmap.name)}" (${roadmap.url})`

export function register(group: Command, cli: Cli): void {
  const add = <In, Out, Subject>(
    op: Parameters<typeof command<In, Out, Roadmap, Subject>>[1],
    view: View<In, Out, Roadmap>,
  ) => command(group, op, view, cli)

  add(
    { ...roadmaps.list, summary: 'List roadmaps in their own order, which "roadmaps move" changes' },
    {
      usage: 'list',
      examples: ['roadmaps list'],
      output: { ...table, rows: (answer) => answer.roadmaps, list: 'roadmaps' },
      // Administrators expect hidden roadmaps too.
      input: { defaults: { visibility: ['public', 'private'] } },
    },
  )
  add(roadmaps.search, {
    usage: 'search <name...>',
    replaced: true, // "list --query" finds the same, and has pages
    input: { joined: 'name' },
    examples: ['roadmaps search pla'],
    output: {
      ...table,
      rows: (answer) => answer.roadmaps,
      list: true,
      empty: ({ name }) => `No roadmap has a name that starts with ${quoted(String(name))}.`,
    },
  })
  add(roadmaps.show, { usage: 'show <url:roadmap>', examples: ['roadmaps show planned'], output: one })
  add(roadmaps.create, {
    usage: 'create <name>',
    examples: ['roadmaps create Planned --color 1d4ed8', 'roadmaps create "Not now" --kind declined'],
    output: one,
    input: { defaults: { display: true }, switches }, // over HTTP the default is private, by contract
    lines: 'alone',
    existing: {
      by: 'a roadmap with this url, or without --url a roadmap with this name,',
      find: (call, given) =>
        showTitled(call, 'roadmap', given, {
          show: (url) => call(roadmaps.show, { url }),
          nameOf: ({ roadmap }) => roadmap.name,
        }),
      said: ({ roadmap }) => `Roadmap ${label(roadmap)}`,
    },
    done: ({ roadmap }) => `Created roadmap ${label(roadmap)}.`,
  })
  add(roadmaps.createUsual, {
    usage: 'create-usual',
    examples: ['roadmaps create-usual'],
    output: { ...table, rows: (answer) => answer.roadmaps },
    done: ({ roadmaps: { length } }) =>
      length === 0 ? 'Created no roadmap: all of them are there.' : `Created ${length} roadmaps.`,
  })
  add(roadmaps.update, {
    usage: 'update <id:roadmap...>',
    examples: ['roadmaps update planned --name "Coming soon" --private'],
    output: one,
    input: { hidden: ['partial', 'ifVersion'], defaults: { partial: true }, switches },
    requiresChange: true,
    done: ({ roadmap }) => `Updated roadmap ${label(roadmap)}.`,
  })
  add(roadmaps.move, {
    usage: 'move <roadmap>',
    examples: ['roadmaps move planned --position 1'],
    output: one,
    input: { prompts: ['position'] },
    done: ({ roadmap }) => `Moved roadmap ${label(roadmap)} to position ${roadmap.index}.`,
  })
  add(roadmaps.remove, {
    usage: 'delete <id:roadmap...>',
    examples: ['roadmaps delete planned --yes'],
    output: { ...table, rows: () => [] },
    deletes: async (call, { id }) => (await call(roadmaps.show, { url: id })).roadmap,
    async confirm(call, { id }) {
      const { roadmap } = await call(roadmaps.show, { url: id })
      return `Delete roadmap ${label(roadmap)}? Its posts stay, without a roadmap.`
    },
    done: (_, given, { removed }) => `Deleted roadmap ${removed ? label(removed) : String(given.id)}.`,
  })
}
