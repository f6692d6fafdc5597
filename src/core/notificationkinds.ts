import type { NotificationTopic } from './notificationways.js'

/** What people are told. The last one is for the team. */
export const KINDS = [
  'status',
  'update',
  'answer',
  'reply',
  'mention',
  'merged',
  'published',
  'post',
  'report',
] as const
export type NotificationKind = (typeof KINDS)[number]

/** Whether the followers of a post are told, and not who alone is concerned. */
export const isForFollowers = (kind: NotificationKind): boolean => ['status', 'update', 'answer'].includes(kind)

/** What a person chooses the ways of a kind by. */
export const topicOf = (kind: NotificationKind): NotificationTopic =>
  kind === 'update' || kind === 'merged' || kind === 'published' ? 'status' : kind
