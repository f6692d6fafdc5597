import { existsSync } from 'node:fs'
import path from 'node:path'

/** The folder of styles and scripts: beside the sources, or where the build puts them. */
export const ASSETS =
  [path.join(import.meta.dirname, '../assets'), path.join(import.meta.dirname, '../web/assets')].find((folder) =>
    existsSync(path.join(folder, 'site.css')),
  ) ?? ''
