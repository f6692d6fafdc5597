import { createRequire } from 'node:module'
import path from 'node:path'

/** The folder of the package, which is two folders up both in src/ and in dist/. */
const root = path.join(import.meta.dirname, '../..')

/** The version in package.json. */
export const version = (createRequire(import.meta.filename)('../../package.json') as { version: string }).version

/** The folder of the documents, which are part of the package. */
export const documents = path.join(root, 'docs')
