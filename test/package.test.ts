import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { branches } from '../src/cli/tree.js'

const ROOT = path.join(import.meta.dirname, '..')

type Lock = { packages: Record<string, { resolved?: string; gypfile?: boolean }> }

describe('package-lock.json', () => {
  const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as Lock

  // `npm install` drops the field, for npm does not copy it from the package. Put it back by hand.
  it('says that better-sqlite3 brings its addon, so that "npm ci" compiles none', () => {
    expect(packages['node_modules/better-sqlite3']).toMatchObject({ gypfile: false })
  })

  it('names no registry, so that "npm ci" asks the one that is configured', () => {
    expect(Object.keys(packages).filter((name) => packages[name]?.resolved !== undefined)).toEqual([])
  })
})

describe('the published package', () => {
  const { scripts, man, files } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
    man: string[]
    files: string[]
  }

  // npm runs these, or warns of them, where somebody installs the package. `postprepare` is for a clone only.
  it('has no script that npm runs when it is installed', () => {
    const names = ['preinstall', 'install', 'postinstall', 'prepublish', 'prepare']
    expect(names.filter((name) => name in scripts)).toEqual([])
  })

  it('is built before it is packed, and a clone when its dependencies are there', () => {
    expect(scripts).toMatchObject({
      prepack: 'npm run build -- --if-changed',
      postprepare: 'npm run build',
    })
  })

  // npm installs those that are listed. A folder in `directories.man` it expands only when a package is published.
  it('has the manual page of every command', () => {
    const names = ['feedbackctl', ...[...branches.map(({ name }) => name), 'help'].map((name) => `feedbackctl-${name}`)]
    expect(man.toSorted()).toEqual(names.map((name) => `dist/man/${name}.1.gz`).toSorted())
    expect(man.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([])
    expect(files).toContain('dist')
    const bytes = man.map((file) => statSync(path.join(ROOT, file)).size).reduce((sum, size) => sum + size)
    expect(bytes).toBeLessThan(100_000)
  })
})
