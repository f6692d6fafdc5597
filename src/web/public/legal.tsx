import { AppError } from '../../core/errors.js'
import { isLegalPage } from '../../core/legal.js'
import type { Text } from '../../core/markdown/index.js'
import { links } from '../../core/pagelinks.js'
import { show } from '../../service/legal.js'
import { page } from '../kit/page.js'
import { Head } from '../parts/head.js'

const textOf = (markdown: string): Text => ({ markdown, level: 2 })

/** A legal page. Every visitor can read it, even if all boards are private. */
export const legalPage = page({
  cache: 'actor',
  async load(view) {
    const { name = '' } = view.params
    const markdown = isLegalPage(name) ? (await view.call(show, { name })).page.markdown : null
    if (!isLegalPage(name) || markdown === null) throw new AppError('NOT_FOUND', 'There is no such page.')
    return { name, markdown }
  },
  texts: (_view, { markdown }) => [textOf(markdown)],
  title: ({ t }, { name }) => t(`legal.${name}`),
  head: (view, { name, markdown }) => (
    <Head view={view} path={links.legal(name)} title={view.t(`legal.${name}`)} text={markdown} />
  ),
  show: (view, { name, markdown }) => (
    <article>
      <h1>{view.t(`legal.${name}`)}</h1>
      <div class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: view.html(textOf(markdown)) }} />
    </article>
  ),
})
