/** Elements that editors of other products write. Markdown may have a `<` too. */
const HTML = /<\/?(?:p|br|div|span|ul|ol|li|strong|b|em|i|a|h[1-6]|blockquote|pre|code|img)\b[^>]{0,1000}>/i

/** Text as Markdown: HTML is converted, anything else is kept. */
export async function markdownOf(text: string): Promise<string> {
  if (!HTML.test(text)) return text
  const { default: Turndown } = await import('turndown')
  return new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
    .remove(['script', 'style'])
    .turndown(text)
}

/** Markdown of an image on another host. Returns anything but an http(s) address unchanged. */
export function linkedImage(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return address
  return `![](${url.href.replaceAll(/[()<>\s]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)})`
}

const CODE = /(```[\s\S]*?```|`[^`\n]*`)/
const IMG = /<img\b[^<>]{0,2000}>/gi

/** Turns `<img>` tags into Markdown images, except in code. GitHub writes both. */
export const withLinkedImages = (text: string): string =>
  /<img/i.test(text)
    ? text
        .split(CODE)
        .map((part, at) => (at % 2 === 1 ? part : part.replaceAll(IMG, imageOf)))
        .join('')
    : text

function imageOf(tag: string): string {
  const [, address] = /\ssrc\s*=\s*["']?([^"'\s<>]{1,2000})/i.exec(tag) ?? []
  const [, alt = ''] = /\salt\s*=\s*"([^"<>]{0,200})"/i.exec(tag) ?? []
  if (address === undefined) return tag
  const image = linkedImage(address)
  return image.startsWith('![]') ? `![${alt.replaceAll(/[[\]\\]/g, '')}]${image.slice(3)}` : image
}
