import { expect } from 'vitest'
import { NARROW, visit, type ServedSite } from './browser.js'

/** What would run, in each of these places. `fired` is set by any of it. */
const CALL = 'globalThis.fired=1'
const ENCODED = Array.from(CALL, (letter) => `&#${letter.charCodeAt(0)};`).join('')

const tags = [
  'script',
  'svg',
  'img',
  'iframe',
  'object',
  'embed',
  'video',
  'audio',
  'body',
  'details',
  'input',
  'math',
  'style',
  'base',
  'meta',
  'form',
  'a',
  'template',
  'noscript',
  'marquee',
]
const events = [
  'onload',
  'onerror',
  'onfocus autofocus',
  'ontoggle open',
  'onpointerover',
  'onclick',
  'onanimationstart',
  'onbegin',
  'onstart',
]
const urls = [
  `javascript:${CALL}`,
  `JaVaScRiPt:${CALL}`,
  `java\tscript:${CALL}`,
  ` javascript:${CALL}`,
  `javascript&colon;${CALL}`,
  `&#106;avascript:${CALL}`,
  `data:text/html,<script>${CALL}</script>`,
  `vbscript:${CALL}`,
  `\u0001javascript:${CALL}`,
]

export const PAYLOADS: readonly string[] = [
  `<script>${CALL}</script>`,
  `"><script>${CALL}</script>`,
  `'><svg/onload=${CALL}>`,
  `</title><script>${CALL}</script>`,
  `</textarea><script>${CALL}</script>`,
  `</script><script>${CALL}</script>`,
  `<!--><script>${CALL}</script>-->`,
  `<scr<script>ipt>${CALL}</scr</script>ipt>`,
  `<img src=x onerror=${ENCODED}>`,
  `<svg><script>${CALL}</script></svg>`,
  `<math><mtext><table><mglyph><style><img src=x onerror=${CALL}></style></mglyph></table></mtext></math>`,
  `<noscript><p title="</noscript><img src=x onerror=${CALL}>">`,
  `\`\`\`html"onmouseover="${CALL}\n<script>${CALL}</script>\n\`\`\``,
  `![x"onerror="${CALL}](https://example.invalid/x.png)`,
  `![x](https://example.invalid/x.png "\\" onerror=\\"${CALL}")`,
  `[a](https://example.invalid "x\\" onmouseover=\\"${CALL}")`,
  `[a][b]\n\n[b]: javascript:${CALL}`,
  `<https://example.invalid/"onmouseover="${CALL}>`,
  `<javascript:${CALL}>`,
  `http://example.invalid/"onmouseover="${CALL}`,
  `&lt;script&gt;${CALL}&lt;/script&gt;`,
  `&#60;img src=x onerror=${CALL}&#62;`,
  `| <script>${CALL}</script> |\n|---|\n| <img src=x onerror=${CALL}> |`,
  `\u2028</script><script>${CALL}</script>`,
  `{{constructor.constructor('${CALL}')()}}`,
  `\${${CALL}}`,
  ...tags.flatMap((tag) =>
    events.map((event) => `<${tag} src=x href=x ${event.replace(/^\w+/, (name) => `${name}=${CALL}`)}>`),
  ),
  ...urls.flatMap((url) => [
    `[click](${url})`,
    `[click](<${url}>)`,
    `![pic](${url})`,
    `<a href="${url}">click</a>`,
    `<iframe src="${url}"></iframe>`,
    `<form action="${url}"><button>x</button></form>`,
  ]),
]

/** A form of a page, and what stands in each of its fields when it is sent. */
interface Sent {
  path: string
  form: string
  text: string
}

/**
 * Opens pages, each of which is there, touches what is on them, and sends forms again and again: nothing of a payload
 * runs, or could.
 */
export async function assertQuiet(
  site: Pick<ServedSite, 'url'>,
  paths: readonly string[],
  { token, forms = [] }: { token?: string; forms?: readonly Sent[] } = {},
): Promise<void> {
  // What runs does not depend on how much is painted
  const { page, context } = await visit({ viewport: NARROW, expected: /status of 4\d\d|ERR_|net::/ })
  if (token !== undefined) await context.addCookies([{ name: 'feedbackctl', value: token, url: site.url }])
  const violations: string[] = []
  await page.exposeFunction('violated', (text: string) => void violations.push(text))
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
      ;(globalThis as unknown as { violated(text: string): void }).violated(`${violatedDirective} ${blockedURI}`)
    })
  })
  const found: unknown[] = []
  const look = async (name: string) => {
    await page.evaluate(() => {
      for (const each of document.querySelectorAll<HTMLElement>('main *')) {
        each.dispatchEvent(new Event('pointerover'))
        each.dispatchEvent(new Event('mouseover'))
        each.focus()
      }
    })
    const state = await page.evaluate(() => ({
      fired: 'fired' in globalThis,
      scripts: Array.from(document.scripts).filter(
        ({ type, src }) =>
          type !== 'application/ld+json' && !new URL(src || 'about:blank').pathname.startsWith('/assets/'),
      ).length,
      handlers: Array.from(document.querySelectorAll('*')).filter((each) =>
        Array.from(each.attributes).some(({ name }) => name.startsWith('on') || name === 'style'),
      ).length,
      links: Array.from(document.querySelectorAll('[href],[src],[action],[formaction]'))
        .flatMap((each) => ['href', 'src', 'action', 'formaction'].map((name) => each.getAttribute(name) ?? ''))
        .filter((url) => /^\s*(javascript|vbscript|data)\s*:/i.test(url)),
      cut: Array.from(document.querySelectorAll('script[type="application/ld+json"]')).filter((each) => {
        try {
          return typeof JSON.parse(each.textContent) !== 'object'
        } catch {
          return true
        }
      }).length,
    }))
    if (state.fired || state.scripts + state.handlers + state.links.length + state.cut > 0) found.push([name, state])
  }
  const absent: string[] = []
  for (const path of paths) {
    const answer = await page.goto(site.url + path)
    if (answer?.status() !== 200) absent.push(`${answer?.status()} ${path}`)
    await look(path)
  }
  for (const { path, form, text } of forms) {
    await page.goto(site.url + path)
    const answered = page.waitForEvent('load')
    await page.evaluate(
      ([selector, value]) => {
        const sent = document.querySelector<HTMLFormElement>(selector)
        if (!sent) throw new Error(`There is no ${selector}.`)
        for (const field of sent.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input:not([type=file]), textarea')) field.value = value // prettier-ignore
        sent.submit()
      },
      [form, text] as const,
    )
    await answered
    await look(`${form} of ${path} with ${text}`)
  }
  expect(absent).toEqual([])
  expect(found).toEqual([])
  expect(violations).toEqual([])
}
