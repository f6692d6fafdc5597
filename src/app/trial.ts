import { rmSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.js'
import { makePrivateFolder } from '../core/files.js'
import { assertDatabaseKept } from '../marker.js'
import { openApp, type App } from './open.js'

/** Opens an empty site in a temporary folder, which is removed when it is closed: a dry run creates nothing. */
export async function openTrial(config: Config): Promise<App> {
  assertDatabaseKept(config)
  const folder = makePrivateFolder('feedbackctl-')
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const url = `sqlite:${path.join(folder, 'feedback.db')}`
    const get: Config['get'] = (key) => (key === 'database.url' ? url : key === 'data.dir' ? folder : config.get(key))
    const app = await openApp({ ...config, get }, { creating: true })
    return { ...app, close: () => app.close().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}
