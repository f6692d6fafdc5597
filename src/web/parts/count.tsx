import type { View } from '../lib/page.js'

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
