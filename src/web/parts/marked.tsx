import type { Mark } from '../../core/search/marks.js'

/** Text with its marks, which are in order and apart. */
export function MarkedAt({ text, marks }: { text: string; marks: readonly Mark[] }) {
  const parts = marks.map(({ from, to }, index) => [
    text.slice(marks[index - 1]?.to ?? 0, from),
    <mark>{text.slice(from, to)}</mark>,
  ])
  return (
    <>
      {parts}
      {text.slice(marks.at(-1)?.to ?? 0)}
    </>
  )
}

/** Text with the words of a search marked: each where a word begins with it, in any letter case. */
export function Marked({ text, words }: { text: string; words: readonly string[] }) {
  if (words.length === 0) return <>{text}</>
  const any = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|')
  const found = new RegExp(String.raw`(?<![\p{L}\p{N}])(${any})`, 'giu')
  return <>{text.split(found).map((part, index) => (index % 2 === 1 ? <mark>{part}</mark> : part))}</>
}
