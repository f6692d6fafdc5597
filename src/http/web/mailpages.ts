import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import escape from 'validator/lib/escape.js'
import { AppError } from '../../core/errors.js'
import { API_ROOT } from '../../core/wire.js'
import { visitor } from '../../service/lib/access.js'
import { execute } from '../../service/lib/operation.js'
import { site as siteSettings } from '../../service/settings.js'
import type { Surface } from '../surface.js'

interface Page {
  url: string
  title: string
  main: string
  script: string
}

/**
 * The pages that links in mails open, for sites without another web client. Loading a page uses no token, because mail
 * scanners follow links too.
 */
export const mailPages: Surface = (server, { site }) => {
  for (const page of [VERIFY, RESET]) {
    server.get(page.url, async (_request, reply) => {
      const ctx = {
        ...site,
        actor: visitor(new AppError('INVALID_AUTH_HEADER', 'Pages are shown to visitors.')),
        origin: 'http',
        dryRun: false,
      }
      const { settings } = await execute(siteSettings, ctx, {})
      return render(reply, page, settings.title)
    })
  }
}

function render(reply: FastifyReply, page: Page, siteTitle: string): string {
  const script = SCRIPT + page.script
  reply.type('text/html; charset=utf-8').headers({
    'content-security-policy': `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(STYLE)}'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex',
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} – ${escape(siteTitle)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="site">${escape(siteTitle)}</p>
<h1>${page.title}</h1>
${page.main}
<p id="answer" role="status" aria-live="polite" tabindex="-1"></p>
<noscript><p class="bad">This page needs JavaScript. Enable it for this site, then open the link again.</p></noscript>
</main>
<script>${script}</script>
</body>
</html>
`
}

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`

/** Shared by both pages: reads the token from the URL, finds the API relative to the page, and shows results. */
const SCRIPT = `
const token = new URLSearchParams(location.search).get('token')
const root = location.pathname.replace(/\\/+(email-verify|password-reset\\/+confirm)\\/*$/i, '') + '${API_ROOT}'
const form = document.querySelector('form')
const button = form.querySelector('button')
const answer = document.getElementById('answer')
const say = (text, kind) => {
  answer.className = kind
  answer.textContent = text
  if (kind) answer.focus()
}
const finish = (text, kind) => {
  form.hidden = true
  say(text, kind)
}
const LOST = 'The server cannot be reached. Check your connection and try again.'
const post = async (path, fields) => {
  try {
    const response = await fetch(root + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ token, ...fields }) })
    const body = await response.json()
    return { ok: response.ok, code: body.code, text: body.message || 'This did not work. Try again in a moment.' }
  } catch {
    return { ok: false, text: LOST }
  }
}
const isFinal = (code) => ['MISSING_TOKEN', 'INVALID_TOKEN', 'EMAIL_VERIFIED', 'EMAIL_DOMAIN_BLACKLISTED', 'USER_NOT_FOUND'].includes(code)
const submitting = (work) => form.addEventListener('submit', async (event) => {
  event.preventDefault()
  if (button.disabled) return
  button.disabled = true
  say('One moment …', '')
  await work()
  button.disabled = false
})
if (token) form.hidden = false
else finish('This link is not complete. Open it from the mail again, or copy all of it.', 'bad')
`

const VERIFY: Page = {
  url: '/email-verify',
  title: 'Confirm your e-mail address',
  main: `<form method="post" hidden>
<p>Press the button to confirm that this address is yours.</p>
<button type="submit">Confirm the address</button>
</form>`,
  script: `
submitting(async () => {
  const { ok, code, text } = await post('/auth/email/validate', {})
  if (ok) {
    history.replaceState(null, '', location.pathname)
    finish('Your address is confirmed. You can close this page.', 'good')
  } else if (isFinal(code)) finish(text, code === 'EMAIL_VERIFIED' ? 'good' : 'bad')
  else say(text, 'bad')
})
`,
}

const RESET: Page = {
  url: '/password-reset/confirm',
  title: 'Choose a password',
  main: `<form method="post" novalidate hidden>
<label for="password">New password</label>
<input id="password" type="password" autocomplete="new-password" required aria-describedby="rule answer">
<p id="rule" class="hint">8 to 256 characters. A few words in a row are easy to remember.</p>
<label for="again">Repeat the password</label>
<input id="again" type="password" autocomplete="new-password" required aria-describedby="answer">
<button type="submit">Set the password</button>
</form>`,
  script: `
const password = document.getElementById('password')
const again = document.getElementById('again')
const wrong = (input, text) => {
  input.setAttribute('aria-invalid', 'true')
  say(text, 'bad')
  input.focus()
}
submitting(async () => {
  for (const input of [password, again]) input.removeAttribute('aria-invalid')
  const length = [...password.value].length
  if (length === 0) return wrong(password, 'Enter the new password in both fields.')
  if (length < 8 || length > 256) return wrong(password, 'The password must be 8 to 256 characters long; this one has ' + length + '.')
  if (password.value !== again.value) return wrong(again, 'The two passwords do not match.')
  const { ok, code, text } = await post('/auth/password/set', { password: password.value })
  if (ok) {
    history.replaceState(null, '', location.pathname)
    form.reset()
    finish('Your password is set. You can sign in with it now, and close this page.', 'good')
  } else if (isFinal(code)) finish(text, 'bad')
  else say(text, 'bad')
})
if (token) post('/auth/password/validateToken', {}).then(({ ok, code, text }) => {
  if (!ok && isFinal(code)) finish(text, 'bad')
})
`,
}

const STYLE = `
:root{color-scheme:light dark;--ink:#1f2933;--soft:#52606d;--paper:#f4f6f8;--card:#fff;--line:#8896a5;--accent:#1f5fd6;--on:#fff;--good:#12683a;--bad:#a61b1b}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaef;--soft:#aab4c0;--paper:#12161b;--card:#1c222a;--line:#6b7785;--accent:#8ab4ff;--on:#0d1a30;--good:#7ddba3;--bad:#ff9d96}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:16px;background:var(--paper);color:var(--ink);font:17px/1.5 system-ui,sans-serif}
main{width:100%;max-width:440px;padding:28px 24px;background:var(--card);border-radius:14px;box-shadow:0 1px 3px rgba(0,0,0,.15);overflow-wrap:anywhere}
.site{margin:0 0 4px;color:var(--soft);font-size:15px}
h1{margin:0 0 16px;font-size:24px;line-height:1.25}
p{margin:0 0 16px}
label{display:block;margin:0 0 6px;font-weight:600}
input{width:100%;min-height:46px;margin:0 0 6px;padding:8px 12px;font:inherit;color:inherit;background:transparent;border:1px solid var(--line);border-radius:8px}
input[aria-invalid]{border-color:var(--bad)}
.hint{color:var(--soft);font-size:15px}
button{width:100%;min-height:48px;margin-top:10px;padding:10px 18px;font:inherit;font-weight:600;color:var(--on);background:var(--accent);border:0;border-radius:8px;cursor:pointer}
button:disabled{opacity:.6;cursor:default}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
#answer{margin:16px 0 0;outline:0}
#answer:empty{margin:0}
form[hidden]{display:none}
form[hidden]+#answer{margin-top:0}
#answer:empty+noscript p{margin:0}
.good{color:var(--good);font-weight:600}
.bad{color:var(--bad);font-weight:600}
`
