/** Maximum lengths of user texts, in Unicode code points. Shared by all fields. */
export const LENGTHS = {
  title: 100,
  text: 65_536,
  comment: 1000,
  reason: 500,
  /** Of a user or a key. */
  name: 100,
  /** Of a board, a roadmap or a tag. */
  placeName: 50,
  boardDescription: 500,
  boardTemplate: 5000,
  viewName: 50,
  roleName: 30,
  purpose: 50,
  notes: 5000,
  setting: 255,
  legal: 50_000,
  css: 20_000,
} as const

/** Characters that one character of Markdown may be stored as: a `<` of HTML is `&lt;`. */
export const MAX_ESCAPED = 4
