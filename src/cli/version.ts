import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

/** The folder of the package, which is two folders up both in src/ and in dist/. */
const root = path.join(import.meta.dirname, '../..')

/** The version in package.json. */
export const version = (createRequire(import.meta.filename)('../../package.json') as { version: string }).version

/** The version that is there now, which an upgrade changes while this process runs. Undefined if there is none. */
export async function installedVersion(): Promise<string | undefined> {
  try {
    return (JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string }).version
  } catch {
    return undefined
  }
}

/** What starts the program. */
export const programFile = path.join(root, 'bin/feedbackctl.js')

/** The folder of the documents, which are part of the package. */
export const documents = path.join(root, 'docs')
