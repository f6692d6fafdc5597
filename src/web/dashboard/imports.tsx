import { AppError } from '../../core/errors.js'
import type { Key } from '../../core/catalogue.js'
import { BYTES, file as operation, MAX_BYTES, OWN, PRODUCTS, type Product } from '../../service/importfiles.js'
import { answerLines, errorOf } from '../../service/lib/uploadresults.js'
import { action, page, Redirect, type Fields, type LiveView, type View } from '../kit/page.js'
import { Check, Choice, errorText, Form, Submit, Summary } from '../parts/form.js'
import { boardsWith } from '../parts/lists.js'
import { Top } from '../parts/top.js'
import { HOME, Result, type Answer, type AnswerLine } from './importresult.js'

/** What each product writes, as names and kinds of files are in no language. */
const KINDS: Readonly<Record<Product, { name?: string; label?: Key; kind: string }>> = {
  feedbackctl: { label: 'import.own', kind: 'JSONL' },
  astuto: { name: 'Astuto', kind: 'JSON' },
  canny: { name: 'Canny', kind: 'CSV, JSON' },
  clearflask: { name: 'ClearFlask', kind: 'ZIP' },
  csv: { label: 'import.table', kind: 'CSV' },
  fider: { name: 'Fider', kind: 'ZIP, CSV' },
  github: { name: 'GitHub', kind: 'JSON' },
  quackback: { name: 'Quackback', kind: 'ZIP' },
  records: { label: 'import.records', kind: 'JSONL' },
  uservoice: { name: 'UserVoice', kind: 'CSV' },
}

export const nameOf = ({ t }: Pick<View, 't'>, product: Product): string => {
  const { name = '', label, kind } = KINDS[product]
  return `${label === undefined ? name : t(label)} (${kind})`
}

/** Takes a file of another product, or of another site of ours, and shows what would come of it. */
export const imports = page({
  cache: 'never',
  section: 'import',
  load: (view) => boardsWith(view, view.form.values.boardId),
  title: ({ t }) => t('import.title'),
  show(view, { rows }) {
    const { t, form } = view
    return (
      <>
        <Top view={view} title={t('import.title')} />
        <p>{t('import.explained')}</p>
        <Summary view={view} text={problemOf(view)} />
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
  return error?.code === 'NOT_FOUND' ? t('import.gone') : error && errorText({ words }, error)
}

const optionsOf = ({ product, boardId, map, confirmed }: Fields) => ({
  ...(product && { product }),
  ...(product !== OWN && { ...(boardId && { boardId }), ...(map?.trim() && { map }), confirmed: confirmed === 'true' }),
})

/** Reads the answer to its end. */
async function answerTo(pieces: Parameters<typeof answerLines>[0]): Promise<Answer> {
  const answer: Answer = { notes: [], product: 'csv', preview: undefined, kept: undefined, done: undefined, site: undefined } // prettier-ignore
  for await (const line of answerLines<AnswerLine>(pieces)) {
    if (line.result === 'incomplete') throw errorOf(line.error)
    if (line.result === 'note') answer.notes.push(line.text)
    if (line.result === 'opened') Object.assign(answer, { product: line.product, preview: line.preview, kept: line.kept }) // prettier-ignore
    if (line.result !== 'complete') continue
    if ('balance' in line) answer.done = line
    else answer.site = line
  }
  return answer
}

/** Checks the file, and shows what would come of it. */
export const check = action({
  operation: null,
  page: async () => imports,
  file: MAX_BYTES,
  input: () => ({}),
  async done(view, _output, form) {
    const { file } = view
    if (!file) throw new AppError('BAD_REQUEST', view.t('import.noFile'))
    const { pieces } = await view.sendDry(operation, optionsOf(form), { type: BYTES, bytes: file.bytes })
    return resultOf(view, await answerTo(pieces), { ...form, name: file.name.slice(0, 200) }, true)
  },
})

/** Imports what was checked. */
export const run = action({
  operation: null,
  page: async () => imports,
  input: () => ({}),
  async done(view, _output, form) {
    const { pieces } = await view.send(operation, { ...optionsOf(form), kept: form.kept }, { type: BYTES, bytes: none() }) // prettier-ignore
    const answer = await answerTo(pieces)
    return { ...resultOf(view, answer, form, false), ...(answer.site?.owner && { session: null }) }
  },
})

async function* none(): AsyncGenerator<Uint8Array> {}

function resultOf(view: LiveView, answer: Answer, form: Fields, isDry: boolean) {
  const title = view.t(isDry ? 'import.would' : 'import.did')
  const show = (
    <Result
      view={view}
      title={title}
      shown={{ file: form.name ?? '', product: nameOf(view, answer.product) }}
      answer={answer}
      form={{ ...form, product: answer.product }}
      isDry={isDry}
    />
  )
  return { to: HOME, title, section: 'import' as const, show }
}
