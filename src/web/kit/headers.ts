const policyOf = (images: readonly string[]): string =>
  `default-src 'self';img-src ${images.join(' ')};object-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none'`

/** An address of another site learns nothing; this one needs the origin of its forms. */
export const HEADERS = { 'content-security-policy': policyOf(["'self'", 'data:']), 'referrer-policy': 'same-origin' }

/** Of a page. It loads nothing from elsewhere but the logos that the site has chosen. */
export function headersWith(logos: readonly (string | null)[]): typeof HEADERS {
  const origins = new Set(logos.filter((logo) => logo !== null).map((logo) => new URL(logo).origin))
  if (origins.size === 0) return HEADERS
  return { ...HEADERS, 'content-security-policy': policyOf(["'self'", 'data:', ...origins]) }
}
