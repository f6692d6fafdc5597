import * as Type from 'typebox'
import { AppError } from '../../core/errors.js'
import type { Permission } from '../../core/permissions.js'
import { can, notAllowed, refusalTo, unconfirmed, withoutStacks, type Actor, type Gated } from './access.js'

/** What refuses an actor: undefined where they may do it. */
type Rule<Row> = (this: void, actor: Actor, row: Row) => AppError | undefined

/**
 * What may be done with a row, by verb. The operation that does it asserts the same rule, so an answer never offers what
 * would be refused, but for a limit that is reached. A row has all that its rules look at, as whether others took part.
 */
export interface Policy<Row, Verb extends string> {
  /** The field `may` of an answer. */
  field: Type.TArray<Type.TUnsafe<Verb>>
  may(this: void, actor: Actor, row: Row): Verb[]
  assert(this: void, verb: Verb, actor: Actor, row: Row): void
}

export function policy<Row, Verb extends string>(
  rules: Readonly<Record<Verb, Rule<Row>>>,
  /** `writes` is what the operations of all verbs declare. */
  { writes }: Pick<Gated, 'writes'> = {},
): Policy<Row, Verb> {
  const verbs = Object.keys(rules) as Verb[]
  const refusal = (verb: Verb, actor: Actor, row: Row) => rules[verb](actor, row) ?? (writes && unconfirmed(actor))
  return {
    field: Type.Array(Type.Unsafe<Verb>({ type: 'string', enum: verbs }), {
      description: 'What the rights of the caller allow to do with it',
    }),
    may: (actor, row) => withoutStacks(() => verbs.filter((verb) => refusal(verb, actor, row) === undefined)),
    assert(verb, actor, row) {
      const refused = refusal(verb, actor, row)
      if (refused) throw refused
    },
  }
}

/** The verb needs this permission. */
export const needs =
  (permission: Permission): Rule<unknown> =>
  (actor) =>
    can(actor, permission) ? undefined : notAllowed([permission])

/** The verb is this operation, which checks what it declares itself. A function, as both may be in one file. */
export const runs =
  (op: () => Gated): Rule<unknown> =>
  (actor) =>
    actor.refusal ?? refusalTo(op(), actor)
