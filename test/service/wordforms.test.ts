import { expect, it } from 'vitest'
import { stemOf } from '../../src/core/search/stem.js'

/** Forms of a word, which one stem finds. */
const SAME = [
  ['heroes', 'hero'],
  ['zeroes', 'zero'],
  ['undoes', 'undo'],
  ['echoes', 'echo'],
  ['vetoes', 'veto'],
  ['potatoes', 'potato'],
  ['tomatoes', 'tomato'],
  ['antennae', 'antenna'],
  ['notificacoes', 'notificacao'],
  ['opcoes', 'opcao'],
  ['versoes', 'versao'],
  ['journaux', 'journal'],
  ['notificaciones', 'notificacion'],
  ['exportieren', 'exportiere'],
] as const

/** Words that mean other things. */
const OTHER = [
  ['quota', 'quote'],
  ['schema', 'scheme'],
  ['dollar', 'doll'],
  ['hangar', 'hang'],
  ['pillar', 'pill'],
  ['comma', 'commando'],
] as const

it.each(SAME)('%s and %s have one stem', (one, other) => {
  expect(stemOf(one)).toBe(stemOf(other))
})

it.each(OTHER)('%s and %s have two', (one, other) => {
  expect(stemOf(one)).not.toBe(stemOf(other))
})
