import type { RoutesOf } from '../kit/routes.js'

const auth = () => import('./auth.js')
const link = () => import('./owner.js')
const profile = () => import('./profile.js')
const account = () => import('./account.js')
const notifications = () => import('./notifications.js')
const mailed = () => import('./mailed.js')
const notificationSettings = () => import('./notificationsettings.js')
const mailLinks = () => import('./maillinks.js')

/** The routes that mails link to. A site without pages has only these. */
export const ofMails = {
  pages: {
    '/email-verify': async () => (await mailed()).verifyPage,
    '/password-reset': async () => (await mailed()).resetPage,
    '/password-reset/confirm': async () => (await mailed()).confirmPage,
    '/notifications/mail': async () => (await mailLinks()).choices,
    '/notifications/mail/unsubscribe': async () => (await mailLinks()).choices,
  },
  actions: {
    '/email-verify': async () => (await mailed()).verify,
    '/password-reset': async () => (await mailed()).reset,
    '/password-reset/confirm': async () => (await mailed()).confirm,
    '/notifications/mail': async () => (await mailLinks()).save,
    '/notifications/mail/stop': async () => (await mailLinks()).stop,
    '/notifications/mail/unfollow': async () => (await mailLinks()).unfollow,
  },
  oneClicks: {
    '/notifications/mail/unsubscribe': async () => (await mailLinks()).unsubscribe,
  },
} satisfies RoutesOf

/** The pages and forms of accounts: sign-in, links of mails, settings. Each is loaded when it is asked for first. */
export const routes = {
  pages: {
    ...ofMails.pages,
    '/login': async () => (await auth()).loginPage,
    '/login/link': async () => (await link()).linkPage,
    '/join': async () => (await auth()).joinPage,
    '/invitation': async () => (await mailed()).acceptPage,
    '/settings': async () => (await profile()).settings,
    '/settings/delete': async () => (await account()).deletePage,
    '/settings/notifications': async () => (await notificationSettings()).settings,
    '/notifications': async () => (await notifications()).notifications,
    '/notifications/:id': async () => (await notifications()).open,
  },
  actions: {
    ...ofMails.actions,
    '/login': async () => (await auth()).login,
    '/login/first': async () => (await auth()).loginFirst,
    '/login/link': async () => (await link()).useLink,
    '/join': async () => (await auth()).join,
    '/join/first': async () => (await auth()).joinFirst,
    '/logout': async () => (await auth()).logout,
    '/invitation': async () => (await mailed()).accept,
    '/settings/name': async () => (await profile()).rename,
    '/settings/language': async () => (await profile()).changeLanguage,
    '/settings/profile': async () => (await profile()).changeProfile,
    '/settings/password': async () => (await profile()).changePassword,
    '/settings/password/link': async () => (await profile()).sendPasswordLink,
    '/settings/ways/:identity': async () => (await profile()).removeWay,
    '/settings/verify': async () => (await profile()).sendVerification,
    '/settings/sessions': async () => (await profile()).endSessions,
    '/settings/sessions/:session': async () => (await profile()).endSession,
    '/settings/totp': async () => (await profile()).beginTotp,
    '/settings/totp/enable': async () => (await profile()).enableTotp,
    '/settings/totp/recovery': async () => (await profile()).newCodes,
    '/settings/totp/disable': async () => (await profile()).disableTotp,
    '/settings/delete': async () => (await account()).remove,
    '/settings/delete/link': async () => (await account()).requestDeletion,
    '/settings/notifications': async () => (await notificationSettings()).save,
    '/notifications/read': async () => (await notifications()).read,
    '/language': async () => (await profile()).language,
  },
  oneClicks: ofMails.oneClicks,
  downloads: {
    '/settings/data': async () => (await account()).data,
  },
} satisfies RoutesOf
