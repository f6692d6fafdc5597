/** The names of the legal pages, in the order of the footer. */
export const LEGAL_PAGES = ['imprint', 'privacy', 'terms'] as const
export type LegalPage = (typeof LEGAL_PAGES)[number]

export const isLegalPage = (name: string): name is LegalPage => (LEGAL_PAGES as readonly string[]).includes(name)
