import type { Command } from 'commander'
import type { Cli } from './lib/session.js'
import { registerQueue } from './mailqueue.js'

export function register(group: Command, cli: Cli): void {
  registerQueue(group, cli)
}
