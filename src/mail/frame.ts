import escape from 'validator/lib/escape.js'
import type { Words } from '../core/catalogue.js'
import { accentOf } from '../core/colors.js'
import { shownLogo } from '../core/logo.js'

/** The appearance of the site, from its settings. */
export interface Look {
  title: string
  logo: string | null
  accentColor: string | null
}

/** The colours of the pages. A style in the head is for programs that know of dark mails; others ignore it. */
const DARK = `@media (prefers-color-scheme:dark){.page{background:#14171c!important;color:#e8ebef!important}.soft{color:#a4adb8!important}.top,.quote{border-color:#343b45!important}.link{color:inherit!important}}`

/** The HTML of a mail, around what it says. `title` is shown as it is; `content` is HTML. */
export function frame({ language, direction }: Words, look: Look, content: string): string {
  const title = escape(look.title)
  return `<!doctype html>
<html lang="${language}"${direction === 'rtl' ? ' dir="rtl"' : ''}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${DARK}</style>
</head>
<body class="page" style="margin:0;padding:24px;background:#ffffff;color:#1b1f24;font:16px/1.5 system-ui,sans-serif">
<main style="display:block;max-width:560px;margin:0 auto">
<h1 class="top" style="margin:0 0 24px;padding-bottom:12px;border-bottom:1px solid #d5dae0;font-size:18px">${logoOf(look)}${title}</h1>
${content}
</main>
</body>
</html>
`
}

/** A link that looks like a button. */
export function button(look: Look, { link, action }: { link: string; action: string }): string {
  const { light, fill, onFill } = accentOf(look.accentColor)
  return `<p style="margin:24px 0"><a href="${escape(link)}" style="display:inline-block;padding:10px 18px;border:1px solid #${light};border-radius:8px;background:#${fill};color:#${onFill};font-weight:bold;text-decoration:none">${escape(action)}</a></p>`
}

/** Mail programs show no picture that comes without TLS. */
function logoOf({ logo }: Look): string {
  const address = shownLogo(logo, { siteUrl: 'https:' })
  if (address === null) return ''
  return `<img src="${escape(address)}" alt="" height="28" style="height:28px;margin-right:8px;vertical-align:middle">`
}
