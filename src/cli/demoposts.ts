/** A post of the demo. Text and comments are in the language of the title. */
interface DemoPost {
  title: string
  board: string
  /** A number from 1 into the roadmaps of the demo; absent for none. */
  roadmap?: number
  text: string
  comments?: readonly string[]
}

export const POSTS: readonly DemoPost[] = [
  {
    title: 'Dark mode for the lunar night',
    board: 'design',
    roadmap: 3,
    text: 'A night here lasts **two weeks**. A dark theme would save our eyes, and the batteries.',
    comments: ['Please follow the setting of the system.', 'We ask for this every night.'],
  },
  {
    title: 'Export everything as CSV',
    board: 'import-and-export',
    roadmap: 4,
    text: 'Posts, votes and comments in one file, for our monthly report.',
    comments: ['Works for us since the last update. Thank you!'],
  },
  {
    title: 'Keyboard shortcuts for triage',
    board: 'ideas',
    roadmap: 2,
    text: 'Going through 200 posts with a mouse takes a morning:\n\n- `j` and `k`: next and previous\n- `s`: set the status\n- `m`: mark as spam',
    comments: ['Could they be off by default? Our screen reader uses the same keys.'],
  },
  {
    title: 'Push notifications when a rover answers',
    board: 'notifications',
    roadmap: 2,
    text: 'An answer takes up to an hour. I would rather not sit there and reload the page.',
    comments: ['A mail would do for me.', 'I would like to see this on mobile first.'],
  },
  {
    title: 'The list jumps when a vote arrives',
    board: 'bugs',
    roadmap: 4,
    text: 'I often press the wrong button, because the post above it has just moved.\n\n1. Open **Most voted**\n2. Wait for a vote from someone else',
    comments: ['The list now stays where it is until you reload. Can you try again?', 'Fixed for me.'],
  },
  {
    title: 'Offline mode behind the crater rim',
    board: 'mobile-app',
    roadmap: 1,
    text: 'There is no signal behind the rim. What I write there should be sent as soon as I am back.',
    comments: ['Here is how we do it for now: on paper.'],
  },
  {
    title: 'Übersetzung ins Deutsche',
    board: 'translations',
    roadmap: 3,
    text: 'Unser halbes Team liest lieber Deutsch. Beim Übersetzen helfe ich gern.',
    comments: ['Ich kann Korrektur lesen.'],
  },
  {
    title: 'Перевод на русский',
    board: 'translations',
    roadmap: 1,
    text: 'Нам очень не хватает русского интерфейса. Готовы помочь с переводом.',
    comments: ['Очень ждём!'],
  },
  {
    title: '月面での文字が小さい',
    board: '日本語のご意見',
    roadmap: 2,
    text: 'ヘルメット越しだと文字が読みにくいです。大きさを選べるようにしてください。',
    comments: ['私も困っています。'],
  },
  {
    title: 'Sign in with a security key',
    board: 'security',
    roadmap: 2,
    text: 'Typing a code with gloves on takes three attempts. A key would take one touch.',
    comments: ['Our policy will require this next year.'],
  },
  {
    title: 'Webhooks for status changes',
    board: 'integrations',
    roadmap: 1,
    text: 'Our chat should know when a post is planned or shipped. A `POST` with the post as JSON is enough.',
  },
  {
    title: 'Charts of votes over time',
    board: 'analytics',
    text: 'A total does not show whether people still want something. A small chart per post would.',
    comments: ['With the weeks of a release marked, please.'],
  },
  {
    title: 'Invoices with a VAT number',
    board: 'billing',
    text: 'Without the number our accountants send each invoice back.',
  },
  {
    title: 'A guide to the first week',
    board: 'onboarding',
    roadmap: 4,
    text: 'What to set up first, whom to invite, which boards to begin with.',
    comments: ['We followed it last week. The part about boards helped most.'],
  },
  {
    title: 'Screen reader reads every button as "button"',
    board: 'accessibility',
    roadmap: 3,
    text: 'The buttons for votes have no name. I cannot tell which post I am voting for.',
    comments: ['Thank you for the report. The next version names the post and its votes.'],
  },
  {
    title: 'Faster search on slow links',
    board: 'performance',
    text: 'From the far side a search takes eight seconds. Most of that is the page, not the search.',
  },
  {
    title: 'Groups of people with their own boards',
    board: 'teams',
    roadmap: 1,
    text: 'The drillers do not need the posts of the kitchen, and the other way around.',
    comments: ['Would a role for each team be enough?'],
  },
  {
    title: 'Markdown preview while writing',
    board: 'ideas',
    text: 'I would like to see my table *before* everyone else does.',
    comments: ['There is a **Preview** button below the text.'],
  },
  {
    title: 'Tray icon for the desktop app',
    board: 'desktop-app',
    text: 'With the number of unread comments, so that the window can stay closed.',
  },
  {
    title: 'Rate limits in the API document',
    board: 'api',
    text: 'Our import met one at night. How many requests may we send, and in what time?',
    comments: ['The `Retry-After` header of the answer says how long to wait.'],
  },
  {
    title: 'Merge posts that ask for the same',
    board: 'ideas',
    roadmap: 1,
    text: 'We have four posts about dark mode, each with a part of the votes.',
    comments: ['And the authors of all four should hear about it.'],
  },
  {
    title: 'Undo for votes cast by mistake',
    board: 'bugs',
    text: 'My thumb slipped, and I found no way back.',
    comments: ['Press the button a second time: that takes the vote back.'],
  },
  {
    title: 'Plugin for the airlock console',
    board: 'plugins',
    text: 'People have the best ideas while they wait for the pressure.',
  },
  {
    title: 'Archive old boards',
    board: 'ideas',
    text: 'The boards of past missions should be readable, but take no new posts.',
  },
  {
    title: 'A bot that greets newcomers',
    board: 'automation',
    text: 'A short welcome under the first post of each person, and a link to the guide.',
    comments: ['Only if it can be turned off.'],
  },
  {
    title: 'Secret prototype: voice control',
    board: 'labs',
    text: '“Vote for dark mode.” It works in three of four attempts.',
  },
]
