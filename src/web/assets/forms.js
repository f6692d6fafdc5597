// What few pages of the team need. Without this file every page works the same.

// The browser holds the answer to a form that is only a question or a step by the address of the list: Back and a reload
// lead there, and send nothing again.
const passing = document.querySelector('[data-back]')
if (passing instanceof HTMLElement) history.replaceState(history.state, '', passing.dataset.back)

// One step of several is followed by the next, until somebody stops it.
const nextStep = document.querySelector('form[data-steps]')
if (nextStep instanceof HTMLFormElement) nextStep.requestSubmit()

// A row of an order is dragged to the place of another. It sends the form of its buttons.
/** @type {HTMLElement | undefined} */
let dragged
/** @type {HTMLElement[]} */
const ordered = Array.from(document.querySelectorAll('[data-position]'))
for (const row of ordered) {
  row.draggable = true
  row.addEventListener('dragstart', () => (dragged = row))
  row.addEventListener('dragend', () => row.classList.remove('over'))
  row.addEventListener('dragleave', () => row.classList.remove('over'))
  row.addEventListener('dragover', (event) => {
    if (!dragged || dragged === row) return
    event.preventDefault() // it may be dropped here
    row.classList.add('over')
  })
  row.addEventListener('drop', (event) => {
    event.preventDefault()
    const form = dragged?.querySelector('form')
    if (!form) return
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name: 'position', value: row.dataset.position })) // prettier-ignore
    form.submit()
  })
}

// The colour of the site, in both schemes, while it is typed.
const accent = document.querySelector('input[data-accent]')
if (accent instanceof HTMLInputElement)
  accent.addEventListener('input', () => {
    const [, digits] = /^#?([0-9a-f]{6}|[0-9a-f]{3})$/i.exec(accent.value.trim()) ?? []
    if (digits === undefined) return
    const hex = digits.length === 6 ? digits : digits.replaceAll(/./g, '$&$&')
    const before = document.querySelector('link[href*="/assets/accent/"]')
    const link = document.createElement('link')
    Object.assign(link, { rel: 'stylesheet', href: `${accent.dataset.accent}${hex.toLowerCase()}.css` })
    link.addEventListener('load', () => before?.remove()) // the page has no moment without a colour
    document.head.append(link)
  })

// Who leaves a form that is not saved is asked.
for (const form of document.querySelectorAll('form[data-unsaved]')) {
  let isChanged = false
  form.addEventListener('input', () => (isChanged = true))
  form.addEventListener('submit', () => (isChanged = false))
  addEventListener('beforeunload', (event) => {
    if (isChanged) event.preventDefault()
  })
}
