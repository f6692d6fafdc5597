import type { Command } from 'commander'
import { printable } from '../core/text.js'
import * as tags from '../service/tags.js'
import type { Tag } from '../service/tags.js'
import { command } from './lib/command/command.js'
import { showTitled } from './lib/command/existing.js'
import type { View } from './lib/command/view.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { ago } from './lib/texts/age.js'

const countOf = (tag: Tag) => `${tag.post_count ?? ''}${tag.is_capped ? '+' : ''}`

const columns: Column<Tag>[] = [
  { head: 'NAME', field: 'name', text: (tag) => tag.name, drop: 0 },
  { head: 'URL', field: 'url', text: (tag) => tag.url, id: (tag) => tag.tagId, drop: 0, whole: true },
  { head: 'POSTS', field: 'post_count', text: countOf, right: true, drop: 1 },
  {
    head: 'COLOR',
    field: 'color',
    text: (tag) => tag.color,
    shown: (tag, paint) => `${paint.hex(tag.color)('■')} ${tag.color}`,
    drop: 3,
  },
  {
    head: 'ACCESS',
    text: (tag) => (tag.display ? 'public' : 'private'),
    shown: (tag, paint) => (tag.display ? 'public' : paint.yellow('private')),
    drop: 0,
  },
  {
    head: 'CREATED',
    field: 'createdAt',
    text: (tag) => tag.createdAt,
    shown: (tag, _paint, now) => ago(tag.createdAt, now),
  },
  { head: 'ID', field: 'tagId', text: (tag) => tag.tagId },
]

const table = { columns, id: (tag: Tag) => tag.url }
const one = { ...table, rows: ({ tag }: { tag: Tag }) => [tag] }
const switches = { display: { word: 'private', on: false, description: 'Only for users with dashboard:read' } } as const
const label = (tag: Tag) => `"${printable(tag.name)}" (${tag.url})`
const posts = (tag: Tag) => (tag.post_count === 1 ? '1 post' : `${countOf(tag)} posts`)

export function register(group: Command, cli: Cli): void {
  const add = <In, Out, Subject>(op: Parameters<typeof command<In, Out, Tag, Subject>>[1], view: View<In, Out, Tag>) =>
    command(group, op, view, cli)

  add(tags.list, {
    usage: 'list',
    examples: ['tags list', 'tags list --query mob'],
    output: { ...table, rows: (answer) => answer.tags, list: 'tags' },
    // The team expects private tags too, and the count is a column.
    input: { defaults: { visibility: ['public', 'private'] }, hidden: ['counts'] },
  })
  add(tags.show, { usage: 'show <url:tag>', examples: ['tags show mobile'], output: one })
  add(tags.create, {
    usage: 'create <name>',
    examples: ['tags create Mobile --color 1d4ed8', 'tags create "Enterprise plan" --private'],
    output: one,
    input: { switches },
    lines: 'alone',
    existing: {
      by: 'a tag with this url, or without --url a tag with this name,',
      find: (call, given) =>
        showTitled(call, 'tag', given, {
          show: (url) => call(tags.show, { url }),
          nameOf: ({ tag }) => tag.name,
        }),
      said: ({ tag }) => `Tag ${label(tag)}`,
    },
    done: ({ tag }) => `Created tag ${label(tag)}.`,
  })
  add(tags.update, {
    usage: 'update <tagId:tag...>',
    examples: ['tags update mobile --name "Mobile apps"', 'tags update mobile --private'],
    output: one,
    input: { hidden: ['partial', 'ifVersion'], defaults: { partial: true }, switches },
    requiresChange: true,
    done: ({ tag }) => `Updated tag ${label(tag)}.`,
  })
  add(tags.merge, {
    usage: 'merge <ids:tag...>',
    examples: ['tags merge phone ios --into mobile'],
    output: one,
    async confirm(call, { ids, into }) {
      const { tag: target } = await call(tags.show, { url: into })
      const merged: Tag[] = []
      for (const url of ids as string[]) merged.push((await call(tags.show, { url })).tag)
      return `Merge ${merged.map((tag) => `${label(tag)}, on ${posts(tag)},`).join(' ')} into ${label(target)}? ${merged.length === 1 ? 'The tag is' : 'The tags are'} deleted.`
    },
    done: ({ tag }) =>
      `Merged into tag ${label(tag)}, which ${posts(tag)} ${tag.post_count === 1 ? 'has' : 'have'} now.`,
  })
  add(tags.remove, {
    usage: 'delete <tagId:tag...>',
    examples: ['tags delete mobile --yes'],
    output: { ...table, rows: () => [] },
    deletes: async (call, { tagId }) => (await call(tags.show, { url: tagId })).tag,
    async confirm(call, { tagId }) {
      const { tag } = await call(tags.show, { url: tagId })
      return `Delete tag ${label(tag)}? ${tag.post_count === 0 ? 'No post has it.' : `It is on ${posts(tag)}, which stay.`}`
    },
    done: (_, given, { removed }) => `Deleted tag ${removed ? label(removed) : String(given.tagId)}.`,
  })
}
