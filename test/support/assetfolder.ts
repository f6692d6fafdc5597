import path from 'node:path'

/** The folder of styles and scripts as they are built, which is what browsers get: `buildPrograms` of global.ts builds them. */
export const ASSETS = path.resolve(import.meta.dirname, '../../.cache/programs/dist/web/assets')
