// In a file of their own so that both load only when asked for: the bundler gives a dynamic import of a CommonJS package no names.
export { stringify as toCsv } from 'csv-stringify/sync'
export { stringify as toYaml } from 'yaml'
