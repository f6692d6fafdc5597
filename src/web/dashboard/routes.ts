import type { RoutesOf } from '../kit/routes.js'

const account = () => import('./personaccount.js')
const boards = () => import('./boards.js')
const comments = () => import('./comments.js')
const events = () => import('./events.js')
const inbox = () => import('./inbox.js')
const invitations = () => import('./invitations.js')
const person = () => import('./person.js')
const posts = () => import('./posts.js')
const roadmaps = () => import('./roadmaps.js')
const keys = () => import('./keys.js')
const mails = () => import('./mails.js')
const settings = () => import('./settings.js')
const site = () => import('./site.js')
const roles = () => import('./roles.js')
const views = () => import('./views.js')
const undo = () => import('./undo.js')
const users = () => import('./users.js')

/** The pages of the team. Each is loaded when it is asked for first. */
export const routes = {
  pages: {
    '/dashboard': async () => (await inbox()).inbox,
    '/dashboard/comments': async () => (await comments()).comments,
    '/dashboard/posts': async () => (await posts()).postsPage,
    '/dashboard/posts/move': async () => (await posts()).sentTo,
    '/dashboard/posts/decide': async () => (await posts()).sentTo,
    '/dashboard/posts/views': async () => (await posts()).sentTo,
    '/dashboard/views/:view/delete': async () => (await views()).deleteView,
    '/dashboard/boards': async () => (await boards()).boards,
    '/dashboard/boards/new': async () => (await boards()).newBoard,
    '/dashboard/boards/:url/settings': async () => (await boards()).boardSettings,
    '/dashboard/boards/:url/delete': async () => (await boards()).deleteBoard,
    '/dashboard/roadmaps': async () => (await roadmaps()).roadmaps,
    '/dashboard/roadmaps/new': async () => (await roadmaps()).newRoadmap,
    '/dashboard/roadmaps/:url/settings': async () => (await roadmaps()).roadmapSettings,
    '/dashboard/roadmaps/:url/delete': async () => (await roadmaps()).deleteRoadmap,
    '/dashboard/overview': async () => (await site()).overview,
    '/dashboard/settings/general': async () => (await settings()).general,
    '/dashboard/settings/domains': async () => (await settings()).domains,
    '/dashboard/settings/log': async () => (await events()).log,
    '/dashboard/settings/mail': async () => (await mails()).mails,
    '/dashboard/settings/keys': async () => (await keys()).keys,
    '/dashboard/settings/keys/:key/revoke': async () => (await keys()).revokePage,
    '/dashboard/users': async () => (await users()).users,
    '/dashboard/users/:username': async () => (await person()).person,
    '/dashboard/users/:username/block': async () => (await account()).blockPage,
    '/dashboard/users/:username/sign-out': async () => (await account()).signOutPage,
    '/dashboard/users/:username/reset-totp': async () => (await account()).resetPage,
    '/dashboard/users/:username/delete': async () => (await account()).deletePage,
    '/dashboard/invitations': async () => (await invitations()).invitations,
    '/dashboard/invitations/:username/revoke': async () => (await invitations()).revokePage,
    '/dashboard/settings/roles': async () => (await roles()).roles,
    '/dashboard/settings/roles/new': async () => (await roles()).newRole,
    '/dashboard/settings/roles/:role': async () => (await roles()).role,
    '/dashboard/settings/roles/:role/delete': async () => (await roles()).deleteRole,
  },
  actions: {
    '/dashboard': async () => (await inbox()).decide,
    '/dashboard/comments': async () => (await comments()).decide,
    '/dashboard/posts/move': async () => (await posts()).move,
    '/dashboard/posts/decide': async () => (await posts()).decide,
    '/dashboard/posts/views': async () => (await posts()).saveView,
    '/dashboard/views/:view/delete': async () => (await views()).remove,
    '/dashboard/boards/new': async () => (await boards()).create,
    '/dashboard/boards/:url/settings': async () => (await boards()).update,
    '/dashboard/boards/:url/delete': async () => (await boards()).remove,
    '/dashboard/roadmaps/new': async () => (await roadmaps()).create,
    '/dashboard/roadmaps/usual': async () => (await roadmaps()).createUsual,
    '/dashboard/roadmaps/:url/settings': async () => (await roadmaps()).update,
    '/dashboard/roadmaps/:url/position': async () => (await roadmaps()).move,
    '/dashboard/roadmaps/:url/delete': async () => (await roadmaps()).remove,
    '/dashboard/settings/general': async () => (await settings()).saveGeneral,
    '/dashboard/settings/labs': async () => (await settings()).saveLabs,
    '/dashboard/settings/domains/add': async () => (await settings()).block,
    '/dashboard/settings/domains/remove': async () => (await settings()).unblock,
    '/dashboard/settings/mail/test': async () => (await mails()).test,
    '/dashboard/settings/mail/:mail/retry': async () => (await mails()).retry,
    '/dashboard/settings/mail/:mail/cancel': async () => (await mails()).cancel,
    '/dashboard/settings/keys': async () => (await keys()).create,
    '/dashboard/settings/keys/:key/revoke': async () => (await keys()).revoke,
    '/dashboard/users': async () => (await users()).block,
    '/dashboard/users/:username/notes': async () => (await person()).saveNotes,
    '/dashboard/users/:username/roles': async () => (await person()).giveRole,
    '/dashboard/users/:username/roles/:role/remove': async () => (await person()).takeRole,
    '/dashboard/users/:username/block': async () => (await account()).block,
    '/dashboard/users/:username/unblock': async () => (await account()).unblock,
    '/dashboard/users/:username/sign-out': async () => (await account()).signOut,
    '/dashboard/users/:username/reset-totp': async () => (await account()).resetTotp,
    '/dashboard/users/:username/delete': async () => (await account()).remove,
    '/dashboard/invitations': async () => (await invitations()).invite,
    '/dashboard/invitations/:username/resend': async () => (await invitations()).resend,
    '/dashboard/invitations/:username/revoke': async () => (await invitations()).revoke,
    '/dashboard/settings/roles/new': async () => (await roles()).create,
    '/dashboard/settings/roles/:role': async () => (await roles()).update,
    '/dashboard/settings/roles/:role/delete': async () => (await roles()).remove,
    '/undo/:undo': async () => (await undo()).undo,
  },
} satisfies RoutesOf
