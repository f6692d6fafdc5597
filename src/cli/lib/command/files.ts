import { AppError } from '../../../core/errors.js'
import { givenValues } from '../flags/given.js'
import { formatOf } from '../output/output.js'
import { tell } from '../terminal/terminal.js'
import { connectionOf, type Invocation } from './invocation.js'

/** Does what a file says. Refuses arguments, and flags that belong to them. */
export async function runFile<Out, Row>({ cli, leaf, op, view, shape, flags }: Invocation<Out, Row>): Promise<void> {
  const { file } = view
  if (!file) return
  if (flags.asCurl) throw new AppError('USAGE', `--${file.flag} needs several requests. Leave it out with --as-curl.`)
  formatOf(cli.terminal, flags) // refuses contradictory flags before anything is done
  const given = givenValues({ leaf, ...shape })
  const flag = shape.options.find(({ long = '', field }) => shape.required.includes(long) && given[field] !== undefined)
  const other = leaf.args.length > 0 ? leaf.args[0] : flag?.long
  if (other !== undefined) throw new AppError('USAGE', `--${file.flag} and ${other} contradict each other. Give only one.`) // prettier-ignore
  const connection = connectionOf({ op, view, flags })
  const connect = ({ trial = false } = {}) => cli.connect({ ...connection, dryRun: trial || connection.dryRun })
  await file.run({ cli, file: String(leaf.getOptionValue(file.flag)), flags, given, connect })
}

/** Writes the file that a flag names, and says so. Returns where to; undefined where nothing was written. */
export async function saveFile<Out, Row>(
  { cli, leaf, view, flags }: Invocation<Out, Row>,
  answer: Out,
): Promise<'file' | 'stdout' | undefined> {
  const { saves } = view
  const file: unknown = saves && leaf.getOptionValue(saves.flag)
  if (!saves || typeof file !== 'string') return undefined
  const text = saves.text(answer, file)
  if (text === undefined) return undefined
  const { print, save } = await import('../output/save.js')
  const body = { type: 'text/plain', pieces: piecesOf(text) }
  if (file === '-') {
    await print(cli.terminal, body)
    return 'stdout'
  }
  await save(cli.terminal, file, body)
  if (!flags.quiet) tell(cli.terminal, saves.said(answer, file))
  return 'file'
}

async function* piecesOf(text: string) {
  yield { text, rows: 0 }
}
