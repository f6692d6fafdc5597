const POLICY =
  "default-src 'self';img-src 'self' https: data:;object-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none'"

/** An address of another site learns nothing; this one needs the origin of its forms. */
export const HEADERS = { 'content-security-policy': POLICY, 'referrer-policy': 'same-origin' }
