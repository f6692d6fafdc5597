/** Text with the words of a search marked: each where a word begins with it, in any letter case. */
export function Marked({ text, words }: { text: string; words: readonly string[] }) {
  if (words.length === 0) return <>{text}</>
  const any = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|')
  const found = new RegExp(String.raw`(?<![\p{L}\p{N}])(${any})`, 'giu')
  return <>{text.split(found).map((part, index) => (index % 2 === 1 ? <mark>{part}</mark> : part))}</>
}
