import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

it.each(engines)('CSS comes from a flag, a file or stdin, and a dark logo from a flag, on %s', async (engine) => {
  const machine = await makeMachine(engine)
  await machine.setup()
  const brand = async () => JSON.parse((await machine.run('settings show --json')).stdout).settings
  const write = (text: string) => writeFileSync(path.join(machine.folder, 'brand.css'), text)
  write('header {\r\n  background: gold;\r\n}\r\n')
  const update = 'settings update --custom-css-file brand.css --logo-dark example.org/dark.png'
  expect((await machine.run(`${update} --dry-run`)).code).toBe(0)
  expect(await brand()).toMatchObject({ customCss: null, logoDark: null })
  expect((await machine.run(update)).code).toBe(0)
  const customCss = 'header {\n  background: gold;\n}'
  expect(await brand()).toMatchObject({ customCss, logoDark: 'example.org/dark.png' })
  expect((await machine.run('settings show')).stdout).toContain(String.raw`header {\n  background: gold;\n}`)
  write('a { background: url(/x.png) }')
  const { code, stderr } = await machine.run('settings update --custom-css-file brand.css')
  expect([code, stderr]).toEqual([2, expect.stringMatching(/^✗ --custom-css must be CSS that loads nothing: .*; "url\(\/x\.png\) }" is not\.\n/)]) // prettier-ignore
  expect((await brand()).customCss).toBe(customCss)
  expect((await machine.run('settings update --custom-css-file -', { stdin: 'a{}' })).code).toBe(0)
  expect((await brand()).customCss).toBe('a{}')
  expect((await machine.run("settings update --custom-css '' --logo-dark ''")).code).toBe(0)
  expect(await brand()).toMatchObject({ customCss: null, logoDark: null })
})
