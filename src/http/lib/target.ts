/** Scheme and host of an absolute request target. */
const SCHEME_AND_HOST = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i

/**
 * Path and query of a request target. A proxy may send a whole address (RFC 9112, 3.2.2), whose host is not ours to
 * believe: links and cached responses are made from the path. Several slashes at the start are one, as a link to
 * `//host` leads to that host.
 */
export function pathOfTarget(target: string): string {
  if (/^\/(?!\/)/.test(target) || target === '*') return target
  return `/${target.replace(SCHEME_AND_HOST, '').replace(/^\/+/, '')}`
}
