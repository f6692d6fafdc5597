import type { Routes } from './lib/routes.js'
import { surfaceOf } from './lib/surface.js'

export { pageGate } from './lib/gate.js'

/** What browsers load with the pages. */
export const assets = () => import('./lib/assets.js')

const posts = () => import('./posts.js')
const postforms = () => import('./postforms.js')
const comments = () => import('./comments.js')
const auth = () => import('./auth.js')
const link = () => import('./owner.js')
const profile = () => import('./profile.js')
const account = () => import('./account.js')
const site = () => import('./site.js')
const feeds = () => import('./feeds.js')
const home = () => import('./home.js')
const boards = () => import('./boards.js')
const roadmaps = () => import('./roadmaps.js')
const votes = () => import('./votes.js')

const COMMENT = '/posts/:slug/comments/:comment'

/** Every page, form and feed, by its path. Each is loaded when it is asked for first. */
export const routes = {
  pages: {
    '/': async () => (await home()).home,
    '/search': async () => (await home()).search,
    '/boards': async () => (await boards()).boards,
    '/boards/:url': async () => (await boards()).board,
    '/roadmaps': async () => (await roadmaps()).roadmaps,
    '/roadmaps/:url': async () => (await roadmaps()).roadmap,
    '/posts/new': async () => (await postforms()).newPost,
    '/posts/similar': async () => (await postforms()).similar,
    '/posts/:slug': async () => (await posts()).post,
    '/posts/:slug/voters': async () => (await votes()).voters,
    '/posts/:slug/edit': async () => (await postforms()).editPost,
    '/posts/:slug/delete': async () => (await posts()).deletePost,
    '/posts/:slug/report': async () => (await posts()).reportPost,
    [COMMENT]: async () => (await comments()).comment,
    [`${COMMENT}/edit`]: async () => (await comments()).editComment,
    [`${COMMENT}/delete`]: async () => (await comments()).deleteComment,
    [`${COMMENT}/report`]: async () => (await comments()).reportComment,
    '/login': async () => (await auth()).loginPage,
    '/login/link': async () => (await link()).linkPage,
    '/join': async () => (await auth()).joinPage,
    '/email-verify': async () => (await auth()).verifyPage,
    '/password-reset': async () => (await auth()).resetPage,
    '/password-reset/confirm': async () => (await auth()).confirmPage,
    '/settings': async () => (await profile()).settings,
    '/settings/delete': async () => (await account()).deletePage,
    '/setup/welcome': async () => (await site()).welcome,
    '/setup/create-account': async () => (await site()).accountPage,
    '/setup/create-board': async () => (await site()).boardPage,
  },
  actions: {
    '/posts/new': async () => (await postforms()).create,
    '/posts/:slug/edit': async () => (await postforms()).update,
    '/posts/:slug/delete': async () => (await posts()).remove,
    '/posts/:slug/status': async () => (await posts()).setStatus,
    '/posts/:slug/report': async () => (await posts()).report,
    '/posts/:slug/spam': async () => (await posts()).spam,
    '/posts/:slug/keep': async () => (await posts()).keep,
    '/posts/:slug/vote': async () => (await votes()).vote,
    '/posts/:slug/unvote': async () => (await votes()).unvote,
    '/posts/:slug/comments': async () => (await comments()).create,
    [`${COMMENT}/edit`]: async () => (await comments()).update,
    [`${COMMENT}/delete`]: async () => (await comments()).remove,
    [`${COMMENT}/report`]: async () => (await comments()).report,
    [`${COMMENT}/spam`]: async () => (await comments()).spam,
    [`${COMMENT}/keep`]: async () => (await comments()).keep,
    '/login': async () => (await auth()).login,
    '/login/first': async () => (await auth()).loginFirst,
    '/login/link': async () => (await link()).useLink,
    '/join': async () => (await auth()).join,
    '/join/first': async () => (await auth()).joinFirst,
    '/logout': async () => (await auth()).logout,
    '/email-verify': async () => (await auth()).verify,
    '/password-reset': async () => (await auth()).reset,
    '/password-reset/confirm': async () => (await auth()).confirm,
    '/settings/name': async () => (await profile()).rename,
    '/settings/language': async () => (await profile()).changeLanguage,
    '/settings/password': async () => (await profile()).changePassword,
    '/settings/verify': async () => (await profile()).sendVerification,
    '/settings/sessions': async () => (await profile()).endSessions,
    '/settings/sessions/:session': async () => (await profile()).endSession,
    '/settings/totp': async () => (await profile()).beginTotp,
    '/settings/totp/enable': async () => (await profile()).enableTotp,
    '/settings/totp/recovery': async () => (await profile()).newCodes,
    '/settings/totp/disable': async () => (await profile()).disableTotp,
    '/settings/delete': async () => (await account()).remove,
    '/language': async () => (await profile()).language,
    '/setup/create-account': async () => (await site()).createAccount,
    '/setup/create-board': async () => (await site()).createBoard,
  },
  documents: {
    '/feed.atom': async () => (await feeds()).siteFeed,
    '/boards/:url/feed.atom': async () => (await feeds()).boardFeed,
    '/posts/:slug/feed.atom': async () => (await feeds()).postFeed,
    '/sitemap.xml': async () => (await feeds()).sitemap,
    '/robots.txt': async () => (await feeds()).robots,
  },
  downloads: {
    '/settings/data': async () => (await account()).data,
  },
  login: async () => (await auth()).loginPage,
  error: async () => (await site()).error,
} satisfies Routes

export const web = surfaceOf(routes)

const { pages, actions } = routes

/** What a site without pages has of them: those that its mails lead to. */
export const mailPages = surfaceOf({
  pages: {
    '/email-verify': pages['/email-verify'],
    '/password-reset': pages['/password-reset'],
    '/password-reset/confirm': pages['/password-reset/confirm'],
  },
  actions: {
    '/email-verify': actions['/email-verify'],
    '/password-reset': actions['/password-reset'],
    '/password-reset/confirm': actions['/password-reset/confirm'],
  },
  documents: {},
  downloads: {},
  login: routes.login,
  error: routes.error,
  isAlone: true,
})
