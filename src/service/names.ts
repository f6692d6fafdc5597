import * as Type from 'typebox'
import { NAMED_NOUNS } from '../core/nouns.js'
import { idOf } from './lib/names.js'
import { operation } from './lib/operation.js'
import { fields, inPath, nullable, oneOf } from './lib/schemas.js'

export const find = operation({
  id: 'names.find',
  summary: 'Resolve a name or the start of an id, among the rows you may see',
  http: 'GET /names/:noun/:name 200',
  access: 'public',
  sensitive: true,
  errors: ['AMBIGUOUS_NAME', 'USER_NOT_FOUND'],
  input: fields({
    noun: oneOf(NAMED_NOUNS, {
      description: 'What it names; an item is a post or a comment, a subject is what events are about',
    }),
    name: inPath(
      'At least four characters an id starts with; the name of a board, roadmap, tag, role or key, in any letter case',
    ),
  }),
  output: Type.Object({ id: nullable('string', { description: 'null if nothing has this name' }) }),
  run: async (ctx, { noun, name }) => ({ id: (await idOf(ctx, noun, name)) ?? null }),
})
