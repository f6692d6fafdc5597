// Shortens the way where scripts run. Without this file every page works the same.

const main = document.querySelector('main')
const language = document.documentElement.lang

/** Ages in place of dates: pages are kept, and an age would not stay true. */
const ages = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
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
    const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
    if (!Number.isNaN(seconds)) time.textContent = ages.format(Math.trunc(seconds / size), unit)
  }
}
showAges(document)

// A narrow window cuts the row of tabs: the chosen one is in it.
const tabs = document.querySelector('.tabs')
const chosenTab = tabs?.querySelector('[aria-current]')
if (tabs && chosenTab instanceof HTMLElement)
  tabs.scrollLeft = chosenTab.offsetLeft - (tabs.clientWidth - chosenTab.offsetWidth) / 2

// What was done is said once, and not again after a reload.
const here = new URL(location.href)
const justDone = here.searchParams.get('done')
if (justDone !== null) {
  here.searchParams.delete('done')
  history.replaceState(history.state, '', here)
}

/** A page of ours, for a part of it. @param {string | URL} address @param {RequestInit} [options] */
async function pageOf(address, options) {
  const response = await fetch(address, { ...options, headers: { accept: 'text/html' } })
  return new DOMParser().parseFromString(await response.text(), 'text/html')
}

// Votes, without leaving the page.
document.addEventListener('submit', (event) => void vote(event))

/** @param {SubmitEvent} event */
async function vote(event) {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.dataset.vote === undefined) return
  event.preventDefault()
  const button = form.querySelector('button')
  if (!button || button.ariaBusy === 'true') return
  button.ariaBusy = 'true'
  const isVoted = button.getAttribute('aria-pressed') === 'true'
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(),
    })
    if (!response.ok) return form.submit() // to the page that says what to do: sign in, above all
    const { votes, count: said } = await response.json()
    button.setAttribute('aria-pressed', String(!isVoted))
    const count = form.querySelector('[data-count]')
    if (count && votes !== undefined) {
      button.ariaLabel = (form.dataset.label ?? '').replace('{votes}', () => said)
      count.textContent = votes
    }
    form.action = `${form.dataset.vote}/${isVoted ? 'vote' : 'unvote'}`
  } catch {
    form.submit()
  } finally {
    button.ariaBusy = null
  }
}

// Filters apply when they change.
for (const form of document.querySelectorAll('form[data-submit]'))
  if (form instanceof HTMLFormElement) {
    const button = form.querySelector('button')
    if (button) button.hidden = true
    form.addEventListener('change', () => {
      for (const field of form.elements)
        if (field instanceof HTMLSelectElement && field.value === '') field.disabled = true
      form.submit()
    })
  }

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
    location.assign(link.href)
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
  await navigator.clipboard.writeText(link.dataset.copy ?? link.href)
  const text = link.textContent
  link.textContent = link.dataset.copied ?? text
  setTimeout(() => (link.textContent = text), 2000)
}

// Similar posts while a title is typed.
const title = document.querySelector('input[data-similar]')
const box = document.querySelector('#similar')
if (title instanceof HTMLInputElement && box instanceof HTMLElement) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  let asked = title.value.trim()
  const look = async () => {
    const text = title.value.trim()
    if (text === asked) return
    asked = text
    const list = box.querySelector('[data-list]')
    const address = new URL(title.dataset.similar ?? '', location.href)
    address.searchParams.set('title', text)
    const found = text.length < 3 ? null : (await pageOf(address).catch(() => null))?.querySelector('.posts')
    if (asked !== text || !list) return
    list.replaceChildren(...(found ? [document.importNode(found, true)] : []))
    showAges(list)
    box.hidden = !found
  }
  title.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(look, 300)
  })
  // They have been seen: the step that shows them without a script is not needed.
  const form = title.form
  form?.addEventListener('submit', () => {
    if (box.hidden || form.elements.namedItem('checked')) return
    const seen = Object.assign(document.createElement('input'), { type: 'hidden', name: 'checked', value: 'yes' })
    form.append(seen)
  })
}

