import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Terminal } from './terminal.js'

/**
 * Opens an address in the browser of this machine: that of `BROWSER`, or of the desktop. Where there is neither, as over
 * ssh, it does nothing. No shell reads the address. Ours, because libraries for it bring a script beside their code,
 * which a bundle leaves behind.
 */
export async function openInBrowser({ env }: Terminal, url: string): Promise<void> {
  const opener = openerOf(env)
  if (!opener) return
  const [command = '', ...args] = opener
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  await Promise.race([once(child, 'spawn'), once(child, 'error')]).catch(() => undefined)
  child.on('error', () => undefined) // the address is printed all the same
  child.unref()
}

function openerOf(env: Terminal['env']): string[] | undefined {
  if (env.BROWSER) return [env.BROWSER]
  if (process.platform === 'darwin') return ['open']
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : undefined
}
