import Bowser from 'bowser'
import type { View } from '../kit/page.js'

/** The browser and the system of a sign-in, as far as its header tells. */
export function deviceOf({ t }: View, userAgent: string): string {
  if (userAgent === '') return t('settings.unknownDevice')
  const { browser, os } = Bowser.parse(userAgent)
  if (!browser.name) return userAgent
  return os.name ? t('settings.device', { browser: browser.name, system: os.name }) : browser.name
}
