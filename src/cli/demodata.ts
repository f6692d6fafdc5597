import { localCall } from '../app/call.js'
import type { App } from '../app/open.js'
import { AppError } from '../core/errors.js'
import { seededRandom } from '../core/random.js'
import * as boards from '../service/boards.js'
import * as comments from '../service/comments.js'
import * as images from '../service/images.js'
import { PALETTE } from '../service/lib/named.js'
import type { Call } from '../service/lib/operation.js'
import * as posts from '../service/posts.js'
import * as roadmaps from '../service/roadmaps.js'
import * as settings from '../service/settings.js'
import * as site from '../service/site.js'
import * as users from '../service/users.js'
import * as votes from '../service/votes.js'
import { LOGO } from './demologo.js'
import { POSTS } from './demoposts.js'

export const OWNER = {
  email: 'ada@example.org',
  password: 'correct horse battery',
  name: 'Ada',
  siteTitle: 'Feedback for Moonbase',
}

/** A name, and what some are for. */
const BOARDS: readonly (readonly [name: string, description?: string])[] = [
  ['💡 Ideas', 'What would make life on the base easier? Nothing is too small.'],
  ['🐛 Bugs', 'What does not work as it should. Say what you did, and what you saw.'],
  ['📱 Mobile app', 'The app that fits into a glove.'],
  ['🔗 Integrations', 'What Moonbase should talk to.'],
  ['🌍 Translations', 'Words that are wrong, missing, or too long for a button.'],
  ['⚡ Performance', 'Where you wait, and for how long.'],
  ['🎨 Design', 'Colours, sizes, and the dark side.'],
  ['🔒 Security', 'Doors, keys, and who may open what.'],
  ['📈 Analytics', 'Numbers that you would look at every morning.'],
  ['💳 Billing', 'Invoices, taxes, and prices.'],
  ['📚 Documentation', 'Pages that are missing, or that nobody understands.'],
  ['🧩 Plugins'],
  ['🛰️ API'],
  ['🔔 Notifications', 'When to call you, and when to let you sleep.'],
  ['🧪 Labs'],
  ['♿ Accessibility', 'For everyone, with every device.'],
  ['🗂️ Import & export', 'How your data comes in, and how it leaves.'],
  ['👥 Teams', 'Crews, shifts, and who belongs where.'],
  ['🖥️ Desktop app'],
  ['🤖 Automation'],
  ['☁️ Hosting'],
  ['🎓 Onboarding'],
  ['日本語のご意見'],
]

const ROADMAPS = ['Under review', 'Planned', 'In progress', 'Shipped']

const PEOPLE = ['Grace', 'Linus', 'Zoë', '李娜', 'Радмила', 'Mateo', 'Amina', 'Søren', 'Priya', 'Kofi', 'Yuki']

/** People whose address is not confirmed. */
const UNCONFIRMED = 2

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
  for (const address of [OWNER.email, ...addresses.slice(0, -UNCONFIRMED)])
    await at(20)(users.update, { user: address, isVerified: true })
  await addLogo(at(30), at(30, OWNER.email))
  for (const [index, [name, description]] of BOARDS.entries())
    await at(BOARDS.length + 10 - index)(boards.create, {
      name,
      description,
      display: name !== '🧪 Labs',
      color: PALETTE[index % PALETTE.length],
    })
  for (const [index, name] of ROADMAPS.entries())
    await at(35)(roadmaps.create, { name, display: true, color: PALETTE[(index * 3 + 1) % PALETTE.length] })
  const steps: { daysAgo: number; take: () => Promise<unknown> }[] = []
  for (const [index, { title, board, roadmap = 0, text, comments: replies = [] }] of POSTS.entries()) {
    const age = (POSTS.length - index) * 1.2
    const author = pick(addresses)
    let id = ''
    const step = (daysAgo: number, take: () => Promise<unknown>) => steps.push({ daysAgo, take })
    step(age, async () => {
      const { post } = await at(age, author)(posts.create, { title, contentMarkdown: text, boardId: board })
      id = post.postId
    })
    if (roadmap > 0) {
      const roadmapId = `${ROADMAPS[roadmap - 1]?.toLowerCase().replace(' ', '-')}`
      step(age / 2, () => at(age / 2)(posts.update, { id, roadmapId, partial: true }))
    }
    const popularity = random() ** 2
    for (const voter of addresses)
      if (voter !== author && random() < popularity) {
        const daysAgo = age * random()
        step(daysAgo, () => at(daysAgo, voter)(votes.add, { postId: id }))
      }
    for (const [place, body] of replies.entries()) {
      const commented = (age * 0.9 * (replies.length - place)) / (replies.length + 1)
      const commenter = pick(addresses.filter((each) => each !== author))
      step(commented, () => at(commented, commenter)(comments.create, { post_id: id, body }))
    }
  }
  // The log has its entries in the order in which they are written
  for (const { take } of steps.toSorted((one, other) => other.daysAgo - one.daysAgo)) await take()
}

async function addLogo(asOperator: Call, asOwner: Call): Promise<void> {
  async function* bytes() {
    yield Buffer.from(LOGO, 'base64')
  }
  try {
    const { image } = await asOwner(images.create, {}, { type: 'image/png', bytes: bytes() })
    await asOperator(settings.update, { logo: image.url })
  } catch (error) {
    // A demo without sharp has no logo
    if (!(error instanceof AppError) || error.code !== 'IMAGES_UNAVAILABLE') throw error
  }
}
