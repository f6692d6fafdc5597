import { createInterface } from 'node:readline'
import { Readable, Writable } from 'node:stream'
import { run } from '../../src/cli/run.js'

/** Runs a command for each line of stdin, and writes its result as a line to stdout. */
async function host(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { args, stdin, env } = JSON.parse(line) as { args: string[]; stdin: string; env: Record<string, string> }
    const [stdout, stderr] = [new Capture(), new Capture()]
    await run({
      env: { ...process.env, ...env },
      cwd: process.cwd(),
      args,
      stdin: Readable.from([Buffer.from(stdin)]) as NodeJS.ReadStream,
      stdout: stdout as unknown as NodeJS.WriteStream,
      stderr: stderr as unknown as NodeJS.WriteStream,
      now: () => new Date(),
    })
    const result = { code: Number(process.exitCode ?? 0), stdout: stdout.text, stderr: stderr.text }
    process.exitCode = 0
    process.stdout.write(`${JSON.stringify(result)}\n`)
  }
}

class Capture extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

void host()
