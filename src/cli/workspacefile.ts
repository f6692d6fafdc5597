import { parseDocument, visit } from 'yaml'
import { AppError } from '../core/errors.js'
import { NOUNS } from '../core/nouns.js'

/** The first line of a workspace file. It changes where an older program would read something wrong. */
export const FORMAT = 'feedbackctl-workspace/1'

export type Value = string | boolean | null | string[]
export type Entry = Readonly<Record<string, Value>>

/** What a workspace file says. What it leaves out is left as it is. */
export interface Workspace {
  settings?: Entry
  boards?: readonly Entry[]
  roadmaps?: readonly Entry[]
  tags?: readonly Entry[]
  roles?: readonly Entry[]
  blockedDomains?: readonly string[]
}

type Kind = 'text' | 'flag' | 'texts'
type Fields = Readonly<Record<string, Kind>>

export const SETTINGS: Fields = {
  title: 'text',
  description: 'text',
  logo: 'text',
  logoDark: 'text',
  accentColor: 'text',
  googleAnalyticsId: 'text',
  allowSignup: 'flag',
  holdFirstPosts: 'flag',
  developer_mode: 'flag',
  announcement: 'text',
  announcementUntil: 'text',
  signupNote: 'text',
  headerLinks: 'texts',
  footerLinks: 'texts',
  customCss: 'text',
  newFor: 'text',
  limitPosts: 'text',
  limitComments: 'text',
  limitEdits: 'text',
  limitReports: 'text',
}

const byUrl = <F extends { url: 'text' }>({ url, ...rest }: F) => ({ key: 'url' as const, fields: { url, ...rest } })

/** The lists of a workspace, and the field by which an entry is the same as one on the site. It comes first. */
export const LISTS = {
  boards: byUrl(NOUNS.board.details),
  roadmaps: { key: 'url', fields: { url: 'text', name: 'text', color: 'text', display: 'flag', kind: 'text' } },
  tags: byUrl(NOUNS.tag.details),
  roles: { key: 'name', fields: { ...NOUNS.role.details, permissions: 'texts' } },
} as const satisfies Record<string, { key: string; fields: Fields }>
export type ListName = keyof typeof LISTS
export const LIST_NAMES = Object.keys(LISTS) as ListName[]

/** Reads YAML, or JSON. Throws USAGE with the place of the first mistake. */
export function workspaceIn(text: string, shown: string): Workspace {
  const wrong = (why: string) => new AppError('USAGE', `${shown} ${why}. Nothing was changed.`)
  const document = parseDocument(text, { uniqueKeys: false }) // its own check takes minutes for a map of 60,000 keys
  const [error] = document.errors
  if (error) throw wrong(`is not YAML: ${error.message.split('\n')[0]?.replace(/[.:]$/, '')}`)
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>()
      for (const { key } of items) {
        const name = String(key)
        if (seen.has(name)) throw wrong(`has ${JSON.stringify(name.slice(0, 100))} twice in one place`)
        seen.add(name)
      }
    },
  })
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 })
  } catch (thrown) {
    throw wrong(`is not YAML that can be read: ${(thrown as Error).message}`)
  }
  if (!isRecord(value) || value.format !== FORMAT) throw wrong(`is no workspace: it has no line "format: ${FORMAT}"`)
  const { format: _, ...parts } = value
  const found: Record<string, unknown> = {}
  for (const [name, part] of Object.entries(parts)) {
    if (name === 'settings') found[name] = entryIn(part, SETTINGS, name, wrong)
    else if (name === 'blockedDomains') {
      if (!isTexts(part)) throw wrong('must have a list of texts as blockedDomains')
      found[name] = part
    } else if (isListName(name)) found[name] = entriesIn(part, name, wrong)
    else throw wrong(`has the unknown part ${JSON.stringify(name)}. The parts are: settings, ${LIST_NAMES.join(', ')}, blockedDomains`) // prettier-ignore
  }
  return found
}

const isListName = (name: string): name is ListName => Object.hasOwn(LISTS, name)
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value) // prettier-ignore
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every((each) => typeof each === 'string') // prettier-ignore

const IS: { [K in Kind]: string } = {
  text: 'a text; put it in quotes',
  flag: 'true or false',
  texts: 'a list of texts',
}

function entryIn(value: unknown, fields: Fields, place: string, wrong: (why: string) => AppError): Entry {
  if (!isRecord(value)) throw wrong(`must have fields in ${place}`)
  for (const [name, given] of Object.entries(value)) {
    const kind = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (kind === undefined) throw wrong(`has the unknown field ${JSON.stringify(name)} in ${place}. The fields are: ${Object.keys(fields).join(', ')}`) // prettier-ignore
    const fits = kind === 'text' ? given === null || typeof given === 'string' : kind === 'flag' ? typeof given === 'boolean' : isTexts(given) // prettier-ignore
    if (!fits) throw wrong(`has a value in ${place}.${name} that is not ${IS[kind]}`)
  }
  return value as Entry
}

function entriesIn(value: unknown, list: ListName, wrong: (why: string) => AppError): Entry[] {
  if (!Array.isArray(value)) throw wrong(`must have a list as ${list}`)
  const { key, fields } = LISTS[list]
  const seen = new Set<string>()
  return value.map((each, at) => {
    const entry = entryIn(each, fields, `${list}[${at}]`, wrong)
    const id = entry[key]
    if (typeof id !== 'string' || id === '') throw wrong(`has no ${key} in ${list}[${at}]`)
    if (list === 'roles' && id.trim() === '@everyone')
      throw wrong('has the role @everyone, which every site has. Change it with "roles update"')
    if (seen.has(id)) throw wrong(`has ${JSON.stringify(id)} twice in ${list}`)
    seen.add(id)
    return entry
  })
}
