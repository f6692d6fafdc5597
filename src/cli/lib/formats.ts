// Imported dynamically by output.ts. A separate file, because the bundler loses the named exports of a dynamically
// imported CommonJS package.
export { stringify as toCsv } from 'csv-stringify/sync'
export { stringify as toYaml } from 'yaml'
