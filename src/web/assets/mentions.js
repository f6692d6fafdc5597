// Names to choose from while an @ is typed in a comment. Without this file they are typed.

const MOST = 8
/** What is typed before the cursor: an @ that belongs to no word, and the beginning of a name. */
const TYPED = /(?:^|[^\w.@/+-])@([\w.-]{0,30})$/

/** @typedef {{ username: string, name: string }} Person */
/** @type {{ people: Person[], label: string, keys: string } | undefined} */
let known
/** @type {Promise<void> | undefined} */
let asked
/** @type {HTMLTextAreaElement | undefined} */
let field
let chosen = 0

// Here and not with the other styles: few pages need them
const style = new CSSStyleSheet()
style.replaceSync(`
  .field:has(> .people) {
    position: relative;
  }
  .people {
    position: absolute;
    z-index: 1;
    inset-inline: 0;
    max-height: 14rem;
    margin: 0;
    padding: 0;
    overflow: auto;
    list-style: none;
    background: var(--raised);
    border: 1px solid var(--line);
    border-radius: var(--round);
  }
  .people li {
    margin: 0;
    padding: var(--2) var(--3);
    overflow-wrap: anywhere;
    cursor: pointer;
  }
  .people [aria-selected='true'] {
    color: var(--on-fill);
    background: var(--fill);
  }
`)
document.adoptedStyleSheets.push(style)

const list = Object.assign(document.createElement('ul'), { id: 'people', className: 'people', role: 'listbox' })
const said = Object.assign(document.createElement('p'), { className: 'hidden', role: 'status' })

/** @param {string} address */
async function ask(address) {
  const response = await fetch(address, { headers: { accept: 'text/html' } })
  if (!response.ok) return
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  const rows = Array.from(page.querySelectorAll('li[data-username]'))
  known = {
    people: rows.flatMap((row) => (row instanceof HTMLElement ? { username: row.dataset.username ?? '', name: row.dataset.name ?? '' } : [])), // prettier-ignore
    label: page.querySelector('h1')?.textContent ?? '',
    keys: page.querySelector('[data-keys]')?.textContent?.trim() ?? '',
  }
}

/** @param {HTMLTextAreaElement} area */
const typedIn = (area) =>
  area.selectionStart === area.selectionEnd ? TYPED.exec(area.value.slice(0, area.selectionStart))?.[1] : undefined

/** @param {HTMLTextAreaElement} area */
async function offer(area) {
  if (typedIn(area) === undefined) return hide()
  if (!known) {
    asked ??= ask(area.dataset.people ?? '').catch(() => {}) // once: names are help
    await asked
  }
  const start = typedIn(area)?.toLowerCase()
  if (start === undefined || !known || document.activeElement !== area) return hide()
  const found = known.people
    .filter(({ username, name }) =>
      [username, ...name.split(/\s+/)].some((word) => word.toLowerCase().startsWith(start)),
    ) // prettier-ignore
    .slice(0, MOST)
  if (found.length === 0) return hide()
  showPeople(area, found, known)
}

/** @param {HTMLTextAreaElement} area @param {Person[]} found @param {{ label: string, keys: string }} words */
function showPeople(area, found, { label, keys }) {
  const isNew = field !== area
  field = area
  list.ariaLabel = label
  list.replaceChildren(
    ...found.map(({ username, name }, index) => {
      const option = Object.assign(document.createElement('li'), { id: `people-${index}`, role: 'option' })
      option.dataset.username = username
      const who = Object.assign(document.createElement('bdi'), { textContent: name })
      option.append(who, ' ', Object.assign(document.createElement('code'), { textContent: `@${username}`, dir: 'ltr' })) // prettier-ignore
      return option
    }),
  )
  area.after(list, said)
  area.setAttribute('aria-autocomplete', 'list')
  area.setAttribute('aria-controls', list.id)
  choose(0)
  if (isNew) said.textContent = keys
}

/** @param {number} index */
function choose(index) {
  const options = Array.from(list.children)
  chosen = (index + options.length) % options.length
  for (const [place, option] of options.entries()) option.ariaSelected = String(place === chosen)
  options[chosen]?.scrollIntoView({ block: 'nearest' })
  field?.setAttribute('aria-activedescendant', `people-${chosen}`)
}

function hide() {
  for (const name of ['aria-autocomplete', 'aria-controls', 'aria-activedescendant']) field?.removeAttribute(name)
  field = undefined
  said.textContent = ''
  list.remove()
}

/** @param {Element | undefined} option */
function take(option) {
  const [area, typed] = [field, field && typedIn(field)]
  hide()
  if (!area || typed === undefined || !(option instanceof HTMLElement)) return
  const end = area.selectionStart
  area.setRangeText(`${option.dataset.username} `, end - typed.length, end, 'end')
  area.dispatchEvent(new Event('input', { bubbles: true })) // for the draft
}

/** @param {{ target: EventTarget | null }} event */
const areaOf = ({ target }) => (target instanceof HTMLTextAreaElement && target.dataset.people ? target : undefined)

document.addEventListener('input', (event) => {
  const area = areaOf(event)
  if (area) void offer(area)
})

document.addEventListener(
  'keydown',
  (event) => {
    if (!field || event.target !== field || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'ArrowDown') choose(chosen + 1)
    else if (event.key === 'ArrowUp') choose(chosen - 1)
    else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) take(list.children[chosen])
    else if (event.key === 'Escape') hide()
    else return
    event.preventDefault()
    event.stopPropagation()
  },
  { capture: true },
)

list.addEventListener('pointerdown', (event) => {
  event.preventDefault() // the field keeps the focus
  take((event.target instanceof Element && event.target.closest('li')) || undefined)
})
document.addEventListener('focusout', (event) => {
  if (event.target === field) hide()
})

// What was typed before this file was there.
const begun = areaOf({ target: document.activeElement })
if (begun) void offer(begun)
