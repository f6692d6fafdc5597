import { AppError } from '../../core/errors.js'
import { withoutControls } from '../../core/text.js'
import { BYTES, MAX_BYTES, OWN, PRODUCTS } from '../../service/importfiles.js'
import * as service from '../../service/importruns.js'
import { action, page, Redirect, type Fields, type View } from '../kit/page.js'
import { Check, Choice, errorText, Form, Submit, Summary } from '../parts/form.js'
import { boardsWith } from '../parts/lists.js'
import { Again } from '../parts/progress.js'
import { Top } from '../parts/top.js'
import { HOME, nameOf } from './importresult.js'
import { isBusy, LastRun } from './importrun.js'

/** Takes a file of another product, or of another site of ours, and shows what would come of it. */
export const imports = page({
  cache: 'never',
  section: 'import',
  async load(view) {
    const [{ rows }, { run }] = await Promise.all([
      boardsWith(view, view.form.values.boardId),
      view.call(service.show, {}),
    ])
    return { rows, run }
  },
  title: ({ t }) => t('import.title'),
  head: (view, { run }) => (isBusy(run) ? <Again view={view} to={HOME} /> : null),
  show(view, { rows, run }) {
    const { t, form } = view
    return (
      <>
        <Top view={view} title={t('import.title')} />
        <p>{t('import.explained')}</p>
        <Summary view={view} text={problemOf(view)} />
        {run ? <LastRun view={view} run={run} /> : null}
        {isBusy(run) ? null : <Upload view={view} rows={rows} form={form} />}
        <h2>{t('backups.take')}</h2>
        <p>{t('import.takeExplained')}</p>
        <ul class="plain-list">
          <li>
            <a href={view.href('/dashboard/settings/backups/site.jsonl')} download>
              {t('backups.takeLines')}
            </a>
          </li>
        </ul>
      </>
    )
  },
})

function Upload({
  view,
  rows,
  form,
}: {
  view: View
  rows: readonly { name: string; url: string }[]
  form: View['form']
}) {
  const { t } = view
  return (
    <>
      <h2>{t('import.another')}</h2>
      <Form view={view} to={HOME} class="settings-form" takesFiles>
        <Choice
          view={view}
          name="product"
          label={t('import.product')}
          options={[
            { value: '', text: t('import.seen') },
            ...PRODUCTS.map((product) => ({ value: product, text: nameOf(view, product) })),
          ]}
        />
        <Choice
          view={view}
          name="boardId"
          label={t('import.board')}
          options={[
            { value: '', text: t('post.noBoard') },
            ...rows.map(({ name, url }) => ({ value: url, text: name })),
          ]}
        />
        <div class="field">
          <label for="field-map">
            {t('import.columns')}
            <span class="soft"> {t('form.optional')}</span>
          </label>
          <p class="hint" id="field-map-hint">
            {t('import.columnsHint')}
          </p>
          <textarea id="field-map" name="map" rows={2} maxLength={5000} dir="auto" aria-describedby="field-map-hint">
            {`\n${form.values.map ?? ''}`}
          </textarea>
        </div>
        <Check view={view} name="confirmed" label={t('import.confirmed')} />
        <div class="field">
          <label for="field-file">{t('import.file')}</label>
          <p class="hint" id="field-file-hint">
            {t('import.fileHint', { size: view.words.size(MAX_BYTES) })}
          </p>
          <input type="file" id="field-file" name="file" required aria-describedby="field-file-hint" />
        </div>
        <Submit>{t('import.check')}</Submit>
      </Form>
    </>
  )
}

/** The address of the form that confirms. Reloading it leads back. */
export const again = page({
  cache: 'never',
  section: 'import',
  load() {
    throw new Redirect(HOME)
  },
  title: () => '',
  show: () => <></>,
})

/** The words of the catalogue for these are about texts and pages. */
function problemOf({ t, words, form: { error } }: View): string | undefined {
  if (error?.code === 'PAYLOAD_TOO_LARGE') return t('import.tooLarge')
  return error && errorText({ words }, error)
}

const optionsOf = ({ product, boardId, map, confirmed }: Fields) => ({
  ...(product && { product }),
  ...(product !== OWN && { ...(boardId && { boardId }), ...(map?.trim() && { map }), confirmed: confirmed === 'true' }),
})

const treatAsDone = {
  IMPORT_RUNNING: () => ({ to: HOME, flash: 'importRunning' as const }),
}

/** Receives the file, which the server then checks in the background. */
export const check = action({
  operation: null,
  page: async () => imports,
  file: MAX_BYTES,
  input: () => ({}),
  async done(view, _output, form) {
    const { file } = view
    if (!file) throw new AppError('BAD_REQUEST', view.t('import.noFile'))
    const given = { ...optionsOf(form), name: shownName(file.name), isCheck: true }
    await view.send(service.start, given, { type: BYTES, bytes: file.bytes })
    return { to: HOME }
  },
  treatAsDone,
})

/** As a line that shows what it is, whatever somebody has called the file. */
const shownName = (name: string): string =>
  [...withoutControls(name.toWellFormed())].slice(0, 100).join('').replaceAll(/\s+/g, ' ').trim()

/** Imports what was checked. */
export const run = action({
  operation: service.confirm,
  page: async () => imports,
  input: (_view, { runId }) => ({ runId }),
  done: () => ({ to: HOME }),
  treatAsDone: { ...treatAsDone, IMPORT_NOT_FOUND: () => ({ to: HOME, flash: 'importGone' as const }) },
})

export const cancel = action({
  operation: service.cancel,
  page: async () => imports,
  input: (_view, { runId }) => ({ runId }),
  done: () => ({ to: HOME }),
  treatAsDone: { IMPORT_NOT_FOUND: () => ({ to: HOME }) },
})

export const refused = { operation: service.refused, input: ({ query }: View) => ({ runId: query.run }) }
