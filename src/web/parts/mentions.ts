import { mentionsScript } from '../kit/assets.js'
import type { View } from '../kit/page.js'

/** The data of a text field that offers people while an @ is typed. `path` is the page with these people. */
export const mentionsIn = (view: View, path: string): { people?: string; script?: string } =>
  view.viewer ? { people: view.href(path), script: view.href(mentionsScript.path) } : {}
