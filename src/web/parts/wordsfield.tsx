/** The words that a list is filtered by. */
export const WordsField = ({ value, label }: { value: string | undefined; label: string }) => (
  <input type="search" name="q" value={value} maxLength={200} aria-label={label} placeholder={label} />
)
