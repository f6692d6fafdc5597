import * as account from './account.js'
import { audience } from './audience.js'
import { audienceAll } from './audienceall.js'
import * as audit from './audit.js'
import * as auth from './auth.js'
import * as backups from './backups.js'
import * as boardfollows from './boardfollows.js'
import * as boards from './boards.js'
import * as answers from './answers.js'
import * as comments from './comments.js'
import { duplicates } from './duplicates.js'
import * as events from './events.js'
import * as eventundo from './eventundo.js'
import * as exports_ from './exports.js'
import * as follows from './follows.js'
import * as mentions from './mentions.js'
import * as merges from './merges.js'
import * as identities from './identities.js'
import * as images from './images.js'
import * as importfiles from './importfiles.js'
import * as importruns from './importruns.js'
import * as imports from './imports.js'
import * as invitationAccept from './invitationaccept.js'
import * as invitations from './invitations.js'
import * as keys from './keys.js'
import * as labs from './labs.js'
import * as legal from './legal.js'
import type { AnyOperation } from './lib/operation.js'
import * as mailLinks from './maillinks.js'
import * as mails from './mails.js'
import * as moderation from './moderation.js'
import * as names from './names.js'
import * as notifications from './notifications.js'
import * as notificationSettings from './notificationsettings.js'
import * as owner from './owner.js'
import * as moderationmany from './moderationmany.js'
import * as postfacets from './postfacets.js'
import * as posthistory from './posthistory.js'
import * as postmoves from './postmoves.js'
import * as reports from './reports.js'
import * as posts from './posts.js'
import * as posttags from './posttags.js'
import * as postupload from './postupload.js'
import * as profile from './profile.js'
import * as roadmaps from './roadmaps.js'
import * as roles from './roles.js'
import * as search from './search.js'
import * as sessions from './sessions.js'
import * as settings from './settings.js'
import * as site from './site.js'
import * as siteimports from './siteimports.js'
import * as tags from './tags.js'
import { told } from './told.js'
import { toldPeople } from './toldpeople.js'
import * as totp from './totp.js'
import * as undos from './undos.js'
import * as users from './users.js'
import { userSessions } from './usersessions.js'
import * as usersmany from './usersmany.js'
import * as usermerges from './usermerges.js'
import * as userprofile from './userprofile.js'
import * as usertags from './usertags.js'
import * as views from './views.js'
import * as votes from './votes.js'
import * as votesegments from './votesegments.js'

/** The registry: every operation, in the order of the documentation. */
export const operations = [
  site.status,
  site.setup,
  site.overview,
  auth.login,
  auth.signup,
  auth.verify,
  auth.validate,
  auth.resetPassword,
  auth.validateToken,
  auth.setPassword,
  owner.useLink,
  profile.profile,
  profile.updateProfile,
  profile.changePassword,
  account.exportData,
  account.requestDeletion,
  account.remove,
  profile.permissions,
  profile.dashboard,
  totp.status,
  totp.begin,
  totp.enable,
  totp.disable,
  totp.recovery,
  identities.list,
  identities.unlink,
  notifications.list,
  notifications.show,
  notifications.count,
  notifications.read,
  notificationSettings.settings,
  notificationSettings.update,
  mailLinks.settingsByKey,
  mailLinks.updateByKey,
  mailLinks.stopMail,
  mailLinks.unfollowByKey,
  sessions.list,
  sessions.show,
  sessions.revoke,
  sessions.revokeAll,
  keys.list,
  keys.show,
  keys.create,
  keys.revoke,
  users.list,
  users.downloadAll,
  users.show,
  users.create,
  users.update,
  users.block,
  usersmany.blockMany,
  usertags.tag,
  userprofile.publicProfile,
  userprofile.votes,
  userprofile.comments,
  users.unblock,
  users.signOut,
  userSessions,
  users.resetTotp,
  owner.promote,
  usermerges.merge,
  users.remove,
  invitations.list,
  invitations.create,
  invitationAccept.accept,
  invitations.resend,
  invitations.revoke,
  posts.list,
  posts.downloadAll,
  posts.show,
  posts.search,
  posts.similar,
  duplicates,
  search.find,
  postfacets.facets,
  posthistory.history,
  posts.create,
  postupload.uploadAll,
  imports.create,
  imports.findPath,
  siteimports.site,
  importfiles.file,
  importruns.start,
  importruns.confirm,
  importruns.list,
  importruns.show,
  importruns.cancel,
  importruns.refused,
  posts.update,
  postmoves.move,
  posttags.tag,
  merges.merge,
  merges.unmerge,
  merges.list,
  posts.remove,
  views.list,
  views.show,
  views.create,
  views.update,
  views.remove,
  moderation.reportPost,
  reports.reported,
  follows.followed,
  follows.follow,
  follows.unfollow,
  follows.followers,
  mentions.people,
  mentions.team,
  audience,
  audienceAll,
  told,
  toldPeople,
  votes.list,
  votes.downloadAll,
  votesegments.segments,
  votes.add,
  votes.remove,
  votes.assign,
  votes.unassign,
  comments.list,
  comments.listAll,
  comments.downloadAll,
  comments.show,
  comments.create,
  comments.update,
  comments.remove,
  images.create,
  images.remove,
  answers.answer,
  answers.unanswer,
  moderation.reportComment,
  moderation.list,
  moderation.count,
  moderation.show,
  moderation.decide,
  moderationmany.decideMany,
  undos.apply,
  eventundo.undo,
  boards.list,
  boards.get,
  boards.search,
  boards.show,
  boards.create,
  boards.update,
  boards.remove,
  boards.checkSlug,
  boards.checkName,
  boardfollows.followed,
  boardfollows.follow,
  boardfollows.unfollow,
  roadmaps.list,
  roadmaps.search,
  roadmaps.show,
  roadmaps.create,
  roadmaps.createUsual,
  roadmaps.update,
  roadmaps.sort,
  roadmaps.move,
  roadmaps.remove,
  tags.list,
  tags.show,
  tags.create,
  tags.update,
  tags.merge,
  tags.remove,
  roles.list,
  roles.permissions,
  roles.show,
  roles.create,
  roles.update,
  roles.remove,
  roles.assign,
  roles.unassign,
  settings.site,
  settings.update,
  backups.list,
  backups.create,
  backups.rehearse,
  mails.list,
  mails.test,
  mails.retry,
  mails.cancel,
  mails.suppressed,
  mails.unsuppress,
  labs.show,
  labs.update,
  legal.list,
  legal.show,
  legal.set,
  settings.limits,
  settings.blockedDomains,
  settings.setBlockedDomains,
  settings.blockDomains,
  settings.unblockDomains,
  notificationSettings.site,
  notificationSettings.updateSite,
  names.find,
  exports_.site,
  events.list,
  events.show,
  audit.verify,
] as unknown as readonly AnyOperation[] // each has its own types; the surfaces know only the schemas
