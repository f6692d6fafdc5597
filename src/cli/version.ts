import { createRequire } from 'node:module'

/** The version of the package; two folders up both from here and from the built program. */
export const version = (createRequire(import.meta.filename)('../../package.json') as { version: string }).version
