import { ofMails, routes as account } from './account/routes.js'
import { routes as dashboard } from './dashboard/routes.js'
import type { Routes } from './kit/routes.js'
import { surfaceOf } from './kit/surface.js'
import { routes as content } from './public/routes.js'

export { pageGate } from './kit/gate.js'

/** What browsers load with the pages. */
export const assets = () => import('./kit/assets.js')

/** Every page, form, feed and file. A folder lists its own. */
export const routes = {
  pages: { ...content.pages, ...account.pages, ...dashboard.pages },
  actions: { ...content.actions, ...account.actions, ...dashboard.actions },
  oneClicks: account.oneClicks,
  documents: content.documents,
  downloads: { ...content.downloads, ...account.downloads, ...dashboard.downloads },
  frame: async () => (await import('./parts/layout.js')).frame,
  login: async () => (await import('./account/auth.js')).loginPage,
  error: async () => (await import('./public/site.js')).error,
  moved: async (view) => (await import('./public/imports.js')).moved(view),
} satisfies Routes

export const web = surfaceOf(routes)

/** What a site without pages has of them: those that its mails lead to. */
export const mailPages = surfaceOf({
  ...ofMails,
  documents: {},
  downloads: {},
  frame: routes.frame,
  login: routes.login,
  error: routes.error,
  mailPagesOnly: true,
})
