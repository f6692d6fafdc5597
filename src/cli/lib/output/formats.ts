// Imported dynamically by output.ts. A separate file, because the bundler loses the named exports of a dynamically
// imported CommonJS package.
import { Document, Scalar, visit } from 'yaml'
import { escaped } from '../../../core/text.js'

export { stringify as toCsv } from 'csv-stringify/sync'

/** YAML. The same data without `raw`, in which nothing can control a terminal: such text is quoted and escaped. */
export function toYaml(value: unknown, { raw = false }: { raw?: boolean }): string {
  const document = new Document(value, { aliasDuplicateObjects: false })
  if (raw) return document.toString()
  visit(document, {
    Scalar(_key, node) {
      if (
        typeof node.value === 'string' &&
        escaped(node.value.replaceAll('\n', '')) !== node.value.replaceAll('\n', '')
      )
        node.type = Scalar.QUOTE_DOUBLE
    },
  })
  return document.toString().split('\n').map(escaped).join('\n')
}