// Boards by name, where a list cannot offer them all.
const finder = document.querySelector('input[data-boards]')
if (finder instanceof HTMLInputElement) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  const find = async () => {
    const text = finder.value.trim()
    const [place, chosen] = [document.querySelector('#boards'), finder.form?.elements.namedItem('boardId')]
    const address = new URL(finder.dataset.boards ?? '', location.href)
    address.searchParams.set('boardQuery', text)
    address.searchParams.set('board', chosen instanceof HTMLSelectElement ? chosen.value : '')
    const found = (await pageOf(address).catch(() => null))?.querySelector('#boards')
    if (!found || !place || finder.value.trim() !== text) return
    place.replaceChildren(...Array.from(found.childNodes, (node) => document.importNode(node, true)))
  }
  finder.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(find, 300)
  })
  finder.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return
    event.preventDefault() // it would send the post
    clearTimeout(timer)
    void find()
  })
}

// The preview, without leaving the form.
const preview = document.querySelector('button[name=preview]')
if (preview instanceof HTMLButtonElement)
  preview.addEventListener('click', (event) => void showPreview(event, preview, preview.form))

/** @param {Event} event @param {HTMLButtonElement} button @param {HTMLFormElement | null} form */
async function showPreview(event, button, form) {
  const place = document.querySelector('#preview')
  const html = place?.querySelector('[data-html]')
  if (!form || !html || !(place instanceof HTMLElement)) return
  event.preventDefault()
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields.append(name, value)
  fields.set('preview', 'yes')
  try {
    const page = await pageOf(form.action, { method: 'POST', body: fields })
    const made = page.querySelector('#preview [data-html]')
    if (!made || page.querySelector('.summary')) return form.requestSubmit(button) // to the page that says why
    html.replaceChildren(...Array.from(made.childNodes, (node) => document.importNode(node, true)))
    place.hidden = false
    place.scrollIntoView({ block: 'nearest' })
  } catch {
    form.requestSubmit(button)
  }
}

// A menu closes by Escape, and where the focus or a click is elsewhere.
for (const menu of document.querySelectorAll('details.menu'))
  if (menu instanceof HTMLDetailsElement) {
    /** @param {Event} event */
    const leave = ({ target }) => {
      if (!(target instanceof Node && menu.contains(target))) menu.open = false
    }
    document.addEventListener('click', leave)
    document.addEventListener('focusin', leave)
    menu.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return
      menu.open = false
      menu.querySelector('summary')?.focus()
    })
  }

// Who opens a reply writes next.
for (const reply of document.querySelectorAll('details[data-reply]'))
  reply.addEventListener('toggle', () => {
    if (reply instanceof HTMLDetailsElement && reply.open) reply.querySelector('textarea')?.focus()
  })

// What was typed is there again after a reload, an error or the way back, until it is stored.
const drafts = 'sessionStorage' in globalThis ? sessionStorage : null
const sent = drafts?.getItem('sent')
if (sent && ['posted', 'saved', 'commented', 'noted'].includes(justDone ?? '')) drafts?.removeItem(sent)
for (const form of document.querySelectorAll('form.post-form, form.comment-form'))
  if (form instanceof HTMLFormElement && main) {
    const parent = form.querySelector('input[name=parent_id]')
    const key = `draft ${form.action} ${parent instanceof HTMLInputElement ? parent.value : ''}`
    const stored = JSON.parse(drafts?.getItem(key) ?? '{}')
    // A search without result has named another post.
    const named = form.querySelector('input[data-similar]')
    const isOther =
      named instanceof HTMLInputElement && named.defaultValue !== '' && named.defaultValue !== stored.title
    const kept = isOther ? {} : stored
    for (const field of form.querySelectorAll('input[name=title], textarea'))
      if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)
        if (field.value === field.defaultValue && kept[field.name]) {
          field.value = kept[field.name]
          field.closest('details')?.setAttribute('open', '')
        }
    // What was meant for the team must not become public.
    const internal = form.querySelector('input[name=is_internal]')
    if (internal instanceof HTMLInputElement && kept.is_internal) internal.checked = true
    form.addEventListener('submit', () => drafts?.setItem('sent', key))
    form.addEventListener('input', () => {
      const values = Object.fromEntries(new FormData(form))
      drafts?.setItem(key, JSON.stringify(values))
    })
  }
