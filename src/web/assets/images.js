// Images that are chosen, pasted or dropped while a text is written. Without this file a form sends them.

/** Uploads that a form waits for. @type {WeakMap<HTMLFormElement, number>} */
const uploads = new WeakMap()

// Listens on the document, because refreshed comments bring new forms. What is pasted or dropped comes from writing.js.
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.type !== 'file' || !target.closest('[data-images]')) return
  add(target.form, Array.from(target.files ?? []))
  target.value = '' // or the form would send them again
})
document.addEventListener('submit', (event) => {
  const parts = partsOf(event.target)
  if (!parts || !uploads.get(parts.form)) return
  event.preventDefault() // the text still has a mark in place of an image
  say(parts.place, parts.place.dataset.busy ?? '')
})

/** Puts images into the text of a form. @param {HTMLFormElement | null | undefined} form @param {File[]} images */
export function add(form, images) {
  const parts = partsOf(form ?? null)
  for (const image of images) if (parts) void send(parts, image)
}

/**
 * @typedef {{ form: HTMLFormElement, place: HTMLElement, field: HTMLTextAreaElement }} Parts
 * @param {EventTarget | null} target @returns {Parts | undefined}
 */
function partsOf(target) {
  const form = target instanceof Element ? target.closest('form') : null
  const [place, field] = [form?.querySelector('[data-images]'), form?.querySelector('textarea')]
  return form && place instanceof HTMLElement && field ? { form, place, field } : undefined
}

/** @param {Parts} parts @param {File} file */
async function send({ form, place, field }, file) {
  const alt = place.querySelector('input[name=imageAlt]')
  const mark = `![${place.dataset.busy ?? ''} ${file.name.replaceAll(/[[\]\\]/g, '')}]()`
  insert(field, mark)
  uploads.set(form, (uploads.get(form) ?? 0) + 1)
  try {
    const body = new FormData()
    body.append('images', file)
    if (alt instanceof HTMLInputElement) body.append('imageAlt', alt.value)
    const response = await fetch(place.dataset.images ?? '', {
      method: 'POST',
      body,
      headers: { accept: 'application/json' },
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.message)
    say(place, '')
    replace(field, mark, answer.markdown)
    if (alt instanceof HTMLInputElement) alt.value = ''
  } catch (error) {
    replace(field, mark, '')
    say(place, error instanceof Error ? error.message : String(error))
  }
  uploads.set(form, (uploads.get(form) ?? 1) - 1)
}

/** @param {HTMLElement} place @param {string} text */
function say(place, text) {
  const problem = place.querySelector('[role=alert]')
  if (!(problem instanceof HTMLElement)) return
  problem.textContent = text
  problem.hidden = text === ''
  if (text !== '' && place instanceof HTMLDetailsElement) place.open = true
}

/** Inserts a paragraph where the cursor is. @param {HTMLTextAreaElement} field @param {string} text */
function insert(field, text) {
  const before = field.value.slice(0, field.selectionStart)
  const start = before === '' || before.endsWith('\n\n') ? '' : before.endsWith('\n') ? '\n' : '\n\n'
  field.setRangeText(`${start}${text}\n`, field.selectionStart, field.selectionEnd, 'end')
  changed(field)
}

/** Replaces a mark, and keeps the cursor where it is. @param {HTMLTextAreaElement} field @param {string} mark @param {string} text */
function replace(field, mark, text) {
  const at = field.value.indexOf(mark)
  if (at < 0) return
  field.setRangeText(text, at, at + mark.length, 'preserve')
  changed(field)
}

/** The draft is stored when somebody types. @param {HTMLTextAreaElement} field */
function changed(field) {
  field.dispatchEvent(new Event('input', { bubbles: true }))
}
