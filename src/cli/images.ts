import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import { AppError } from '../core/errors.js'
import { whyNotRead } from '../core/filecauses.js'
import { IMAGE_TYPES, imageTypeOf, MAX_IMAGE_BYTES } from '../core/images/types.js'
import { counted, sizeText } from '../core/text.js'
import * as images from '../service/images.js'
import type { Image } from '../service/images.js'
import { command } from './lib/command/command.js'
import type { Cli } from './lib/connection/session.js'
import { explain } from './lib/flags/helptext.js'
import { isMachineReadable, print, type OutputFlags } from './lib/output/output.js'
import { withFields } from './lib/output/rowfields.js'
import type { Column } from './lib/output/table.js'
import { wouldHave, type Done } from './lib/prompts/dryrun.js'
import { tell } from './lib/terminal/terminal.js'

const columns: Column<Image>[] = [
  { head: 'URL', field: 'url', text: ({ url }) => url, drop: 0, whole: true },
  { head: 'SIZE', text: ({ width, height }) => `${width} × ${height}`, drop: 2 },
  { head: 'BYTES', field: 'bytes', text: ({ bytes }) => String(bytes), shown: ({ bytes }) => sizeText(bytes), right: true, drop: 3 }, // prettier-ignore
  { head: 'ID', field: 'imageId', text: ({ imageId }) => imageId, drop: 1, short: true },
]
const FIELDS = ['imageId', 'url', 'mediaType', 'width', 'height', 'bytes', 'createdAt']

export function register(group: Command, cli: Cli): void {
  const upload = withFields(group.command('upload'), FIELDS)
  explain(upload, {
    examples: [
      'images upload screenshot.png',
      'settings update --logo "$(feedbackctl images upload logo.png -q)"',
      'posts create "Dark mode" --body "![The settings]($(feedbackctl images upload screenshot.png -q))"',
    ],
    notes: [
      'It prints the address of the image, for Markdown: ![what it shows](ADDRESS). The image is stored upright and as WebP, without the place and the camera of a photo. One that no post or comment shows within a day, and that is not the logo, is deleted.',
    ],
  })
    .summary('Upload images for posts and comments')
    .description('Upload images for posts and comments.')
    .argument('<file...>', 'PNG, JPEG, WebP, GIF or AVIF')
    .option('--dry-run', 'check the request and show the result, but change nothing')
    .action(async (files: string[]) => {
      const flags = upload.optsWithGlobals<OutputFlags & { dryRun?: boolean }>()
      const read = files.map((file) => readImage(cli, file)) // before the first is uploaded
      const call = await cli.connect({ dryRun: flags.dryRun === true })
      const rows: Image[] = []
      for (const body of read) rows.push((await call(images.create, {}, body())).image)
      const [image] = rows
      await print(cli.terminal, flags, {
        body: rows.length === 1 ? { image } : { images: rows },
        rows,
        columns,
        id: ({ url }) => url,
        single: rows.length === 1,
      })
      const done: Done = `Added ${counted(rows.length, 'image')}.`
      if (!isMachineReadable(flags)) tell(cli.terminal, flags.dryRun ? wouldHave(done) : done)
    })
  command(
    group,
    images.remove,
    {
      usage: 'delete <image_id:image...>',
      examples: ['images delete 01a217e2 --yes'],
      output: { columns, id: ({ imageId }) => imageId, rows: () => [] },
      confirm: async (_call, { image_id: id }) => `Delete image ${String(id)}? Texts that show it are left without.`,
      done: (_, { image_id: id }) => `Deleted image ${String(id)}.`,
    },
    cli,
  )
}

/** Reads an image from a file. Returns what makes a body of it. */
function readImage({ terminal }: Pick<Cli, 'terminal'>, file: string) {
  const bytes = bytesOf(path.resolve(terminal.cwd, file), file)
  const type = imageTypeOf(bytes) ?? IMAGE_TYPES[0] // the server says what it takes
  return () => ({
    type,
    bytes: (async function* () {
      yield bytes
      await Promise.resolve()
    })(),
  })
}

function bytesOf(target: string, file: string): Buffer {
  try {
    const { size } = statSync(target)
    if (size > MAX_IMAGE_BYTES) throw new AppError('IMAGE_REFUSED', `${file} is larger than ${sizeText(MAX_IMAGE_BYTES)}. Make it smaller.`) // prettier-ignore
    return readFileSync(target)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('USAGE', `Cannot read ${file}: ${whyNotRead(error)}.`)
  }
}
