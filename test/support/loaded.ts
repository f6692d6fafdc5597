import type { BrowserContext } from 'playwright-core'

// The text of a page is there before its scripts run. A person takes a moment to begin; a test does not. So everything
// that a test reads, clicks or types waits until the page has loaded, and nobody who writes a test can forget to.

/** Methods of a frame, to which those of pages and most of locators lead. */
const OF_FRAMES = [
  'check',
  'click',
  'dispatchEvent',
  'dragAndDrop',
  'fill',
  'focus',
  'hover',
  'press',
  'selectOption',
  'setInputFiles',
  'tap',
  'type',
  'uncheck',
  '$$eval',
  'content',
  'evaluate',
  'getAttribute',
  'innerHTML',
  'innerText',
  'inputValue',
  'textContent',
  'isChecked',
  'isDisabled',
  'isEditable',
  'isEnabled',
  'isHidden',
  'isVisible',
]
const OF_LOCATORS = ['ariaSnapshot', 'boundingBox', 'count', 'evaluate']
const OF_KEYBOARDS = ['down', 'insertText', 'press', 'type']

interface Loads {
  waitForLoadState(): Promise<void>
}

type Method = (this: unknown, ...rest: unknown[]) => Promise<unknown>

const changed = new WeakSet<object>()

/** For all pages of a context, from now on. */
export function waitUntilLoaded(context: BrowserContext): void {
  context.on('page', (page) => {
    const [frame, locator] = [page.mainFrame(), page.locator('body')]
    change(Object.getPrototypeOf(frame), OF_FRAMES, (self) => self as Loads)
    change(Object.getPrototypeOf(locator), OF_LOCATORS, (self) => (self as typeof locator).page())
    change(page.keyboard, OF_KEYBOARDS, () => page)
  })
}

function change(target: object, names: readonly string[], pageOf: (self: unknown) => Loads): void {
  if (changed.has(target)) return
  changed.add(target)
  for (const name of names) {
    const method: unknown = Reflect.get(target, name)
    if (typeof method !== 'function') throw new Error(`Playwright has no method ${name} any more.`)
    const late: Method = async function late(...rest) {
      await pageOf(this).waitForLoadState()
      return (method as Method).apply(this, rest)
    }
    Reflect.set(target, name, late)
  }
}
