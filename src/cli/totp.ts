import type { Command } from 'commander'
import { renderUnicodeCompact } from 'uqr'
import * as totp from '../service/totp.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'

const recoveryCodes = {
  columns: [{ head: 'RECOVERY CODE', text: (code: string) => code, drop: 0, whole: true }],
  id: (code: string) => code,
  rows: (answer: { recoveryCodes: string[] }) => answer.recoveryCodes,
  list: true,
} as const

const KEEP = 'Keep the recovery codes where you find them without your phone. Each works once.'

export function register(group: Command, cli: Cli): void {
  command(
    group,
    totp.status,
    {
      usage: 'status',
      examples: ['totp status --server https://feedback.example.org'],
      output: {
        columns: [
          {
            head: 'SECOND FACTOR',
            text: ({ isEnabled, isNeeded }) => (isEnabled ? 'on' : isNeeded ? 'off, but a role needs it' : 'off'),
            drop: 0,
          },
          {
            head: 'CODES LEFT',
            text: ({ isEnabled, recoveryCodesLeft: left }) => (isEnabled ? String(left) : ''),
            right: true,
            drop: 1,
          },
          { head: 'SINCE', text: ({ enabledAt }) => enabledAt ?? '' },
        ],
        id: ({ isEnabled }) => (isEnabled ? 'on' : 'off'),
        rows: (answer) => [answer],
      },
    },
    cli,
  )
  command(
    group,
    totp.begin,
    {
      usage: 'begin',
      examples: ['totp begin --server https://feedback.example.org'],
      output: {
        columns: [
          { head: 'SECRET', text: ({ secret }) => secret, drop: 0, whole: true },
          { head: 'ADDRESS', text: ({ uri }) => uri },
        ],
        id: ({ secret }) => secret,
        rows: (answer) => [answer],
      },
      done: ({ uri }) =>
        `Made a secret for a second factor.\n${cli.terminal.stderr.isTTY ? `${renderUnicodeCompact(uri)}\n` : ''}Give it to an authenticator app. Then run "feedbackctl totp enable CODE".`,
    },
    cli,
  )
  command(
    group,
    totp.enable,
    {
      usage: 'enable <code>',
      examples: ['totp enable 123456 --server https://feedback.example.org'],
      output: recoveryCodes,
      done: () => `Enabled the second factor. ${KEEP}`,
      fixes: { TOTP_WRONG: ['totp enable CODE'] },
    },
    cli,
  )
  command(
    group,
    totp.disable,
    {
      usage: 'disable',
      examples: ['totp disable --code 123456'],
      output: { columns: [], id: String, rows: () => [] },
      done: () => 'Removed the second factor.',
    },
    cli,
  )
  command(
    group,
    totp.recovery,
    {
      usage: 'recovery-codes',
      examples: ['totp recovery-codes --code 123456'],
      output: recoveryCodes,
      done: () => `Replaced the recovery codes. The earlier ones no longer work. ${KEEP}`,
    },
    cli,
  )
}
