/** The values of a list that is written as a text: with commas in between, unless its field says otherwise. */
export const valuesIn = (text: string, divided?: string): string[] => {
  const values = text.split(divided === undefined ? ',' : new RegExp(divided)).map((value) => value.trim())
  return divided === undefined ? values : values.filter((value) => value !== '')
}
