/** A name inside a sentence: it keeps its own direction, and turns nothing around it. */
export const isolated = (name = ''): string => `\u2068${name}\u2069`
