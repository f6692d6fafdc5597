import { Option } from 'commander'
import type { Noun } from '../../../core/nouns.js'

/** The values of the fields of an operation, by name. */
export type Values = Record<string, unknown>

/** Flags of every command. A field with such a name has another flag too, which wins over them. */
const GLOBAL: ReadonlySet<string> = new Set(['quiet'])

export const isGlobal = (field: string): boolean => GLOBAL.has(field)

/** Where the parser keeps the value of a field. */
export const attributeOf = (field: string): string => (isGlobal(field) ? `field ${field}` : field)

/** A flag that sets a field. Several flags may set the same field. */
export class FieldOption extends Option {
  /** The flag that help shows beside this one. */
  opposite?: string
  /** The values that it can have. The operation checks them. */
  words?: readonly string[]
  /** Its values name rows of this noun. */
  noun?: Noun

  constructor(
    flags: string,
    description: string,
    readonly field: string,
    readonly secret = false,
  ) {
    super(flags, description)
  }

  /** Whether its value is a secret that the process list shows to all users of the machine. */
  get exposes(): boolean {
    return this.secret && this.flags.endsWith('<text>')
  }

  override attributeName(): string {
    return attributeOf(this.field)
  }
}
