import { describe, expect, it } from 'vitest'
import { wordsOf } from '../../src/core/catalogue.js'
import { LANGUAGES } from '../../src/core/language.js'
import { letters } from '../../src/service/lib/mailings.js'
import { newsMails } from '../../src/service/lib/samplenews.js'
import { makeMachine } from '../support/cli.js'
import { engines } from '../support/site.js'

const SITE = { FEEDBACKCTL_SITE_URL: 'https://feedback.example.org' }

describe.each(engines)('mail preview on %s', (engine) => {
  it('shows every template in every language, with the title of the site, and sends and stores nothing', async () => {
    const machine = await makeMachine(engine)
    await machine.setup()
    const { run } = machine
    await run('settings update --title Moonbase')
    const before = (await run('mail queue list --sent --json')).stdout
    const listed = JSON.parse((await run('mail preview --json')).stdout) as { templates: { template: string }[] }
    expect(listed.templates.map(({ template }) => template)).toEqual([...letters, ...newsMails].map(({ name }) => name))
    for (const { template } of listed.templates)
      for (const language of LANGUAGES) {
        const { stdout } = await run(`mail preview ${template} --language ${language} --json`, { env: SITE })
        const { text, html, subject } = JSON.parse(stdout) as Record<'text' | 'html' | 'subject', string>
        expect(subject).toContain('Moonbase')
        expect(text).toContain(wordsOf(language).t('mail.hello', { name: 'Ada Lovelace' }))
        expect(text).toContain('https://feedback.example.org/')
        expect(html).toContain(`<html lang="${language}"`)
        expect(html.includes('dir="rtl"')).toBe(language === 'ar')
        if (language !== 'ar') continue
        expect((await run(`mail preview ${template} --language ${language} --html`, { env: SITE })).stdout).toBe(html)
        expect((await run(`mail preview ${template} --language ${language} --text`, { env: SITE })).stdout).toBe(text)
      }
    expect((await run('mail queue list --sent --json')).stdout).toBe(before)
  })
})

it.each([
  [1, 1, '1 post'],
  [5, 5, '5 posts'],
  [80, 30, '80 posts'],
])('mail preview shows a digest about %i posts', async (posts, shown, said) => {
  const { run } = await makeMachine('sqlite')
  const { stdout } = await run(`mail preview digest --posts ${posts} --json`)
  const { subject, text, html } = JSON.parse(stdout) as Record<'subject' | 'text' | 'html', string>
  expect(subject).toBe(`[Feedback] Your digest: ${said}`)
  expect(text.match(/\/posts\/example-\d+\n/g)).toHaveLength(shown)
  expect(html.match(/<h2/g)).toHaveLength(shown)
  expect(text.includes(`There is news about ${posts - shown} more posts.`)).toBe(shown < posts)
})

it('mail preview is in the language of the site unless another is asked for', async () => {
  const { run } = await makeMachine('sqlite')
  const env = { FEEDBACKCTL_SITE_LANGUAGE: 'de' }
  expect((await run('mail preview reset --text', { env })).stdout).toContain('Hallo Ada Lovelace,')
  expect((await run('mail preview reset --text --language en', { env })).stdout).toContain('Hello Ada Lovelace,')
  const wrong = await run('mail preview reset', { env: { FEEDBACKCTL_SITE_LANGUAGE: 'xx' } })
  expect(wrong).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('must be one of en, de, es, fr, pt, ja, ar'),
  })
})

it('mail preview is to a user, in their language, where one is named', async () => {
  const machine = await makeMachine('sqlite')
  await machine.setup()
  await machine.run('users create eve@example.org --name Eve --language de --no-invite')
  const preview = async (flags: string) => machine.run(`mail preview status --text ${flags}`)
  expect((await preview('--as eve@example.org')).stdout).toContain('Hallo Eve,')
  expect((await preview('--as eve@example.org --language en')).stdout).toContain('Hello Eve,')
  expect(await preview('--as nobody@example.org')).toMatchObject({ code: 3, stderr: expect.stringContaining('USER_NOT_FOUND') }) // prettier-ignore
  expect((await machine.run('events list --json')).stdout).not.toContain('mail.')
})

it('mail preview needs no site, and refuses what it does not know', async () => {
  const { run } = await makeMachine('sqlite')
  expect((await run('mail preview reset -o table')).stdout).toMatch(/SUBJECT +Feedback – /)
  expect((await run('mail preview -o table')).stdout).toMatch(/^TEMPLATE +SUBJECT/)
  expect((await run('mail preview report --text')).stdout).toContain('because you decide about what is reported')
  expect((await run('mail preview mention --text')).stdout).not.toContain('because you decide')
  for (const [args, message] of [
    ['rest', 'Did you mean "reset"?'],
    ['reset --language xx', '--language must be one of en, de, es, fr, pt, ja, ar.'],
    ['reset --html --text', 'Give a template'],
    ['reset --html --json', 'no output format'],
    ['--html', 'Give a template'],
    ['reset --posts 3', 'Only a digest takes --posts.'],
    ['digest --posts 0', '--posts must be a number from 1 to 1000.'],
  ])
    expect([args, await run(`mail preview ${args}`)]).toEqual([args, { code: 2, stdout: '', stderr: expect.stringContaining(message ?? '') }]) // prettier-ignore
})
