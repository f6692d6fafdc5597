// A branch "notes" of commands, whose operations exist only to test cli/lib/command/command.ts.
import * as Type from 'typebox'
import type { Command } from 'commander'
import { command } from '../../src/cli/lib/command/command.js'
import type { Cli } from '../../src/cli/lib/connection/session.js'
import type { Branch } from '../../src/cli/tree.js'
import { paging } from '../../src/core/pages.js'
import { operation } from '../../src/service/lib/operation.js'
import { pageKeys } from '../../src/service/lib/paging.js'
import { fields, someOf } from '../../src/service/lib/schemas.js'
import { passwordField } from '../../src/service/lib/people.js'

const Note = Type.Object({ title: Type.String(), noteId: Type.String(), body: Type.String() })
type Note = Type.Static<typeof Note>

const common = { access: 'public', errors: [] } as const
const noteId = Type.String({ description: 'Which note' })
const contentMarkdown = Type.String({ maxLength: 200, description: 'Text of the note' })

const notes: Note[] = Array.from({ length: 250 }, (_, index) => ({
  title: `Note ${index}`,
  noteId: `n${index}`,
  body: 'As it was',
}))

const list = operation({
  ...common,
  id: 'notes.list',
  summary: 'List notes',
  http: 'GET /notes 200',
  input: fields({ limit: Type.Optional(Type.Integer()), after: Type.Optional(Type.String()) }),
  output: Type.Object({ notes: Type.Object({ results: Type.Array(Note), ...pageKeys }) }),
  async run(_ctx, { limit = 10, after }) {
    const start = notes.findIndex((note) => note.noteId === after) + 1
    const results = notes.slice(start, start + limit)
    const ids = results.map((note) => note.noteId)
    return {
      notes: { results, ...paging(ids, { total: notes.length, size: limit, more: start + limit < notes.length }) },
    }
  },
})

const show = operation({
  ...common,
  id: 'notes.show',
  summary: 'Show a note',
  http: 'GET /notes/:noteId 200',
  input: fields({ noteId }),
  output: Type.Object({ note: Note }),
  async run(_ctx, { noteId: id }) {
    return { note: { title: `Note ${id}`, noteId: id, body: 'As it was' } }
  },
})

const create = operation({
  ...common,
  id: 'notes.create',
  summary: 'Create a note',
  http: 'POST /notes 201',
  input: fields({
    title: Type.String(),
    contentMarkdown,
    boardId: Type.Optional(Type.String({ maxLength: 5 })),
    tags: Type.Optional(someOf(['a', 'b', 'c'])),
  }),
  output: Type.Object({ note: Note }),
  async run(_ctx, { title, contentMarkdown: body, tags = [] }) {
    return { note: { title: [title, ...tags].join(' '), noteId: 'n1', body } }
  },
})

const update = operation({
  ...common,
  id: 'notes.update',
  summary: 'Change a note',
  http: 'PATCH /notes 200',
  input: fields({
    noteId,
    title: Type.Optional(Type.String()),
    contentMarkdown: Type.Optional(contentMarkdown),
    password: passwordField,
  }),
  output: Type.Object({ note: Note }),
  async run(_ctx, { noteId: id, title = 'Same', contentMarkdown: body = 'Same' }) {
    return { note: { title, noteId: id, body } }
  },
})

const remove = operation({
  ...common,
  id: 'notes.delete',
  summary: 'Delete a note',
  http: 'DELETE /notes 204',
  input: fields({ noteId, password: passwordField }),
  output: Type.Undefined(),
  async run() {
    return undefined
  },
})

const sign = operation({
  ...common,
  id: 'notes.sign',
  summary: 'Sign a note',
  http: 'POST /notes/sign 200',
  input: fields({
    email: Type.String({ description: 'E-mail address' }),
    password: passwordField,
    userId: Type.Optional(Type.String()),
  }),
  output: Type.Object({ note: Note }),
  async run({ actor }, { email, password, userId = actor.userId ?? 'operator' }) {
    return { note: { title: email, noteId: userId, body: `${password?.length} characters` } }
  },
})

function register(group: Command, cli: Cli): void {
  const columns = [
    { head: 'TITLE', text: (note: Note) => note.title, drop: 0 },
    { head: 'BODY', text: (note: Note) => note.body, drop: 1 },
    { head: 'ID', text: (note: Note) => note.noteId, drop: 1 },
  ]
  const table = { columns, id: (note: Note) => note.noteId }
  const output = { ...table, rows: ({ note }: { note: Note }) => [note] }
  const body = { text: 'contentMarkdown', flags: { contentMarkdown: 'body', boardId: 'board' } } as const
  command(
    group,
    list,
    {
      usage: 'list',
      examples: [],
      output: { ...table, rows: (answer) => answer.notes.results, list: 'notes.results' },
    },
    cli,
  )
  command(group, show, { usage: 'show <noteId:note>', examples: [], output }, cli)
  const lose = { usage: 'lose <noteId:note>', examples: [], output, confirm: async () => 'Sure?' }
  // @ts-expect-error a command that asks before a loss says with `done` what it did
  void (() => command(group, show, lose, cli))
  command(
    group,
    create,
    {
      usage: 'create <title>',
      examples: [],
      output,
      input: { ...body, prompts: ['contentMarkdown'], editor: async () => '' },
    },
    cli,
  )
  command(
    group,
    update,
    {
      usage: 'update <noteId:note>',
      examples: [],
      output,
      input: {
        ...body,
        editor: async (call, { noteId: id, title }) =>
          title === undefined ? (await call(show, { noteId: id })).note.body : undefined,
      },
      requiresChange: true,
      done: ({ note }) => `Changed "${note.title}".`,
    },
    cli,
  )
  command(
    group,
    remove,
    {
      usage: 'delete <noteId:note>',
      examples: [],
      output: { ...table, rows: () => [] },
      input: { flags: { password: 'pass-phrase' } },
      confirm: async (_call, { noteId: id }) => ({ question: `Delete ${String(id)}?`, type: 'Note 7' }),
      done: () => 'Deleted the note.',
    },
    cli,
  )
  const signInput = { hidden: ['userId'], prompts: ['email', 'password'], generated: 'password' } as const
  command(group, sign, { usage: 'sign', examples: [], output, input: signInput }, cli)
  const onBehalf = {
    op: sign,
    needs: 'needs a note',
    fields: (input: object, account: string) => ({ ...input, userId: `id of ${account}` }),
  }
  command(group, sign, { usage: 'vouch', examples: [], output, input: { hidden: ['userId'] }, as: onBehalf }, cli)
}

export const notesBranch: Branch = {
  name: 'notes',
  summary: 'Try the command layer',
  group: 'What is on it:',
  load: async () => ({ register }),
}
