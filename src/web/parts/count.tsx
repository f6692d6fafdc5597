import type { Key } from '../../core/catalogue.js'
import type { View } from '../kit/page.js'

/** A count where there is little room. Screen readers and tooltips have the whole number. */
export function Count({ view: { words }, of: value }: { view: View; of: number }) {
  const [short, whole] = [words.compact(value), words.number(value)]
  if (short === whole) return <>{whole}</>
  return (
    <>
      <span aria-hidden="true" title={whole}>
        {short}
      </span>
      <span class="hidden">{whole}</span>
    </>
  )
}

/** Label of a count. The visible number comes first, so that voice control can use it. */
export function labelWith({ t, words }: View, key: Extract<Key, `${string}.count`>, count: number): string {
  const whole = t(key, { count })
  const short = words.compact(count)
  return short === words.number(count) ? whole : `${short} (${whole})`
}
