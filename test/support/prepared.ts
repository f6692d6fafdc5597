import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'

interface Entry {
  name: string
  mode: number
  /** Undefined for a folder. */
  content: Buffer | undefined
}

/** What is in a folder, with which another one can be filled. */
export interface Prepared {
  folder: string
  entries: Entry[]
}

export const remember = (folder: string): Prepared => ({
  folder,
  entries: readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const file = path.join(folder, name)
      const is = statSync(file)
      return { name, mode: is.mode & 0o777, content: is.isDirectory() ? undefined : readFileSync(file) }
    }),
})

/** Fills an empty folder. Configuration files then name this folder where they named the one that was remembered. */
export function copyTo(folder: string, prepared: Prepared): void {
  for (const { name, mode, content } of prepared.entries) {
    const file = path.join(folder, name)
    if (content === undefined) mkdirSync(file, { mode })
    else writeFileSync(file, name.endsWith('.toml') ? moved(content, prepared.folder, folder) : content, { mode })
  }
}

const moved = (content: Buffer, from: string, to: string): string => content.toString().replaceAll(from, to)
