import escape from 'validator/lib/escape.js'
import { wordsOf, type Key, type Words } from '../core/catalogue.js'
import type { NotificationKind } from '../core/notificationkinds.js'
import { printable, printableLines } from '../core/text.js'
import { button, frame, type Look } from './frame.js'
import { greetingOf } from './greeting.js'
import type { Letter } from './transport.js'

/** One thing that happened to a post. */
export interface MailedNews {
  kind: NotificationKind
  /** The name of the person who did it. Undefined: the mail says that the team did. */
  by?: string | undefined
  /** The new status, with its color as six hexadecimal digits. */
  status?: { name: string; color: string } | undefined
  /** The post that was merged into the other. Undefined: the mail does not name it. */
  merged?: { title: string; number: number } | undefined
  /** The link to it. */
  link: string
  /** What was said, without Markdown. */
  text?: string | undefined
}

export interface MailedPost {
  title: string
  number: number
  link: string
  news: readonly MailedNews[]
  /** How many older news about the post the mail leaves out. */
  earlier: number
}

interface Facts {
  look: Look
  /** One of `LANGUAGES`. */
  language: string
  /** Of the reader. */
  name: string
  isDigest: boolean
  posts: readonly MailedPost[]
  /** Posts that are left out, as the mail would be too long. */
  left: number
  links: {
    /** All notifications. */
    all: string
    /** Where the reader chooses what they are mailed, without signing in. */
    settings: string
  }
}

/**
 * Writes a mail that tells a person what became of posts. All mails about one post have the same subject, so that mail
 * programs show them as a thread.
 */
export function notificationMail({ language, ...facts }: Facts): Pick<Letter, 'subject' | 'text' | 'html'> {
  const words = wordsOf(language)
  const look = { ...facts.look, title: printable(facts.look.title) }
  const posts = facts.posts.map((post) => ({ ...post, title: shortened(post.title) }))
  const given = { ...facts, look, posts }
  return { subject: subjectOf(words, given), text: textOf(words, given), html: htmlOf(words, given) }
}

type Given = Omit<Facts, 'language'>

function subjectOf({ t }: Words, { look, posts, left, isDigest }: Given): string {
  const [post] = posts
  const siteTitle = look.title
  if (!isDigest && posts.length === 1 && post)
    return t('mail.news.subject.post', { siteTitle, title: post.title, number: post.number })
  const count = posts.length + left
  return t(isDigest ? 'mail.news.subject.digest' : 'mail.news.subject.posts', { siteTitle, count })
}

/** Why the reader gets the mail. */
function whyOf({ isDigest, posts }: Pick<Given, 'isDigest' | 'posts'>): Key {
  if (isDigest) return 'mail.news.whyDigest'
  const isForTeam = posts.every(({ news }) => news.every(({ kind }) => kind === 'report'))
  return isForTeam ? 'mail.news.whyTeam' : 'mail.news.why'
}

/** Characters of a title. */
const LONGEST_TITLE = 120

function shortened(title: string): string {
  const plain = printable(title)
  return plain.length <= LONGEST_TITLE ? plain : `${plain.slice(0, LONGEST_TITLE - 1).toWellFormed()}…`
}

function sentenceOf({ t }: Words, { kind, by, status, merged }: MailedNews): string {
  if (kind === 'merged' && merged)
    return printable(t('mail.news.mergedOf', { title: shortened(merged.title), number: merged.number }))
  const key: Key = `mail.news.${kind === 'status' && !status ? 'update' : kind}`
  return printable(t(key, { name: by ?? t('notifications.team'), status: status?.name ?? '' }))
}

function textOf(words: Words, { look, name, posts, left, links, isDigest }: Given): string {
  const { t } = words
  const lines = [greetingOf(words, name), '']
  for (const { title, number, link, news, earlier } of posts) {
    lines.push(`${title} (#${number})`, link, '')
    if (earlier > 0) lines.push(t('mail.news.earlier', { count: earlier }), '')
    for (const each of news) {
      lines.push(`* ${sentenceOf(words, each)}`)
      if (each.text) lines.push(...printableLines(each.text).split('\n').map((line) => `  > ${line}`.trimEnd())) // prettier-ignore
      lines.push('')
    }
  }
  if (left > 0) lines.push(t('mail.news.left', { count: left }), links.all, '')
  lines.push('-- ', look.title, t(whyOf({ isDigest, posts })))
  lines.push(words.labelled(t('mail.news.settings'), links.settings), '')
  return lines.join('\n')
}

function htmlOf(words: Words, { look, name, posts, left, links, isDigest }: Given): string {
  const { t } = words
  const [only] = posts.length === 1 ? posts : []
  return frame(
    words,
    look,
    [
      `<p>${escape(greetingOf(words, name))}</p>`,
      ...posts.map((post) => postHtml(words, post)),
      ...(left > 0 ? [`<p>${escape(t('mail.news.left', { count: left }))}</p>`] : []),
      only ? button(look, { link: only.link, action: t('mail.news.open') }) : button(look, { link: links.all, action: t('mail.news.all') }), // prettier-ignore
      `<p class="soft" style="color:#57606a;font-size:14px">${escape(t(whyOf({ isDigest, posts })))} <a class="link" style="color:#57606a" href="${escape(links.settings)}">${escape(t('mail.news.settings'))}</a></p>`,
    ].join('\n'),
  )
}

function postHtml(words: Words, { title, number, link, news, earlier }: MailedPost): string {
  const heading = `<h2 dir="auto" style="margin:24px 0 8px;font-size:17px;overflow-wrap:anywhere"><a class="link" style="color:#1b1f24" href="${escape(link)}">${escape(title)}</a> <span class="soft" style="color:#57606a;font-weight:normal">#${number}</span></h2>`
  const left = earlier > 0 ? [`<p class="soft" style="margin:8px 0;color:#57606a">${escape(words.t('mail.news.earlier', { count: earlier }))}</p>`] : [] // prettier-ignore
  return [heading, ...left, ...news.map((each) => newsHtml(words, each))].join('\n')
}

function newsHtml(words: Words, news: MailedNews): string {
  const { status, text } = news
  // A square of the color, as text: mail programs hide pictures
  const swatch = status ? `<span style="color:#${/^[0-9a-f]{6}$/i.test(status.color) ? status.color : '57606a'}">&#9632;</span> ` : '' // prettier-ignore
  const sentence = `<p dir="auto" style="margin:8px 0;font-weight:bold;overflow-wrap:anywhere">${swatch}<a class="link" style="color:#1b1f24;text-decoration:none" href="${escape(news.link)}">${escape(sentenceOf(words, news))}</a></p>`
  if (!text) return sentence
  const paragraphs = text.split('\n\n').map((part) => `<p style="margin:0 0 8px">${escape(printableLines(part)).replaceAll('\n', '<br>')}</p>`) // prettier-ignore
  const side = words.direction === 'rtl' ? 'right' : 'left' // many mail programs know no logical sides
  return `${sentence}\n<div class="quote" dir="auto" style="margin:0 0 16px;padding-${side}:12px;border-${side}:3px solid #d5dae0;text-align:${side};overflow-wrap:anywhere">${paragraphs.join('')}</div>`
}
