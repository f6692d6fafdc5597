import { seededRandom } from '../../../src/core/random.js'
import type { Bench, Case } from '../cases.js'
import { alternately, medians } from '../measure.js'
import { publicBoards, SITES_BY_BOARDS, type Plan, type SiteName } from '../plan.js'
import { ended, peakOf, start } from '../processes.js'
import { get, post, slugsOf, type Request } from '../requests.js'
import { PROGRAM, serve } from '../servers.js'
import type { Site } from '../sites.js'

export const memory = (plan: Plan): Case[] => [
  ...SITES_BY_BOARDS.map((site) =>
    ofServer(`memory under load, ${publicBoards(plan.sites[site]).toLocaleString('en')} boards`, site),
  ),
  ofCommand('memory of boards list --all'),
]

/** Peak memory of a server after all sorts of reads. */
const ofServer = (name: string, siteName: SiteName): Case => ({
  name,
  long: siteName !== 'large',
  async run(bench) {
    const site = await bench.site(siteName)
    const { ours } = await alternately(bench.plan, {
      ours: { servers: [await serve(`sqlite:${site.file}`)], requests: everything(site, bench) },
    })
    return [
      {
        name,
        ours: medians(ours),
        result: { value: Math.max(...ours.map((sample) => sample.memory)), unit: 'MB', goal: { below: 100 } },
      },
    ]
  },
})

function everything(site: Site, { tokens }: Bench): Request[] {
  const next = seededRandom(17)
  const pages = publicBoards(site.size) / 10
  return slugsOf(site).flatMap(({ slug, person }) => {
    const page = Math.ceil(next() * pages)
    const token = tokens[person]
    return [
      get('/boards'),
      get(`/boards?page=${page}`),
      ...[undefined, token].flatMap((who) => [
        post('/posts/get', {}, who),
        post('/posts/get', { sort: 'votes', page }, who),
        post('/posts/slug', { id: slug }, who),
      ]),
    ]
  })
}

/**
 * How often its memory is looked at, in milliseconds; the kernel keeps the peak, so only what came in the last moment
 * is missed.
 */
const LOOK = 2

const ofCommand = (name: string): Case => ({
  name,
  async run(bench) {
    const { file } = await bench.site('large')
    const command = start(process.execPath, [PROGRAM, 'boards', 'list', '--all', '--database-url', `sqlite:${file}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let lines = 0
    command.stdout?.on('data', (chunk: Buffer) => (lines += chunk.toString().split('\n').length - 1))
    let peak = 0
    const looking = setInterval(() => (peak = Math.max(peak, peakOf(command.pid ?? 0))), LOOK)
    const code = await ended(command)
    clearInterval(looking)
    if (code !== 0) throw new Error(`boards list --all ended with ${code}.`)
    return [
      { name, result: { value: peak, unit: 'MB', goal: { below: 120 } }, note: `${lines.toLocaleString('en')} lines` },
    ]
  },
})
