// Imported dynamically, so that commands load it only for CSV. A separate file, because the bundler loses the named
// exports of a dynamically imported CommonJS package.
export { stringify } from 'csv-stringify/sync'
