/** The address from which pages load the logo. Null where they cannot: an https page loads nothing over http. */
export function shownLogo(logo: string | null, { siteUrl }: { siteUrl: string }): string | null {
  if (logo === null) return null
  const address = /^https?:\/\//i.test(logo) ? logo : `https://${logo}`
  if (!URL.canParse(address)) return null
  const { protocol, host, href } = new URL(address)
  if (!/^[\w.:[\]-]+$/.test(host)) return null // it becomes a part of the content security policy
  return protocol === 'http:' && siteUrl.startsWith('https:') ? null : href
}
