import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type Packaged from '@sparticuz/chromium'
import { chromium as launcher, type Browser } from 'playwright-core'

/**
 * Features that Playwright turns off or on, which these replace, and some that take half of the time of a page:
 * RenderDocument makes a new frame for each page, SpareRendererForSitePerProcess a new process for the next page, and
 * without NetworkServiceInProcess2 all bytes go through another process.
 */
const OFF = 'AvoidUnnecessaryBeforeUnloadCheckSync,HttpsFirstBalancedModeAutoEnable,HttpsUpgrades,MediaRouter,OptimizationHints,PaintHolding,RenderDocument,SpareRendererForSitePerProcess,ThirdPartyStoragePartitioning' // prettier-ignore
const ON = 'CDPScreenshotNewSurface,NetworkServiceInProcess2'

const ARGUMENTS = [
  // Tests may run as root. The other arguments of the package are for Lambda, and end browsers here.
  '--no-sandbox',
  '--disable-gpu',
  // A page that names another host fails at once.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
  `--disable-features=${OFF}`,
  `--enable-features=${ON}`,
]

/** The browser of FEEDBACKCTL_TEST_CHROMIUM, or the one that npm installs. */
export async function launch(): Promise<Browser> {
  const { FEEDBACKCTL_TEST_CHROMIUM: own } = process.env
  const executablePath = own ?? (await unpacked())
  const { FONTCONFIG_PATH: _, ...env } = process.env // the package names a folder with one font
  return launcher.launch({ executablePath, args: ARGUMENTS, env })
}

/** Unpacks the browser of the package into the temporary folder of this run. One process does it; the others wait. */
async function unpacked(): Promise<string> {
  process.env.AWS_EXECUTION_ENV = 'AWS_Lambda_nodejs20.x' // then the package unpacks its libraries too
  const { default: packaged } = await import('@sparticuz/chromium')
  const folder = path.join(tmpdir(), 'chromium.unpacking')
  mkdirSync(folder, { recursive: true })
  const [lock, done] = [path.join(folder, 'lock'), path.join(folder, 'done')]
  const watcher = watch(folder)
  try {
    for (;;) {
      const changed = once(watcher, 'change') // from before the look on, or a change between them is missed
      if (existsSync(done)) return await packaged.executablePath()
      if (takes(lock)) return await unpack(packaged, { lock, done })
      await changed
    }
  } finally {
    watcher.close()
  }
}

function takes(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx'))
    return true
  } catch {
    return false
  }
}

/** Where it fails, the next process tries. */
async function unpack(packaged: typeof Packaged, { lock, done }: Record<'lock' | 'done', string>): Promise<string> {
  try {
    const executablePath = await packaged.executablePath()
    writeFileSync(done, '')
    return executablePath
  } catch (error) {
    rmSync(path.join(tmpdir(), 'chromium'), { force: true }) // the package would take what is there of it
    rmSync(lock)
    throw error
  }
}
