// Results while a search is typed. Without this file the form is sent.

const WAIT_MS = 250

const form = document.querySelector('form.search-page')
const searched = form?.querySelector('input[type=search]')
const announced = document.querySelector('.search-status')
/** @type {AbortController | undefined} */
let pending
let timer = 0

/** @param {HTMLFormElement} of */
async function look(of) {
  pending?.abort()
  const mine = (pending = new AbortController())
  const address = new URL(of.action)
  for (const [name, value] of new FormData(of))
    if (typeof value === 'string' && value !== '') address.searchParams.set(name, value)
  const asked = new URL(address)
  if (asked.searchParams.get('q')?.startsWith('#')) asked.searchParams.set('typed', 'yes') // a number leads on once it is sent
  try {
    const answer = await fetch(asked, { signal: mine.signal, headers: { accept: 'text/html' } })
    if (!answer.ok || answer.redirected) return
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    if (mine.signal.aborted) return
    for (const part of ['main h1', '.search-results']) {
      const [old, next] = [document.querySelector(part), page.querySelector(part)]
      if (old && next) old.replaceWith(document.importNode(next, true))
    }
    document.title = page.title
    history.replaceState(history.state, '', address)
    const said = page.querySelector('.search-results :is(.empty h2, .count)') ?? page.querySelector('main h1')
    if (announced) announced.textContent = said?.textContent ?? ''
  } catch {
    // Cancelled by what was typed since, or offline: the form still works
  }
}

if (form instanceof HTMLFormElement && searched instanceof HTMLInputElement)
  searched.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void look(form), WAIT_MS)
  })
