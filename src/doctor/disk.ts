import { existsSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { sizeText } from '../core/text.js'
import { seen, type Check, type Finding } from './check.js'

/** Bytes below which a disk is as good as full: a WAL may grow to this before it is copied into the database. */
const FULL = 64_000_000
/** Bytes that should be free, besides the room for a copy of the database. */
const SCARCE = 500_000_000

/** Numbers of network file systems, on which SQLite loses data when two machines use it: Linux gives no names. */
const NETWORK: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB',
  0x517b: 'SMB',
}

export const disk: Check = {
  look({ config, file, folder }) {
    const backups = path.resolve(config.get('backup.dir') ?? path.join(folder, 'backups'))
    const needed = file === undefined ? 0 : (statSync(file, { throwIfNoEntry: false })?.size ?? 0)
    const places = [
      { place: existing(folder), copy: needed },
      ...(file === undefined ? [] : [{ place: existing(path.dirname(file)), copy: needed }]),
      { place: existing(backups), copy: needed },
      { place: existing(tmpdir()), copy: 0 },
    ]
    const devices = new Map(places.map((each) => [statSync(each.place).dev, each] as const).toReversed())
    const findings = [...devices.values()].flatMap(({ place, copy }) => freeOf(place, copy))
    if (file !== undefined) findings.push(...networkOf(existing(path.dirname(file))))
    const free = statfsSync(existing(folder))
    return seen(findings, `${sizeText(free.bavail * free.bsize)} are free for ${folder}`)
  },
}

/** The folder, or the nearest above it that exists. */
const existing = (folder: string): string => (existsSync(folder) ? folder : existing(path.dirname(folder)))

function freeOf(place: string, copy: number): Finding[] {
  const { bavail, bsize, blocks, ffree, files } = statfsSync(place)
  if (blocks === 0) return [] // a file system without a size
  const [free, whole] = [bavail * bsize, blocks * bsize]
  const fix = 'Free some space: old backups are the first to go. See "Disk full" in docs/operating.md.'
  // Some file systems have no fixed number of files
  if (files > 0 && ffree < 100)
    return [{ severity: 'error', evidence: `Only ${ffree} more files fit on the disk of ${place}.`, fix }]
  if (free < Math.min(FULL, whole / 2))
    return [{ severity: 'error', evidence: `The disk of ${place} is full: ${sizeText(free)} of ${sizeText(whole)} are free.`, fix }] // prettier-ignore
  const wanted = copy + Math.min(SCARCE, whole / 10)
  if (free >= wanted) return []
  return [
    {
      severity: 'warning',
      evidence: `The disk of ${place} has ${sizeText(free)} free. A backup or an update may need ${sizeText(wanted)}.`,
      fix,
    },
  ]
}

function networkOf(place: string): Finding[] {
  const name = process.platform === 'linux' ? NETWORK[statfsSync(place).type] : undefined
  if (name === undefined) return []
  return [
    {
      severity: 'error',
      evidence: `${place} is on a network file system (${name}), where SQLite can lose data.`,
      fix: 'Move the data folder to a disk of this machine, or use PostgreSQL.',
    },
  ]
}
