import path from 'node:path'
import type { Command } from 'commander'
import type { Terminal } from '../terminal/terminal.js'

/** Where a site is: a server, or else a database, and the folder of the secret and the files beside it. */
export interface Places {
  server?: string | undefined
  folder?: string | undefined
  database?: string | undefined
}

/** Finds the site that the words of a command name. Undefined where it changes the configured one. */
type Find = (terminal: Terminal, command: Command) => Promise<Places | undefined>

const targets = new WeakMap<Command, Find>()

/** A command that can change another site than the configured one, whose protection then counts. */
export const setTarget = (command: Command, find: Find): void => void targets.set(command, find)

export const targetOf = async (terminal: Terminal, command: Command): Promise<Places | undefined> =>
  targets.get(command)?.(terminal, command)

/** The address of the database in a data folder. */
export const databaseIn = (folder: string): string => `sqlite:${path.join(folder, 'feedback.db')}`
