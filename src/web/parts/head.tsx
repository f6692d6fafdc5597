import { firstImageIn, imagePath } from '../../core/images/address.js'
import { CARD_HEIGHT, CARD_WIDTH } from '../../core/images/types.js'
import { excerptOf } from '../../core/markdown/excerpt.js'
import type { View } from '../kit/page.js'

interface HeadProps {
  view: View
  /** Without the base path. */
  path: string
  title: string
  /** Markdown. */
  text?: string | null | undefined
  type?: 'website' | 'article'
  /** A feed of the same things. */
  feed?: string
  /** The path of the preview image. An image in the text takes precedence. */
  card?: string | undefined
}

/** What search engines and other sites show of a page. */
export function Head({ view, path, title, text, type = 'website', feed, card }: HeadProps) {
  const description = text ? excerptOf(text, 160) : view.settings.description
  const address = view.absolute(path)
  // Of a copy only the canonical address is known
  const isCopy = view.copiedAt !== undefined
  const image = isCopy ? undefined : imageOf(text, card)
  return (
    <>
      <link rel="canonical" href={address} />
      {description ? <meta name="description" content={description} /> : null}
      <meta property="og:type" content={type} />
      <meta property="og:title" content={title} />
      {isCopy ? null : <meta property="og:url" content={address} />}
      <meta property="og:site_name" content={view.settings.title} />
      {description ? <meta property="og:description" content={description} /> : null}
      {image ? (
        <>
          <meta property="og:image" content={view.absolute(image.path)} />
          <meta property="og:image:width" content={String(image.width)} />
          <meta property="og:image:height" content={String(image.height)} />
          <meta name="twitter:card" content="summary_large_image" />
        </>
      ) : view.settings.logo && !isCopy ? (
        <meta property="og:image" content={view.settings.logo} />
      ) : null}
      {feed ? <link rel="alternate" type="application/atom+xml" title={title} href={view.href(feed)} /> : null}
    </>
  )
}

function imageOf(text: string | null | undefined, card: string | undefined) {
  const first = firstImageIn(text ?? '')
  if (first) return { path: imagePath(first), width: first.width, height: first.height }
  return card === undefined ? undefined : { path: card, width: CARD_WIDTH, height: CARD_HEIGHT }
}

/** Data for search engines, of which a copy has none. `<` is escaped, so that no text ends the element. */
export const JsonLd = ({ view, data }: { view: View; data: object }) =>
  view.copiedAt !== undefined ? null : (
    <script
      type="application/ld+json"
      dangerouslySetInnerHTML={{
        __html: JSON.stringify({ '@context': 'https://schema.org', ...data }).replaceAll('<', String.raw`\u003c`),
      }}
    />
  )
