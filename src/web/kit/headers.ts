const policyOf = (images: readonly string[]): string =>
  `default-src 'self';img-src ${images.join(' ')};object-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none'`

/** An address of another site learns nothing; this one needs the origin of its forms. */
export const HEADERS = { 'content-security-policy': policyOf(["'self'", 'data:']), 'referrer-policy': 'same-origin' }

/** Of a page. It loads nothing from elsewhere but the logo that the site has chosen. */
export const headersWith = (logo: string | null): typeof HEADERS =>
  logo === null
    ? HEADERS
    : { ...HEADERS, 'content-security-policy': policyOf(["'self'", 'data:', new URL(logo).origin]) }
