// Images that are chosen, pasted or dropped while a text is written. Without this file a form sends them.

for (const place of document.querySelectorAll('[data-images]')) {
  const form = place.closest('form')
  const field = form?.querySelector('textarea')
  if (place instanceof HTMLElement && form && field) watch(place, form, field)
}

/** @param {HTMLElement} place @param {HTMLFormElement} form @param {HTMLTextAreaElement} field */
function watch(place, form, field) {
  const chosen = place.querySelector('input[type=file]')
  const alt = place.querySelector('input[name=imageAlt]')
  const problem = place.querySelector('[role=alert]')
  let busy = 0

  /** @param {File} file */
  const send = async (file) => {
    const mark = `![${place.dataset.busy ?? ''} ${file.name.replaceAll(/[[\]\\]/g, '')}]()`
    insert(field, mark)
    busy++
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
      say('')
      replace(field, mark, answer.markdown)
      if (alt instanceof HTMLInputElement) alt.value = ''
    } catch (error) {
      replace(field, mark, '')
      say(error instanceof Error ? error.message : String(error))
    }
    busy--
  }

  /** @param {string} text */
  const say = (text) => {
    if (!(problem instanceof HTMLElement)) return
    problem.textContent = text
    problem.hidden = text === ''
    if (text !== '' && place instanceof HTMLDetailsElement) place.open = true
  }

  /** @param {FileList | undefined} files */
  const imagesOf = (files) => Array.from(files ?? []).filter(({ type }) => type.startsWith('image/'))

  if (chosen instanceof HTMLInputElement)
    chosen.addEventListener('change', () => {
      for (const file of imagesOf(chosen.files ?? undefined)) void send(file)
      chosen.value = '' // or the form would send them again
    })
  field.addEventListener('paste', (event) => {
    const files = imagesOf(event.clipboardData?.files)
    if (files.length === 0) return
    event.preventDefault()
    for (const file of files) void send(file)
  })
  field.addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault()
  })
  field.addEventListener('drop', (event) => {
    const files = imagesOf(event.dataTransfer?.files)
    if (files.length === 0) return
    event.preventDefault()
    for (const file of files) void send(file)
  })
  form.addEventListener('submit', (event) => {
    if (busy === 0) return
    event.preventDefault() // the text still has a mark in place of an image
    say(place.dataset.busy ?? '')
  })
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
