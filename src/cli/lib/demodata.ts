import { localCall, type App } from '../../app.js'
import { seededRandom } from '../../core/random.js'
import * as boards from '../../service/boards.js'
import * as comments from '../../service/comments.js'
import { PALETTE } from '../../service/lib/named.js'
import * as posts from '../../service/posts.js'
import * as roadmaps from '../../service/roadmaps.js'
import * as site from '../../service/site.js'
import * as users from '../../service/users.js'
import * as votes from '../../service/votes.js'

export const OWNER = {
  email: 'ada@example.org',
  password: 'correct horse battery',
  name: 'Ada',
  siteTitle: 'Feedback for Moonbase',
}

const BOARDS = [
  '💡 Ideas',
  '🐛 Bugs',
  '📱 Mobile app',
  '🔗 Integrations',
  '🌍 Translations',
  '⚡ Performance',
  '🎨 Design',
  '🔒 Security',
  '📈 Analytics',
  '💳 Billing',
  '📚 Documentation',
  '🧩 Plugins',
  '🛰️ API',
  '🔔 Notifications',
  '🧪 Labs',
  '♿ Accessibility',
  '🗂️ Import & export',
  '👥 Teams',
  '🖥️ Desktop app',
  '🤖 Automation',
  '☁️ Hosting',
  '🎓 Onboarding',
  '日本語のご意見',
]

const ROADMAPS = ['Under review', 'Planned', 'In progress', 'Shipped']

const PEOPLE = ['Grace', 'Linus', 'Zoë', '李娜', 'Радмила', 'Mateo', 'Amina', 'Søren', 'Priya', 'Kofi', 'Yuki']

/** The roadmap is a number from 1 into ROADMAPS, or 0 for none. */
const POSTS: readonly [title: string, board: string, roadmap: number][] = [
  ['Dark mode for the lunar night', 'design', 3],
  ['Export everything as CSV', 'import-and-export', 4],
  ['Keyboard shortcuts for triage', 'ideas', 2],
  ['Push notifications when a rover answers', 'notifications', 2],
  ['The list jumps when a vote arrives', 'bugs', 4],
  ['Offline mode behind the crater rim', 'mobile-app', 1],
  ['Übersetzung ins Deutsche', 'translations', 3],
  ['Перевод на русский', 'translations', 1],
  ['月面での文字が小さい', '日本語のご意見', 2],
  ['Sign in with a security key', 'security', 2],
  ['Webhooks for status changes', 'integrations', 1],
  ['Charts of votes over time', 'analytics', 0],
  ['Invoices with a VAT number', 'billing', 0],
  ['A guide to the first week', 'onboarding', 4],
  ['Screen reader reads every button as "button"', 'accessibility', 3],
  ['Faster search on slow links', 'performance', 0],
  ['Groups of people with their own boards', 'teams', 1],
  ['Markdown preview while writing', 'ideas', 0],
  ['Tray icon for the desktop app', 'desktop-app', 0],
  ['Rate limits in the API document', 'api', 0],
  ['Merge posts that ask for the same', 'ideas', 1],
  ['Undo for votes cast by mistake', 'bugs', 0],
  ['Plugin for the airlock console', 'plugins', 0],
  ['Archive old boards', 'ideas', 0],
  ['A bot that greets newcomers', 'automation', 0],
  ['Secret prototype: voice control', 'labs', 0],
]

const COMMENTS = [
  'Yes please, we ask for this every sprint.',
  'Works for me since the last update. Can you try again?',
  'We would use this every day.',
  'Could it be off by default?',
  'ありがとうございます！',
  'Here is how we work around it for now: we print it.',
  'I would rather see this on mobile first.',
  'Спасибо, очень ждём.',
  'Any news?',
]

/** Creates an owner, users, boards, roadmaps, posts, votes and comments of the last month. */
export async function fillDemo(app: App): Promise<void> {
  const random = seededRandom(1969)
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const at = (daysAgo: number, as?: string) =>
    localCall({ base: { ...app.base, now: () => new Date(app.base.now().getTime() - daysAgo * 86_400_000) } }, { as })
  const addresses = PEOPLE.map((_, index) => `person${index + 1}@example.org`)

  await at(40)(site.setup, OWNER)
  await Promise.all(
    PEOPLE.map((name, index) =>
      at(39 - index)(users.create, { email: addresses[index], name, password: OWNER.password }),
    ),
  )
  for (const [index, name] of BOARDS.entries())
    await at(BOARDS.length + 10 - index)(boards.create, {
      name,
      display: name !== '🧪 Labs',
      color: PALETTE[index % PALETTE.length],
    })
  for (const [index, name] of ROADMAPS.entries())
    await at(35)(roadmaps.create, { name, display: true, color: PALETTE[(index * 3 + 1) % PALETTE.length] })
  for (const [index, [title, board, roadmap]] of POSTS.entries()) {
    const age = (POSTS.length - index) * 1.2
    const author = pick(addresses)
    const body = `${pick(COMMENTS)}\n\n- before: **slow**\n- after: *fast*`
    const { post } = await at(age, author)(posts.create, { title, contentMarkdown: body, boardId: board })
    if (roadmap > 0)
      await at(age / 2)(posts.update, {
        id: post.postId,
        roadmapId: `${ROADMAPS[roadmap - 1]?.toLowerCase().replace(' ', '-')}`,
        partial: true,
      })
    const popularity = random() ** 2
    for (const voter of addresses)
      if (voter !== author && random() < popularity) await at(age * random(), voter)(votes.add, { postId: post.postId })
    for (let count = Math.floor(random() * 3); count > 0; count--)
      await at(age * random() * 0.9, pick(addresses))(comments.create, { post_id: post.postId, body: pick(COMMENTS) })
  }
}
