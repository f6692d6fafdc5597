// Progressive enhancement: every page also works without this file.

const main = document.querySelector('main')
const language = document.documentElement.lang

/** Shows dates as ages. Cached pages must not contain ages. The tooltip has the time in the reader's time zone. */
const ages = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
const times = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' })
/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** @param {ParentNode} root */
function showAges(root) {
  for (const time of root.querySelectorAll('time')) {
    const seconds = (Date.parse(time.dateTime) - performance.timeOrigin - performance.now()) / 1000
    const age = Math.abs(seconds)
    const [unit, size] = UNITS.find(([name, length]) => age >= length || name === time.dataset.unit) ?? ['second', 1]
    if (Number.isNaN(seconds)) continue
    time.title = times.format(Date.parse(time.dateTime))
    // No age follows until
    time.textContent = time.closest('.until') ? time.title : ages.format(Math.trunc(seconds / size), unit)
  }
}
showAges(document)

// A narrow window cuts the row of tabs: the chosen one is in it.
const tabs = document.querySelector('.tabs')
const chosenTab = tabs?.querySelector('[aria-current]')
if (tabs && chosenTab instanceof HTMLElement)
  tabs.scrollLeft = chosenTab.offsetLeft - (tabs.clientWidth - chosenTab.offsetWidth) / 2

// What was done is said once, and not again after a reload. It has the focus: there a screen reader begins, and the
// keyboard goes on. Where the address leads to what was done, it is said there. What is wrong with a form comes first.
const here = new URL(location.href)
const justDone = here.searchParams.get('done')
if (justDone !== null) {
  here.searchParams.delete('done')
  history.replaceState(history.state, '', here)
}

const flash = document.querySelector('.flash')
if (flash instanceof HTMLElement && !document.querySelector('.summary')) {
  const target = document.getElementById(here.hash.slice(1))
  if (target?.matches('li')) target.prepend(flash)
  const focus = () => flash.focus({ preventScroll: true })
  if (document.readyState === 'complete' || here.hash === '') focus()
  else addEventListener('load', focus) // the browser goes to the fragment first
}

/** Says what went wrong, until the next step. The page stays as it is. @param {string} [text] */
function tell(text = '') {
  const notice = Object.assign(document.createElement('p'), { className: 'notice', role: 'alert', textContent: text })
  main?.append(notice)
  for (const type of ['pointerdown', 'keydown']) document.addEventListener(type, () => notice.remove(), { once: true })
}

/** A page of ours, for a part of it. @param {string | URL} address @param {RequestInit} [options] */
async function pageOf(address, options) {
  const response = await fetch(address, { ...options, headers: { accept: 'text/html' } })
  return new DOMParser().parseFromString(await response.text(), 'text/html')
}

// The address of a filter or a search names what was filled in.
document.addEventListener('formdata', ({ target, formData }) => {
  if (!(target instanceof HTMLFormElement) || target.method !== 'get') return
  for (const name of new Set(formData.keys())) if (formData.get(name) === '') formData.delete(name)
})

// More posts of a column.
document.addEventListener('click', (event) => void more(event))

/** @param {MouseEvent} event */
async function more(event) {
  const link = event.target instanceof Element ? event.target.closest('a[data-more]') : null
  if (!(link instanceof HTMLAnchorElement) || event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  link.ariaBusy = 'true'
  try {
    const page = await pageOf(link.href)
    const list = link.parentElement?.querySelector('.posts')
    const rows = Array.from(page.querySelectorAll('.posts > li'), (row) => document.importNode(row, true))
    if (!list) return location.assign(link.href)
    for (const row of rows) {
      row.querySelector('.excerpt')?.remove()
      showAges(row)
      list.append(row)
    }
    rows[0]?.querySelector('a')?.focus()
    const next = page.querySelector('a[rel=next]')
    if (next instanceof HTMLAnchorElement) link.href = next.href
    else link.remove()
  } catch {
    tell(main?.dataset.unreachable)
  }
  link.ariaBusy = null
}

// The link of a post, into the clipboard.
document.addEventListener('click', (event) => void copy(event))

/** @param {MouseEvent} event */
async function copy(event) {
  const link = event.target instanceof Element ? event.target.closest('a[data-copy]') : null
  if (!(link instanceof HTMLAnchorElement) || !navigator.clipboard) return
  event.preventDefault()
  try {
    await navigator.clipboard.writeText(link.dataset.copy ?? link.href)
  } catch {
    return location.assign(link.href) // refused: the address of the page has it too
  }
  const text = link.textContent
  link.textContent = link.dataset.copied ?? text
  setTimeout(() => (link.textContent = text), 2000)
}

// Who chose no time zone yet most likely has that of the browser.
const zone = document.querySelector('input[data-zone]')
if (zone instanceof HTMLInputElement && zone.value === zone.dataset.zone)
  zone.value = new Intl.DateTimeFormat().resolvedOptions().timeZone

// A menu closes by Escape, and where the focus or a click is elsewhere.
for (const kind of ['click', 'focusin'])
  document.addEventListener(kind, ({ target }) => {
    for (const menu of document.querySelectorAll('details.menu[open]'))
      if (!(target instanceof Node && menu.contains(target))) menu.removeAttribute('open')
  })
document.addEventListener('keydown', ({ key, target }) => {
  const menu = key === 'Escape' && target instanceof Element ? target.closest('details.menu[open]') : null
  menu?.removeAttribute('open')
  menu?.querySelector('summary')?.focus()
})

// Who opens a reply writes next.
/** @param {Event} event */
const write = ({ target }) => {
  if (target instanceof Element && target.matches('details[data-reply][open]'))
    target.querySelector('textarea')?.focus()
}
document.addEventListener('toggle', write, true) // it does not bubble
