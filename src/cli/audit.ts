import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { counted } from '../core/text.js'
import * as audit from '../service/audit.js'
import type { Finding } from '../service/audit.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { print, type OutputFlags } from './lib/output/output.js'
import type { Column } from './lib/output/table.js'
import { tell } from './lib/terminal/terminal.js'

const columns: Column<Finding>[] = [
  { head: 'AFTER', text: (finding) => String(finding.after), right: true, drop: 0 },
  { head: 'UNTIL', text: (finding) => String(finding.until), right: true, drop: 0 },
  { head: 'PROBLEM', text: (finding) => finding.problem, drop: 0 },
]

export function register(group: Command, cli: Cli): void {
  explain(group.command('verify'), {
    examples: ['audit verify', 'audit verify --expect 1200:9f86d081884c7d65…'],
    notes: [
      'Prints what does not match, and then exits with 9. A command seals its events when it ends, or leaves that to a server that runs; until then changes to them cannot be detected.',
      'Keep the head elsewhere: anyone who can write to the database can also rebuild the whole chain. Only --expect detects that.',
    ],
  })
    .description(audit.verify.summary)
    .option('--expect <head>', 'the head that an earlier check printed, which must still be part of the chain')
    .action(async (_flags: unknown, command: Command) => {
      const flags = command.optsWithGlobals<OutputFlags & { expect?: string }>()
      const call = await cli.connect()
      let answer = await call(audit.verify, { expect: flags.expect })
      const body = { ...answer }
      while (answer.next !== null) {
        answer = await call(audit.verify, { after: answer.next })
        body.checked += answer.checked
        body.findings = [...body.findings, ...answer.findings]
        Object.assign(body, { head: answer.head, unsealed: answer.unsealed, next: answer.next })
      }
      const { findings, checked, head, unsealed } = body
      await print(cli.terminal, flags, { body, rows: findings, columns, id: (row) => String(row.until), single: false })
      const rest =
        unsealed > 0
          ? ` Not sealed yet: ${counted(unsealed, 'event')} at most. The next change or "feedbackctl serve" seals them.`
          : ''
      if (findings.length > 0)
        throw new AppError(
          'AUDIT_FINDINGS',
          `The event log does not match its hashes in ${counted(findings.length, 'place')}.${rest}`,
        )
      tell(
        cli.terminal,
        checked === 0
          ? `No event is sealed yet, so none was checked.${rest}`
          : `${counted(checked, 'event')} checked. Nothing was changed or removed. Head: ${head ?? 'none'}.${rest}`,
      )
    })
}
