import type { Key } from '../../core/catalogue.js'
import * as boards from '../../service/boards.js'
import type { AnyOperation } from '../../service/lib/operation.js'
import * as roadmaps from '../../service/roadmaps.js'

/** A part of the dashboard. It is offered to those who may run one of the operations. */
interface SectionOf {
  path: string
  label: Key
  group: 'work' | 'site' | 'settings'
  operations: readonly AnyOperation[]
}

/** The parts of the dashboard, in the order of its menu. */
export const SECTIONS = {
  boards: {
    path: '/dashboard/boards',
    label: 'nav.boards',
    group: 'site',
    operations: [boards.create, boards.update, boards.remove],
  },
  roadmaps: {
    path: '/dashboard/roadmaps',
    label: 'nav.roadmaps',
    group: 'site',
    operations: [roadmaps.create, roadmaps.update, roadmaps.remove],
  },
} as const satisfies Record<string, SectionOf>

export type Section = keyof typeof SECTIONS
