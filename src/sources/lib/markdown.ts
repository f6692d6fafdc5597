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
