import { links } from '../../core/pagelinks.js'
import type { RoutesOf } from '../kit/routes.js'

const posts = () => import('./posts.js')
const postmoves = () => import('./postmoves.js')
const postforms = () => import('./postforms.js')
const updates = () => import('./updates.js')
const merges = () => import('./merges.js')
const comments = () => import('./comments.js')
const site = () => import('./site.js')
const feeds = () => import('./feeds.js')
const home = () => import('./home.js')
const search = () => import('./search.js')
const boards = () => import('./boards.js')
const roadmaps = () => import('./roadmaps.js')
const people = () => import('./people.js')
const legal = () => import('./legal.js')
const manifest = () => import('./manifest.js')
const images = () => import('./images.js')
const userprofile = () => import('./userprofile.js')
const votes = () => import('./votes.js')

const COMMENT = '/posts/:slug/comments/:comment'

/** The pages, forms and feeds about posts, boards and roadmaps, and those that set a site up. Each is loaded when it is asked for first. */
export const routes = {
  pages: {
    '/': async () => (await home()).home,
    '/search': async () => (await search()).search,
    '/boards': async () => (await boards()).boards,
    '/boards/:url': async () => (await boards()).board,
    '/roadmaps': async () => (await roadmaps()).roadmaps,
    '/roadmaps/:url': async () => (await roadmaps()).roadmap,
    '/posts/new': async () => (await postforms()).newPost,
    '/posts/similar': async () => (await postforms()).similar,
    '/posts/people': async () => (await people()).team,
    '/posts/:slug': async () => (await posts()).post,
    '/posts/:slug/similar': async () => (await postforms()).related,
    '/posts/:slug/people': async () => (await people()).people,
    '/posts/:slug/voters': async () => (await votes()).voters,
    '/posts/:slug/edit': async () => (await postforms()).editPost,
    '/posts/:slug/status': async () => (await postmoves()).movePost,
    '/posts/:slug/update': async () => (await updates()).postUpdate,
    '/posts/:slug/merge': async () => (await merges()).mergePost,
    '/posts/:slug/delete': async () => (await posts()).deletePost,
    '/posts/:slug/report': async () => (await posts()).reportPost,
    [COMMENT]: async () => (await comments()).comment,
    [`${COMMENT}/edit`]: async () => (await comments()).editComment,
    [`${COMMENT}/delete`]: async () => (await comments()).deleteComment,
    [`${COMMENT}/report`]: async () => (await comments()).reportComment,
    '/users/:user': async () => (await userprofile()).profilePosts,
    '/users/:user/votes': async () => (await userprofile()).profileVotes,
    '/users/:user/comments': async () => (await userprofile()).profileComments,
    '/formatting': async () => (await import('./formatting.js')).formattingPage,
    '/legal/:name': async () => (await legal()).legalPage,
    '/setup/welcome': async () => (await site()).welcome,
    '/setup/create-account': async () => (await site()).accountPage,
    '/setup/create-board': async () => (await site()).boardPage,
    '/setup/create-roadmaps': async () => (await site()).roadmapsPage,
  },
  actions: {
    '/boards/:url/follow': async () => (await boards()).follow,
    '/boards/:url/unfollow': async () => (await boards()).unfollow,
    '/images': async () => (await images()).upload,
    '/posts/new': async () => (await postforms()).create,
    '/posts/:slug/edit': async () => (await postforms()).update,
    '/posts/:slug/merge': async () => (await merges()).merge,
    '/posts/:slug/unmerge': async () => (await merges()).unmerge,
    '/posts/:slug/delete': async () => (await posts()).remove,
    '/posts/:slug/status': async () => (await postmoves()).setStatus,
    '/posts/:slug/update': async () => (await updates()).update,
    '/posts/:slug/report': async () => (await posts()).report,
    '/posts/:slug/spam': async () => (await posts()).spam,
    '/posts/:slug/keep': async () => (await posts()).keep,
    '/posts/:slug/follow': async () => (await posts()).follow,
    '/posts/:slug/unfollow': async () => (await posts()).unfollow,
    '/posts/:slug/vote': async () => (await votes()).vote,
    '/posts/:slug/unvote': async () => (await votes()).unvote,
    '/posts/:slug/comments': async () => (await comments()).create,
    [`${COMMENT}/edit`]: async () => (await comments()).update,
    [`${COMMENT}/delete`]: async () => (await comments()).remove,
    [`${COMMENT}/report`]: async () => (await comments()).report,
    [`${COMMENT}/answer`]: async () => (await comments()).answer,
    [`${COMMENT}/unanswer`]: async () => (await comments()).unanswer,
    [`${COMMENT}/spam`]: async () => (await comments()).spam,
    [`${COMMENT}/keep`]: async () => (await comments()).keep,
    '/setup/create-account': async () => (await site()).createAccount,
    '/setup/create-board': async () => (await site()).createBoard,
    '/setup/create-roadmaps': async () => (await site()).createRoadmaps,
  },
  documents: {
    '/feed.atom': async () => (await feeds()).siteFeed,
    '/boards/:url/feed.atom': async () => (await feeds()).boardFeed,
    '/posts/:slug/feed.atom': async () => (await feeds()).postFeed,
    '/posts/:slug/card.png': async () => (await import('./postcards.js')).postCard,
    '/sitemap.xml': async () => (await feeds()).sitemap,
    '/manifest.webmanifest': async () => (await manifest()).manifest,
    '/robots.txt': async () => (await feeds()).robots,
  },
  downloads: {
    [links.postsFile]: async () => (await home()).postsFile,
  },
} satisfies RoutesOf
