import type { RoutesOf } from '../kit/routes.js'

const boards = () => import('./boards.js')
const home = () => import('./home.js')
const roadmaps = () => import('./roadmaps.js')
const undo = () => import('./undo.js')

/** The pages of the team. Each is loaded when it is asked for first. */
export const routes = {
  pages: {
    '/dashboard': async () => (await home()).home,
    '/dashboard/boards': async () => (await boards()).boards,
    '/dashboard/boards/new': async () => (await boards()).newBoard,
    '/dashboard/boards/:url/settings': async () => (await boards()).boardSettings,
    '/dashboard/boards/:url/delete': async () => (await boards()).deleteBoard,
    '/dashboard/roadmaps': async () => (await roadmaps()).roadmaps,
    '/dashboard/roadmaps/new': async () => (await roadmaps()).newRoadmap,
    '/dashboard/roadmaps/:url/settings': async () => (await roadmaps()).roadmapSettings,
    '/dashboard/roadmaps/:url/delete': async () => (await roadmaps()).deleteRoadmap,
  },
  actions: {
    '/dashboard/boards/new': async () => (await boards()).create,
    '/dashboard/boards/:url/settings': async () => (await boards()).update,
    '/dashboard/boards/:url/delete': async () => (await boards()).remove,
    '/dashboard/roadmaps/new': async () => (await roadmaps()).create,
    '/dashboard/roadmaps/usual': async () => (await roadmaps()).createUsual,
    '/dashboard/roadmaps/:url/settings': async () => (await roadmaps()).update,
    '/dashboard/roadmaps/:url/position': async () => (await roadmaps()).move,
    '/dashboard/roadmaps/:url/delete': async () => (await roadmaps()).remove,
    '/undo/:undo': async () => (await undo()).undo,
  },
} satisfies RoutesOf
