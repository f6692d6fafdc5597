import { editorScript } from '../kit/assets.js'
import type { View } from '../kit/page.js'
import { Field } from './form.js'
import { Icon } from './icon.js'

/** The keys are those of the script. */
const BUTTONS = [['bold', 'B'], ['italic', 'I'], ['code'], ['link', 'K'], ['list'], ['quote']] as const

type MarkdownFieldProps = Omit<Parameters<typeof Field>[0], 'bar' | 'hint'> & { rows: number; hint?: string }

/** A text area for Markdown. Where scripts run, buttons above it write the marks. */
export function MarkdownField({ hint, ...field }: MarkdownFieldProps) {
  const { view, id = `field-${field.name}` } = field
  return <Field {...field} id={id} hint={hint ?? view.t('form.markdown')} bar={<Bar view={view} area={id} />} />
}

/** One stop for the tab key: arrows lead from button to button. Its script is loaded when somebody begins to write. */
function Bar({ view, area }: { view: View; area: string }) {
  const { t, href } = view
  const names = BUTTONS.map(([name, key]) => {
    const text = t(`editor.${name}`)
    return { name, text: key ? `${text} (${t('editor.key', { key })})` : text }
  })
  return (
    <div
      class="bar"
      role="toolbar"
      aria-label={t('editor.bar')}
      aria-controls={area}
      data-script={href(editorScript.path)}
    >
      {[...names, ...(view.viewer ? [{ name: 'image' as const, text: t('image.add') }] : [])].map(
        ({ name, text }, index) => (
          <button type="button" data-md={name} tabIndex={index === 0 ? 0 : -1} aria-label={text} title={text}>
            <Icon name={name} />
          </button>
        ),
      )}
    </div>
  )
}
