import type { Migration } from 'kysely'
import { up as trunk } from './0001_trunk.js'
import { up as feedback } from './0002_feedback.js'
import { up as fewerIndexes } from './0003_fewer_indexes.js'
import { up as leanerWrites } from './0004_leaner_writes.js'
import { up as changeLog } from './0005_change_log.js'
import { up as jobLeases } from './0006_job_leases.js'
import { up as plainText } from './0007_plain_text.js'
import { up as limits } from './0008_limits.js'
import { up as apiKeys } from './0009_api_keys.js'
import { up as audit } from './0010_audit.js'
import { up as sessions } from './0011_sessions.js'
import { up as totp } from './0012_totp.js'
import { up as names } from './0013_names.js'
import { up as postNumbers } from './0014_post_numbers.js'
import { up as moderation } from './0015_moderation.js'
import { up as search } from './0016_search.js'
import { up as trending } from './0017_trending.js'
import { up as servers } from './0018_servers.js'
import { up as language } from './0019_language.js'
import { up as ownComments } from './0020_own_comments.js'
import { up as postMoves } from './0021_post_moves.js'
import { up as mailQueue } from './0022_mail_queue.js'
import { up as jobRuns } from './0023_job_runs.js'
import { up as editedSince } from './0024_edited_since.js'
import { up as internalComments } from './0025_internal_comments.js'
import { up as ownDeletion } from './0026_own_deletion.js'
import { up as movers } from './0027_movers.js'
import { up as reportsLogged } from './0028_reports_logged.js'
import { up as rowChanges } from './0029_row_changes.js'
import { up as eventDetails } from './0030_event_details.js'
import { up as deliveries } from './0031_deliveries.js'
import { up as browserSessions } from './0032_browser_sessions.js'
import { up as identities } from './0033_identities.js'
import { up as undos } from './0034_undos.js'
import { up as people } from './0035_people.js'
import { up as boardSizes } from './0036_board_sizes.js'
import { up as invitations } from './0037_invitations.js'
import { up as reviewsLogged } from './0038_reviews_logged.js'
import { up as views } from './0039_views.js'
import { up as updates } from './0040_updates.js'
import { up as firstPosts } from './0041_first_posts.js'
import { up as backupTasks } from './0042_backup_tasks.js'
import { up as notifications } from './0043_notifications.js'
import { up as notificationWays } from './0044_notification_ways.js'
import { up as mentions } from './0045_mentions.js'
import { up as reportNews } from './0046_report_news.js'
import { up as followedPosts } from './0047_followed_posts.js'
import { up as decided } from './0048_decided.js'
import { up as commentSearch } from './0049_comment_search.js'
import { up as merges } from './0050_merges.js'
import { up as quietHours } from './0051_quiet_hours.js'
import { up as oldNotifications } from './0052_old_notifications.js'
import { up as ownMentions } from './0053_own_mentions.js'
import { up as statusKinds } from './0054_status_kinds.js'
import { up as tags } from './0055_tags.js'
import { up as imports } from './0056_imports.js'
import { up as images } from './0057_images.js'
import { up as brand } from './0058_brand.js'
import { up as legal } from './0059_legal.js'
import { up as importedPasswords } from './0060_imported_passwords.js'
import { up as userTags } from './0061_user_tags.js'
import { up as looks } from './0063_looks.js'
import { up as profiles } from './0064_profiles.js'
import { up as placeholders } from './0065_placeholders.js'
import { up as wordForms } from './0069_word_forms.js'
import { up as searchRefill } from './0070_search_refill.js'
import { up as boardRules } from './0072_board_rules.js'
import { up as spamIndex } from './0073_spam_index.js'
import { up as hiddenVotes } from './0075_hidden_votes.js'
import { up as snoozes } from './0076_snoozes.js'
import { up as importRuns } from './0077_import_runs.js'
import { up as newAccounts } from './0078_new_accounts.js'
import { up as notesIndex } from './0079_notes_index.js'
import { up as heldMerges } from './0080_held_merges.js'
import { up as spamCounts } from './0081_spam_counts.js'
import { up as leanerSearch } from './0082_leaner_search.js'
import { up as publicWords } from './0083_public_words.js'
import { up as wordStatistics } from './0084_word_statistics.js'

