import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'

/** Files that only the build makes: the code of threads and processes, and what the page of the API's documentation loads. */
export type BuiltFile =
  `threads/${'markdown' | 'checkpoint' | 'images' | 'cards' | 'sources'}.js` | 'fonts/coverage.json' | `docs/${string}`

const read = new Map<BuiltFile, Buffer>()

/** Such a file, gzipped. Read once, so that a running server does not need it again. */
export function gzippedFile(name: BuiltFile): Buffer {
  let bytes = read.get(name)
  if (!bytes) read.set(name, (bytes = readFileSync(pathOf(`${name}.gz`))))
  return bytes
}

/** Keeps such a file where it cannot be read: a thread gets it from whoever starts it. */
export const keepBuilt = (name: BuiltFile, bytes: Buffer): void => void read.set(name, bytes)

export const builtText = (name: BuiltFile): string => gunzipSync(gzippedFile(name)).toString()

/** The path of an uncompressed file that another program reads. Undefined if the file is missing. */
export const builtPath = (name: 'fonts/fonts.conf'): string | undefined => placeOf(name)

/** In dist, beside the program or, where that runs from its sources, in the folder above them. */
function pathOf(name: string): string {
  const file = placeOf(name)
  if (file === undefined) throw new Error('The program is not built: npm run build')
  return file
}

const placeOf = (name: string): string | undefined =>
  ['..', '../../dist'].map((place) => path.join(import.meta.dirname, place, name)).find((each) => existsSync(each))
