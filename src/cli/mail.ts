import type { Command } from 'commander'
import type { Cli } from './lib/connection/session.js'
import { registerPreview } from './mailpreview.js'
import { registerQueue } from './mailqueue.js'
import { registerSuppressed } from './mailsuppressed.js'
import { registerTest } from './mailtest.js'

export function register(group: Command, cli: Cli): void {
  registerTest(group, cli)
  registerQueue(group, cli)
  registerPreview(group, cli)
  registerSuppressed(group, cli)
}
