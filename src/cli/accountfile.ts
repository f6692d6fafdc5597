import { open, rm } from 'node:fs/promises'
import path from 'node:path'
import { AppError } from '../core/errors.js'
import { escaped } from '../core/text.js'
import { accountDocument } from '../service/account.js'
import type { Cli } from './lib/connection/session.js'
import { tell, write } from './lib/terminal/terminal.js'

/**
 * Writes what the site stores of a person, part by part, so that no more than one is in the memory. Nobody else can read
 * the file. Throws USAGE for one that exists or cannot be written; what was begun is removed.
 */
export async function exportAccount(cli: Cli, { file, as }: { file: string | undefined; as: string | undefined }) {
  const { terminal } = cli
  const call = await cli.connect({ as })
  const document = await accountDocument(call)
  if (file === undefined || file === '-') {
    for await (const text of document) await write(terminal, text.split('\n').map(escaped).join('\n'))
    return
  }
  const target = path.resolve(terminal.cwd, file)
  const handle = await open(target, 'wx', 0o600).catch((error: unknown) => {
    throw notWritten(file, error)
  })
  try {
    for await (const text of document) await handle.write(text)
    await handle.close()
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(target, { force: true })
    throw error instanceof AppError ? error : notWritten(file, error)
  }
  tell(terminal, `Wrote the account to ${file}.`)
}

function notWritten(file: string, error: unknown): AppError {
  const { code } = error as { code?: string }
  const why = code === 'EEXIST' ? 'it exists already. Name another file, or remove it' : (code ?? 'unknown reason')
  return new AppError('USAGE', `Cannot write ${file}: ${why}.`)
}
