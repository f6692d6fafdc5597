import { createRequire } from 'node:module'

/** The version in package.json, which is two folders up both in src/ and in dist/. */
export const version = (createRequire(import.meta.filename)('../../package.json') as { version: string }).version
