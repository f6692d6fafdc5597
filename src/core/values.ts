/** Splits a text into the values of a list: at commas, or at matches of the regular expression `divided`. */
export const valuesIn = (text: string, divided?: string): string[] => {
  const values = text.split(divided === undefined ? ',' : new RegExp(divided)).map((value) => value.trim())
  return divided === undefined ? values : values.filter((value) => value !== '')
}
