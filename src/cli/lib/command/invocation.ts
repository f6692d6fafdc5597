import type { Command } from 'commander'
import type { Call, Operation } from '../../../service/lib/operation.js'
import type { Cli } from '../connection/session.js'
import type { Values } from '../flags/fieldoption.js'
import type { OutputFlags } from '../output/output.js'
import type { Shape } from './shape.js'
import type { View } from './view.js'

interface Flags extends OutputFlags {
  dryRun?: boolean
  everyPage?: boolean
  follow?: boolean
  yes?: boolean
  input?: boolean
  as?: string
  ifNotExists?: boolean
  asCurl?: boolean
}

/** The command of an operation, without the types of its input and of what its access looks up. */
export interface Kind<Out, Row> {
  op: Operation<unknown, Out, unknown>
  view: View<Values, Out, Row>
  shape: Shape
}

/** One run of a command. */
export interface Invocation<Out, Row> extends Kind<Out, Row> {
  cli: Cli
  leaf: Command
  flags: Flags
  /** Connects late, so that missing input is reported first. */
  connect(this: void): Promise<Call>
  /** Answers about what existed already, with --if-not-exists. */
  present: Set<Out>
}

export function invocationOf<Out, Row>(cli: Cli, leaf: Command, kind: Kind<Out, Row>): Invocation<Out, Row> {
  const flags = leaf.optsWithGlobals<Flags>()
  const connection = connectionOf({ ...kind, flags })
  let connected: Promise<Call> | undefined
  const connect = async () => {
    if (connection.as === undefined) return cli.connect(connection)
    return (connected ??= cli.connect(connection))
  }
  return { ...kind, cli, leaf, flags, connect, present: new Set() }
}

/** How a command connects. */
export const connectionOf = <Out, Row>({
  op,
  view,
  flags: { dryRun = false, as },
}: Pick<Invocation<Out, Row>, 'op' | 'view' | 'flags'>) => ({
  dryRun,
  creating: !dryRun && canCreateSite(op.http),
  as: typeof view.as === 'object' ? undefined : as,
})

/** Whether an operation can succeed on a site that does not exist yet: it creates something, or changes a setting. */
const canCreateSite = (http: string): boolean => http.endsWith(' 201') || /^P\w+ \/settings/.test(http)

/** Connects before any prompt if a server would refuse --as. */
export async function assertActingAs<Out, Row>(invocation: Invocation<Out, Row>): Promise<void> {
  if (connectionOf(invocation).as !== undefined) await invocation.connect()
}
