import type { Command } from 'commander'
import { printable } from '../core/text.js'
import * as roadmaps from '../service/roadmaps.js'
import type { Roadmap } from '../service/roadmaps.js'
import { command } from './lib/command.js'
import type { Cli } from './lib/session.js'
import type { Column } from './lib/table.js'
import type { View } from './lib/view.js'

const columns: Column<Roadmap>[] = [
  { head: 'PLACE', text: (roadmap) => String(roadmap.index), right: true, drop: 2 },
  { head: 'NAME', text: (roadmap) => roadmap.name, drop: 0 },
  { head: 'URL', text: (roadmap) => roadmap.url, drop: 0 },
  {
    head: 'COLOR',
    text: (roadmap) => roadmap.color,
    shown: (roadmap, paint) => `${paint.hex(roadmap.color)('■')} ${roadmap.color}`,
    drop: 3,
  },
  {
    head: 'SHOWN TO',
    text: (roadmap) => (roadmap.display ? 'public' : 'private'),
    shown: (roadmap, paint) => (roadmap.display ? 'everybody' : paint.yellow('private')),
    drop: 1,
  },
  { head: 'CREATED', text: (roadmap) => roadmap.created_at },
  { head: 'ID', text: (roadmap) => roadmap.id },
]

const table = { columns, id: (roadmap: Roadmap) => roadmap.url }
const one = { ...table, rows: ({ roadmap }: { roadmap: Roadmap }) => [roadmap] }
const named = (roadmap: Roadmap) => `"${printable(roadmap.name)}" (${roadmap.url})`

export function register(group: Command, cli: Cli): void {
  const add = <In, Out, Subject>(
    op: Parameters<typeof command<In, Out, Roadmap, Subject>>[1],
    view: View<In, Out, Roadmap>,
  ) => command(group, op, view, cli)

  add(roadmaps.list, {
    ...table,
    words: 'list',
    examples: ['roadmaps list'],
    rows: (answer) => answer.roadmaps,
    list: 'roadmaps',
    hidden: ['first'],
    preset: { visibility: ['public', 'private'] }, // as for boards: an administrator wants to see all
  })
  add(roadmaps.search, {
    ...table,
    words: 'search <name>',
    examples: ['roadmaps search pla'],
    rows: (answer) => answer.roadmaps,
    many: true,
  })
  add(roadmaps.show, { ...one, words: 'show <url:roadmap>', examples: ['roadmaps show planned'] })
  add(roadmaps.create, {
    ...one,
    words: 'create <name>',
    examples: ['roadmaps create Planned --color 1d4ed8'],
    preset: { display: true }, // over HTTP a new one is private, as the contract has it
    done: ({ roadmap }) => `Created roadmap ${named(roadmap)}.`,
  })
  add(roadmaps.update, {
    ...one,
    words: 'update <id:roadmap>',
    examples: ['roadmaps update planned --name "Coming soon" --display false'],
    hidden: ['partial'],
    preset: { partial: true },
    changes: true,
    done: ({ roadmap }) => `Changed roadmap ${named(roadmap)}.`,
  })
  add(roadmaps.move, {
    ...one,
    words: 'move <roadmap>',
    examples: ['roadmaps move planned --position 1'],
    asks: ['position'],
    done: ({ roadmap }) => `Roadmap ${named(roadmap)} is number ${roadmap.index} now.`,
  })
  add(roadmaps.remove, {
    columns,
    id: table.id,
    words: 'delete <id:roadmap>',
    examples: ['roadmaps delete planned --yes'],
    rows: () => [],
    loses: async (call, { id }) =>
      `Delete roadmap ${named((await call(roadmaps.show, { url: id })).roadmap)}? Its posts stay, without a roadmap.`,
    done: (_, given) => `Deleted roadmap ${String(given.id)}.`,
  })
}
