import { formsScript } from '../kit/assets.js'
import type { View } from '../kit/page.js'

/** A page that has it has the script of such forms. */
export const FormsScript = ({ view }: { view: View }) => <script src={view.href(formsScript.path)} type="module" />
