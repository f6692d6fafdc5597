// Runs a command for each line of stdin, and writes its result as a line to stdout. See hosts.ts.
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { createInterface } from 'node:readline'
import { Readable, Writable } from 'node:stream'
import argon2 from '@node-rs/argon2'
import { run } from '../../src/cli/run.js'
import { branches, type Branch } from '../../src/cli/tree.js'
import type { Command } from './hosts.js'
import { notesBranch } from './notes.js'

const tree = branches as Branch[] // readonly in the program

/** Hashes each password once: most sites of the tests have the same owner. */
function rememberHashes(): void {
  const { hash } = argon2
  const hashes = new Map<string, Promise<string>>()
  const remembered: typeof hash = (password, options) => {
    const key = JSON.stringify([String(password), options])
    const found = hashes.get(key) ?? hash(password, options)
    hashes.set(key, found)
    return found
  }
  Object.assign(argon2, { hash: remembered })
}

/** `backup create` lowers the priority of its process. This one goes on with other commands, which a load would then starve. */
function keepPriority(): void {
  Object.assign(os, { setPriority: () => {} })
  syncBuiltinESMExports()
}

async function host(): Promise<void> {
  rememberHashes()
  keepPriority()
  for await (const line of createInterface({ input: process.stdin })) {
    const { args, stdin, cwd, env, notes } = JSON.parse(line) as Command
    // As a process of its own starts: commands read the environment and the folder, and set variables and the code.
    for (const name of Object.keys(process.env)) delete process.env[name]
    Object.assign(process.env, env)
    process.chdir(cwd)
    process.exitCode = undefined
    const [stdout, stderr] = [new Capture(), new Capture()]
    if (notes) tree.push(notesBranch)
    await run({
      env: process.env,
      cwd,
      args,
      stdin: Readable.from([Buffer.from(stdin)]) as NodeJS.ReadStream,
      stdout: stdout as unknown as NodeJS.WriteStream,
      stderr: stderr as unknown as NodeJS.WriteStream,
      now: () => new Date(),
    })
    if (notes) tree.pop()
    const result = { code: exitCode(), stdout: stdout.text, stderr: stderr.text }
    process.stdout.write(`${JSON.stringify(result)}\n`)
  }
  process.exitCode = 0
}

const exitCode = (): number => Number(process.exitCode ?? 0)

class Capture extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

void host()
