import type { Command } from 'commander'
import { counted } from '../core/text.js'
import * as settings from '../service/settings.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import type { Column } from './lib/output/table.js'
import { registerSite } from './notificationsettings.js'
import { stated } from './lib/prompts/dryrun.js'

const yesNo = (on: boolean) => (on ? 'yes' : 'no')

const columns: Column<settings.Settings>[] = [
  { head: 'TITLE', text: (site) => site.title, drop: 0 },
  { head: 'DESCRIPTION', text: (site) => site.description ?? '', drop: 0 },
  { head: 'LOGO', text: (site) => site.logo ?? '', drop: 0 },
  { head: 'DARK LOGO', text: (site) => site.logoDark ?? '', drop: 0 },
  { head: 'ACCENT COLOR', text: (site) => site.accentColor ?? '', drop: 0 },
  { head: 'GOOGLE ANALYTICS ID', text: (site) => site.googleAnalyticsId ?? '', drop: 0 },
  { head: 'SIGN-UP ALLOWED', text: (site) => yesNo(site.allowSignup), drop: 0 },
  { head: 'FIRST POSTS HELD', text: (site) => yesNo(site.holdFirstPosts), drop: 0 },
  { head: 'DEVELOPER MODE', text: (site) => yesNo(site.developer_mode), drop: 0 },
  { head: 'ANNOUNCEMENT', text: (site) => site.announcement ?? '', drop: 0 },
  { head: 'ANNOUNCEMENT ENDS', text: (site) => site.announcementUntil ?? '', drop: 0 },
  { head: 'SIGN-UP NOTE', text: (site) => site.signupNote ?? '', drop: 0 },
  { head: 'HEADER LINKS', text: (site) => site.headerLinks.join(' '), drop: 0 },
  { head: 'FOOTER LINKS', text: (site) => site.footerLinks.join(' '), drop: 0 },
  { head: 'CUSTOM CSS', text: (site) => site.customCss ?? '', shown: ({ customCss: css }) => (css === null ? '' : counted(css.length, 'character')), drop: 0 }, // prettier-ignore
  { head: 'ACCOUNT IS NEW FOR', text: (site) => site.newFor ?? '', drop: 0 },
  { head: 'POSTS OF NEW', text: (site) => site.limitPosts ?? '', drop: 0 },
  { head: 'COMMENTS OF NEW', text: (site) => site.limitComments ?? '', drop: 0 },
  { head: 'EDITS OF NEW', text: (site) => site.limitEdits ?? '', drop: 0 },
  { head: 'REPORTS OF NEW', text: (site) => site.limitReports ?? '', drop: 0 },
]
const output = {
  columns,
  id: (site: settings.Settings) => site.title,
  rows: ({ settings: site }: { settings: settings.Settings }) => [site],
}

const domainList = {
  columns: [{ head: 'DOMAIN', text: (domain: string) => domain, drop: 0 }],
  id: (domain: string) => domain,
  rows: (answer: { domains: string[] }) => answer.domains,
  list: true,
} as const

const limitList = {
  columns: [
    { head: 'LIMIT', text: ({ name }) => name, drop: 0 },
    { head: 'APPLIES', text: ({ applies }) => applies, drop: 0 },
    { head: 'SITE', text: ({ site }) => site ?? '', drop: 0 },
    { head: 'CONFIGURATION', text: ({ configured }) => configured, drop: 0 },
  ] satisfies Column<settings.NewAccountLimit>[],
  id: ({ name }: settings.NewAccountLimit) => name,
  rows: ({ limits }: { limits: settings.NewAccountLimit[] }) => limits,
  list: true,
} as const

const nowBlocked = ({ domains }: { domains: string[] }) =>
  stated(domains.length === 0 ? 'No domain is blocked.' : `Blocked, with their subdomains: ${domains.join(', ')}.`)

export function register(group: Command, cli: Cli): void {
  command(group, settings.site, { usage: 'show', examples: ['settings show'], output }, cli)
  command(
    group,
    settings.update,
    {
      usage: 'update',
      examples: [
        'settings update --title "Moonbase" --no-signup',
        'settings update --hold-first-posts',
        'settings update --new-for 3d --limit-posts 5/1d',
        'settings update --logo example.org/logo.png --accent-color 2f6fed',
        'settings update --announcement "We move on **Sunday**." --announcement-until 2026-12-01',
        'settings update --footer-links "[Imprint](https://example.org/imprint)"',
        'settings update --custom-css-file brand.css',
      ],
      output,
      input: { hidden: ['ifVersion'], switches: { allowSignup: { word: 'signup' } }, texts: ['customCss'] },
      requiresChange: true,
      done: () => 'Updated the settings of the site.',
    },
    cli,
  )
  command(group, settings.limits, { usage: 'limits', examples: ['settings limits'], output: limitList }, cli)
  command(
    group,
    settings.blockedDomains,
    { usage: 'blocked-domains', examples: ['settings blocked-domains'], output: domainList },
    cli,
  )
  command(
    group,
    settings.blockDomains,
    {
      usage: 'block-domains <domains...>',
      examples: ['settings block-domains mailinator.com example.net'],
      output: domainList,
      input: { joined: 'domains' },
      done: nowBlocked,
    },
    cli,
  )
  command(
    group,
    settings.unblockDomains,
    {
      usage: 'unblock-domains <domains...>',
      examples: ['settings unblock-domains example.net mailinator.com'],
      output: domainList,
      input: { joined: 'domains' },
      done: nowBlocked,
    },
    cli,
  )
  registerSite(group, cli)
}
