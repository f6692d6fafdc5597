import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { links } from '../../src/core/pagelinks.js'
import { routes } from '../../src/web/index.js'

// core/pagelinks.ts alone puts a name into the path of a page.

const LINKS = 'src/core/pagelinks.ts'

/** Files that may have such paths: those of other products, and what browsers load, which imports nothing. */
const OTHERS = /^src\/(?:sources|web\/assets)\//

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((name) => path.posix.join('src', name))
  .filter((name) => /\.tsx?$/.test(name) && name !== LINKS && !OTHERS.test(name))

const patterns = [...new Set(Object.values({ ...routes, frame: {}, login: {}, error: {} }).flatMap(Object.keys))]
/** What is right before a name in the path of a page, as `posts` in `/posts/:slug`. */
const before = [...new Set(patterns.flatMap((each) => Array.from(each.matchAll(/([^/]+)\/:/g), ([, found]) => found)))]

/** Stands for what is known only when the program runs. */
const UNKNOWN = '\0'
const NAMED = new RegExp(`/(?:${before.join('|')})/${UNKNOWN}`)
/** Of the JSON API. */
const API = /\/api\/v1(?:\/|$)/

const sources = new Map([...files, LINKS].map((name) => [name, readFileSync(name, 'utf8')]))
/** Files that put something behind a slash, or two things together. Parsing the others would take most of the time. */
const joining = files.filter((name) => /\/\$\{|\/['"`]|\}\$\{|\w \+ \w/.test(sources.get(name) ?? ''))

const trees = new Map<string, ts.SourceFile>()
function treeOf(name: string): ts.SourceFile | undefined {
  const source = sources.get(name)
  if (source !== undefined && !trees.has(name))
    trees.set(name, ts.createSourceFile(name, source, ts.ScriptTarget.Latest))
  return trees.get(name)
}

const constants = new Map<string, string>()

/** The constant that a name means in a file, or in one that it is imported from. */
function constant(file: string, name: string): string {
  const key = `${file} ${name}`
  const known = constants.get(key)
  if (known !== undefined) return known
  constants.set(key, UNKNOWN) // where it names itself
  const found = constantIn(file, name)
  constants.set(key, found)
  return found
}

function constantIn(file: string, name: string): string {
  for (const each of treeOf(file)?.statements ?? []) {
    if (ts.isVariableStatement(each))
      for (const { name: declared, initializer } of each.declarationList.declarations)
        if (ts.isIdentifier(declared) && declared.text === name && initializer) return textOf(file, initializer)
    if (!ts.isImportDeclaration(each) || !ts.isStringLiteral(each.moduleSpecifier)) continue
    const named = each.importClause?.namedBindings
    const found = named && ts.isNamedImports(named) && named.elements.find((one) => one.name.text === name)
    if (!found || !each.moduleSpecifier.text.startsWith('.')) continue
    const from = path.posix.join(path.posix.dirname(file), each.moduleSpecifier.text)
    const source = [from.replace(/\.js$/, '.ts'), from.replace(/\.js$/, '.tsx')].find((one) => treeOf(one))
    return source === undefined ? UNKNOWN : constant(source, (found.propertyName ?? found.name).text)
  }
  return UNKNOWN
}

/** The text that an expression makes, with UNKNOWN in place of what is not constant. */
function textOf(file: string, node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return textOf(file, node.expression)
  if (ts.isIdentifier(node)) return constant(file, node.text)
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map((span) => textOf(file, span.expression) + span.literal.text).join('')
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return textOf(file, node.left) + textOf(file, node.right)
  if (ts.isConditionalExpression(node)) {
    const both = [textOf(file, node.whenTrue), textOf(file, node.whenFalse)]
    return both.find((text) => text.includes(UNKNOWN)) ?? both[0] ?? UNKNOWN
  }
  return UNKNOWN
}

/** The expressions of a file that `isWrong` says of, by the text that they make. */
function foundIn(file: string, isWrong: (text: string) => boolean): string[] {
  const found = new Set<string>()
  const tree = treeOf(file)
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || ts.isBinaryExpression(node)
    if (isText && isWrong(textOf(file, node)))
      found.add(`${file}:${(tree?.getLineAndCharacterOfPosition(node.end).line ?? 0) + 1}`)
    ts.forEachChild(node, visit)
  }
  if (tree) visit(tree)
  return [...found]
}

it('nothing but the module of links puts a name into the path of a page', () => {
  expect(before).toEqual(expect.arrayContaining(['posts', 'comments', 'boards', 'users', 'keys', 'undo', 'views']))
  expect(joining.flatMap((file) => foundIn(file, (text) => NAMED.test(text) && !API.test(text)))).toEqual([])
})

it('nothing but the lists of routes repeats a path of the module of links', () => {
  const whole: string[] = Object.values(links).filter((link) => typeof link === 'string')
  expect(whole).toContain('/posts/new')
  const rest = files.filter(
    (file) => !file.endsWith('/routes.ts') && whole.some((link) => sources.get(file)?.includes(link)),
  )
  expect(rest.flatMap((file) => foundIn(file, (text) => whole.includes(text)))).toEqual([])
})
