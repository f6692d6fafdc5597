import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { SHUTDOWN_GRACE } from '../src/cli/lib/server/shutdown.js'
import { branches } from '../src/cli/tree.js'
import { secondsOf } from '../src/core/durations.js'
import { keys, settings, variableOf, type Key } from '../src/core/settings.js'

// What the files for containers say of the program is true. "npm run test:container" builds the image and runs it.

const ROOT = path.join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8')

interface Instruction {
  name: string
  rest: string
}

const instructions: Instruction[] = read('Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => {
    const [name = ''] = line.split(' ')
    return { name, rest: line.slice(name.length + 1) }
  })
const lastStage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'))
const only = (name: string) => lastStage.filter((each) => each.name === name).map(({ rest }) => rest)
const words = (json: string) => JSON.parse(json) as string[]
const environment = Object.fromEntries(
  only('ENV').flatMap((rest) => rest.split(/\s+/).map((each) => each.split('=') as [string, string])),
)
const problemOf = ([variable, value]: [string, string]): string | undefined => {
  const key = keys.find((each) => variable === variableOf(each) || variable === `${variableOf(each)}_FILE`)
  if (key === undefined) return `${variable} is no setting`
  return variable.endsWith('_FILE') || value === '' ? undefined : settings[key].check?.(value)
}
const { bin, dependencies } = JSON.parse(read('package.json')) as {
  bin: Record<string, string>
  dependencies: Record<string, string>
}

describe('the Dockerfile', () => {
  it('copies files that there are, and that .dockerignore does not keep out', () => {
    const copied = instructions
      .filter(({ name, rest }) => name === 'COPY' && !rest.includes('--from='))
      .flatMap(({ rest }) => rest.split(' ').slice(0, -1))
    expect(copied.filter((each) => !existsSync(path.join(ROOT, each)))).toEqual([])
    const sent =
      read('.dockerignore')
        .match(/^!.*$/gm)
        ?.map((line) => line.slice(1)) ?? []
    expect(sent.toSorted()).toEqual([...new Set(copied)].toSorted())
  })

  it('installs no package, and has no compiler, in its last stage', () => {
    expect(only('RUN')).toEqual([`ln -s /opt/feedbackctl/${bin.feedbackctl} /usr/local/bin/feedbackctl`])
    const kept = instructions.find(({ rest }) => rest.includes('mkdir kept'))?.rest ?? ''
    // Without sharp a site takes no images
    const ofSharp = ['sharp', '@img', 'detect-libc', 'semver']
    for (const name of [...Object.keys(dependencies), 'better-sqlite3', ...ofSharp])
      expect(kept).toContain(`node_modules/${name}`)
  })

  it('runs as a user by number, and writes to /data only', () => {
    expect(only('USER')).toEqual(['1000:1000'])
    expect(only('VOLUME')).toEqual(['/data'])
    expect(environment).toMatchObject({ FEEDBACKCTL_DATA_DIR: '/data', HOME: '/data', XDG_CONFIG_HOME: '/data' })
  })

  it('sets settings that there are, and exposes the port of listen', () => {
    const set = Object.entries(environment).filter(([name]) => name.startsWith('FEEDBACKCTL_'))
    expect(set.map(problemOf).filter((problem) => problem !== undefined)).toEqual([])
    expect(environment.FEEDBACKCTL_LISTEN).toBe(`0.0.0.0:${only('EXPOSE')[0]}`)
  })

  it('starts commands that there are', () => {
    const commands = branches.map(({ name }) => name)
    const [program, ...others] = words(only('ENTRYPOINT')[0] ?? '')
    expect([Object.keys(bin), others]).toEqual([[program], []])
    const [probe, command = ''] = words(only('HEALTHCHECK')[0]?.replace(/^.* CMD /, '') ?? '')
    expect(probe).toBe(program)
    expect(commands).toEqual(expect.arrayContaining([command, ...words(only('CMD')[0] ?? '')]))
  })

  it('stops before an engine kills it', () => {
    const engineWaits = 10
    expect(secondsOf(environment.FEEDBACKCTL_SHUTDOWN_TIMEOUT ?? '') + SHUTDOWN_GRACE).toBeLessThan(engineWaits)
  })
})

describe('docs/compose.yaml', () => {
  interface Service {
    command?: string[] | string
    environment?: Record<string, string>
    volumes?: string[]
    profiles?: string[]
    [key: string]: unknown
  }
  const { services, volumes } = parse(read('docs/compose.yaml')) as {
    services: Record<string, Service>
    volumes: Record<string, null>
  }

  it('sets settings that there are', () => {
    const set = Object.entries(services.feedback?.environment ?? {}).map(
      ([name, value]) => [name, value.replace(/^\$\{\w+:-(.*)\}$/, '$1')] as [string, string],
    )
    expect(set.map(problemOf).filter((problem) => problem !== undefined)).toEqual([])
    const names = new Set<Key>(['site.url', 'database.url', 'trust-proxy'])
    expect(set.map(([name]) => name)).toEqual(expect.arrayContaining([...names].map(variableOf)))
  })

  it('names every volume that it uses, and starts PostgreSQL and Caddy with a profile only', () => {
    const used = Object.values(services).flatMap((service) => service.volumes?.map((each) => each.split(':')[0]) ?? [])
    expect(new Set(used)).toEqual(new Set(Object.keys(volumes)))
    const always = Object.keys(services).filter((name) => services[name]?.profiles === undefined)
    expect(always).toEqual(['feedback'])
  })

  it('explains every variable without which the profile does not work', () => {
    const text = read('docs/compose.yaml')
    const explained = [...text.matchAll(/^#\s+([A-Z_]+)=/gm)].map(([, name]) => name)
    for (const name of explained) expect(text).toContain(`\${${name}:-`)
    expect(explained).toContain('DATABASE_URL')
  })

  it('runs with nothing but a volume that can be written', () => {
    expect(services.feedback).toMatchObject({ read_only: true, cap_drop: ['ALL'], volumes: ['feedback:/data'] })
  })
})
