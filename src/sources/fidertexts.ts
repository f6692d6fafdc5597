interface Status {
  name: string
  kind: 'active' | 'done' | 'declined' | 'planned'
}

/** The numbers of Fider for what became of a post. 0 is open, 5 a duplicate, 6 deleted. */
export const STATUSES: Readonly<Record<number, Status>> = {
  1: { name: 'Started', kind: 'active' },
  2: { name: 'Completed', kind: 'done' },
  3: { name: 'Declined', kind: 'declined' },
  4: { name: 'Planned', kind: 'planned' },
}

/** The same by the word of its API. */
export function statusNamed(word: string): (Status & { number: number }) | undefined {
  const [number, status] = Object.entries(STATUSES).find(([, { name }]) => name.toLowerCase() === word) ?? []
  return status && { ...status, number: Number(number) }
}

/** Mentions are objects in its texts, and images are names of files that only its server has. */
export const plainText = (text: string): string =>
  text
    .replaceAll(/@\{[^{}]{0,500}?"name"\s*:\s*"([^"]{1,100})"[^{}]{0,500}\}/g, '@$1')
    .replaceAll(/!\[[^\]]{0,200}\]\(fider-image:[^)]{0,300}\)/g, '')