/**
 * All migrations, oldest first. Never edit a released one; add another. From 0029 on, they add tables and columns only:
 * `db/triggers/` has the triggers.
 */
export const migrations: Record<string, Migration> = {
  '0001_trunk': { up: trunk },
  '0002_feedback': { up: feedback },
  '0003_fewer_indexes': { up: fewerIndexes },
  '0004_leaner_writes': { up: leanerWrites },
  '0005_change_log': { up: changeLog },
  '0006_job_leases': { up: jobLeases },
  '0007_plain_text': { up: plainText },
  '0008_limits': { up: limits },
  '0009_api_keys': { up: apiKeys },
  '0010_audit': { up: audit },
  '0011_sessions': { up: sessions },
  '0012_totp': { up: totp },
  '0013_names': { up: names },
  '0014_post_numbers': { up: postNumbers },
  '0015_moderation': { up: moderation },
  '0016_search': { up: search },
  '0017_trending': { up: trending },
  '0018_servers': { up: servers },
  '0019_language': { up: language },
  '0020_own_comments': { up: ownComments },
  '0021_post_moves': { up: postMoves },
  '0022_mail_queue': { up: mailQueue },
  '0023_job_runs': { up: jobRuns },
  '0024_edited_since': { up: editedSince },
  '0025_internal_comments': { up: internalComments },
  '0026_own_deletion': { up: ownDeletion },
  '0027_movers': { up: movers },
  '0028_reports_logged': { up: reportsLogged },
  '0029_row_changes': { up: rowChanges },
  '0030_event_details': { up: eventDetails },
  '0031_deliveries': { up: deliveries },
  '0032_browser_sessions': { up: browserSessions },
  '0033_identities': { up: identities },
  '0034_undos': { up: undos },
  '0035_people': { up: people },
  '0036_board_sizes': { up: boardSizes },
  '0037_invitations': { up: invitations },
  '0038_reviews_logged': { up: reviewsLogged },
  '0039_views': { up: views },
  '0040_updates': { up: updates },
  '0041_first_posts': { up: firstPosts },
  '0042_backup_tasks': { up: backupTasks },
  '0043_notifications': { up: notifications },
  '0044_notification_ways': { up: notificationWays },
  '0045_mentions': { up: mentions },
  '0046_report_news': { up: reportNews },
  '0047_followed_posts': { up: followedPosts },
  '0048_decided': { up: decided },
  '0049_comment_search': { up: commentSearch },
  '0050_merges': { up: merges },
  '0051_quiet_hours': { up: quietHours },
  '0052_old_notifications': { up: oldNotifications },
  '0053_own_mentions': { up: ownMentions },
  '0054_status_kinds': { up: statusKinds },
  '0055_tags': { up: tags },
  '0056_imports': { up: imports },
  '0057_images': { up: images },
  '0058_brand': { up: brand },
  '0059_legal': { up: legal },
  '0060_imported_passwords': { up: importedPasswords },
  '0061_user_tags': { up: userTags },
  '0063_looks': { up: looks },
  '0064_profiles': { up: profiles },
  '0065_placeholders': { up: placeholders },
  '0069_word_forms': { up: wordForms },
  '0070_search_refill': { up: searchRefill },
  '0072_board_rules': { up: boardRules },
  '0073_spam_index': { up: spamIndex },
  '0075_hidden_votes': { up: hiddenVotes },
  '0076_snoozes': { up: snoozes },
  '0077_import_runs': { up: importRuns },
  '0078_new_accounts': { up: newAccounts },
  '0079_notes_index': { up: notesIndex },
  '0080_held_merges': { up: heldMerges },
  '0081_spam_counts': { up: spamCounts },
  '0082_leaner_search': { up: leanerSearch },
  '0083_public_words': { up: publicWords },
  '0084_word_statistics': { up: wordStatistics },
}
