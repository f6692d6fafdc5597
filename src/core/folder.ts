import { chownSync, existsSync, mkdirSync, rmdirSync, statSync } from 'node:fs'
import path from 'node:path'

/**
 * Creates a folder for its owner only, with its parents, and returns those that it made, parents first. Node's own
 * `recursive` never ends where a folder exists in which nothing can be created, such as /proc.
 */
export function makeFolder(folder: string): string[] {
  if (existsSync(folder)) return []
  const parents = makeFolder(path.dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
    return [...parents, folder]
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error // another process was faster
    return parents
  }
}

/** Works in a folder, which is made. If the work fails, what was made for it is removed, as far as it is empty. */
export async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const made = makeFolder(folder)
  try {
    return await work()
  } catch (error) {
    removeEmpty(made)
    throw error
  }
}

function removeEmpty(folders: readonly string[]): void {
  try {
    for (const each of folders.toReversed()) rmdirSync(each)
  } catch {
    // Another process uses it by now: it stays, and so do its parents
  }
}

/** Gives a file the owner of another, where root restores the site of a service. */
export function giveTo(file: string, like: string): void {
  const owner = process.getuid?.() === 0 ? statSync(like, { throwIfNoEntry: false }) : undefined
  if (owner) chownSync(file, owner.uid, owner.gid)
}
