// Without this file every page works the same.

// What is chosen in the inbox and not sent yet. `forget` of writing.js removes it with the drafts: another person may sign in.
const CHOICES = 'draft choices'
const stored = (() => {
  try {
    return sessionStorage
  } catch {
    return null // the browser allows none
  }
})()
/** @type {{ rows: Record<string, { isChosen: boolean, status: string } | undefined>, sent: string[] }} */
const choices = JSON.parse(stored?.getItem(CHOICES) ?? '{"rows":{},"sent":[]}')
// The page that says what was done selects what was not decided. After an error, or on the way back, all is as it was.
if (document.querySelector('.flash')) for (const row of choices.sent) delete choices.rows[row]
choices.sent = []
function keepChoices() {
  try {
    stored?.setItem(CHOICES, JSON.stringify(choices))
  } catch {
    // it is full: choices are lost with the page
  }
}

// The rows of a table that are chosen: how many, all at once, and a range with Shift.
for (const form of document.querySelectorAll('form.bulk')) {
  /** @type {HTMLInputElement[]} */
  const boxes = Array.from(form.querySelectorAll('.pick input'))
  const output = form.querySelector('output')
  const head = form.querySelector('thead .pick')
  const all = Object.assign(document.createElement('input'), { type: 'checkbox', ariaLabel: head?.textContent?.trim() })
  if (boxes.length > 0) head?.replaceChildren(all)
  // Rows of the inbox stay chosen after a link, Undo or a reload
  const kept = form.querySelector('[name=rows]') ? boxes : []
  /** @param {Element} box */
  const selectOf = (box) => box.closest('article')?.querySelector('select')
  for (const box of kept) {
    const [choice, select] = [choices.rows[box.value], selectOf(box)]
    if (!choice) continue
    box.checked = choice.isChosen
    if (select && Array.from(select.options).some(({ value }) => value === choice.status)) select.value = choice.status
  }
  form.addEventListener('submit', () => {
    choices.sent = kept.map((box) => box.value)
    if (kept.length > 0) keepChoices()
  })
  const show = () => {
    for (const box of kept) {
      const select = selectOf(box)
      const [isChosen, status] = [box.checked, select?.value ?? '']
      // What the page came with may be taken back
      const isSaid = isChosen || status !== '' || box.defaultChecked || select?.querySelector('[selected]')
      if (isSaid) choices.rows[box.value] = { isChosen, status }
      else delete choices.rows[box.value]
    }
    if (kept.length > 0) keepChoices()
    const count = boxes.filter((box) => box.checked).length
    all.checked = count === boxes.length
    all.indeterminate = count > 0 && count < boxes.length
    if (output) output.textContent = count === 0 ? '' : String(output.dataset.count).replace('2', String(count))
  }
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = all.checked
    show()
  })
  let last = -1
  form.addEventListener('click', (event) => {
    const at = boxes.findIndex((box) => box === event.target)
    if (at < 0 || !(event instanceof MouseEvent)) return
    if (event.shiftKey && last >= 0)
      for (const box of boxes.slice(Math.min(at, last), Math.max(at, last) + 1))
        box.checked = boxes[at]?.checked ?? false
    last = at
  })
  form.addEventListener('change', show)
  show()
}

// Keys of the team: one letter, never in a field, and none after they were switched off. Each presses what the page has.
const KEYS_OFF = 'feedbackctl-keys-off'
/** @type {HTMLElement[]} */
const keyRows = Array.from(document.querySelectorAll('[data-row]'))
const help = document.querySelector('dialog.shortcuts')
/** The row that keys are about: the one after what was decided, or the first. */
let current = Math.max(
  keyRows.findIndex((row) => row.id === location.hash.slice(1)),
  0,
)

const areOff = () => localStorage.getItem(KEYS_OFF) !== null

/** @param {number} index @param {{ focus: boolean }} options */
function goTo(index, { focus }) {
  keyRows[current]?.removeAttribute('data-current')
  current = Math.min(Math.max(index, 0), keyRows.length - 1)
  const row = keyRows[current]
  if (!row || areOff()) return
  row.dataset.current = ''
  if (focus) row.focus()
}
goTo(current, { focus: false })
for (const [index, row] of keyRows.entries()) row.addEventListener('focusin', () => goTo(index, { focus: false }))

/** @param {EventTarget | null} target */
const isTyping = (target) =>
  target instanceof Element && target.matches('textarea, select, input:not([type=checkbox], [type=radio])')

/** @type {HTMLInputElement | null | undefined} The box that a key ticked. */
let taken

// Ctrl+Enter sends a text, Enter a choice. Escape leads back to the row.
document.addEventListener('keydown', ({ key, target, ctrlKey, metaKey, isComposing }) => {
  if (key === 'Enter' && (ctrlKey || metaKey) && !isComposing && target instanceof HTMLTextAreaElement)
    target.form?.requestSubmit()
  if (key === 'Enter')
    document
      .querySelector('[data-row]:has(select:focus) [data-key=e], .verbs select:focus ~ button')
      ?.dispatchEvent(new MouseEvent('click'))
  if (key !== 'Escape' || !(target instanceof Element)) return
  const open = document.querySelector('.picks[open] > summary')
  if (open instanceof HTMLElement) {
    open.click()
    open.focus()
  }
  if (!target.matches('.bulk select')) return
  if (taken?.checked) taken.click()
  goTo(current, { focus: true })
})

document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey, isComposing } = event
  if (ctrlKey || metaKey || altKey || isComposing || event.defaultPrevented || isTyping(target)) return
  if (document.querySelector('dialog[open]')) return
  if (key === 'Enter' && target instanceof Element && target.matches('.pick input')) return event.preventDefault()
  if (/^Arrow(Up|Down)$/.test(key) && target instanceof Element && target.matches('.menu button')) {
    const next = key === 'ArrowUp' ? target.previousElementSibling : target.nextElementSibling
    if (next instanceof HTMLButtonElement) next.focus()
    return event.preventDefault()
  }
  if (areOff()) return
  if (key === 'X')
    keyRows[current]?.querySelector('.pick input')?.dispatchEvent(new MouseEvent('click', { shiftKey: true, bubbles: true })) // prettier-ignore
  else if (key === '?' && help instanceof HTMLDialogElement) help.showModal()
  else if ((key === 'j' || key === 'k') && keyRows.length > 0) {
    const isThere = keyRows[current]?.contains(document.activeElement) ?? false
    // From elsewhere, the first key goes to the row itself
    goTo(current + (isThere ? (key === 'j' ? 1 : -1) : 0), { focus: true })
  } else {
    const is = `=${CSS.escape(key)}]`
    // Rows that are chosen come before the current one
    const pressed =
      (document.querySelector('.pick :checked') && document.querySelector(`[data-many${is}`)) ??
      keyRows[current]?.querySelector(`[data-key${is}`) ??
      document.querySelector(`:not([data-row] *)[data-key${is}`)
    if (!(pressed instanceof HTMLElement)) return
    if (pressed.matches('.verbs select')) {
      taken = document.querySelector('.pick :checked') ? null : keyRows[current]?.querySelector('.pick input')
      taken?.click()
    }
    if (pressed.matches('textarea, select')) pressed.focus()
    else pressed.click()
    if (pressed.matches('.pick input')) goTo(current, { focus: true }) // or the next j would stay here
    if (pressed.matches('summary')) pressed.parentElement?.querySelector('button')?.focus()
  }
  event.preventDefault()
})

if (help instanceof HTMLDialogElement) {
  const opener = document.querySelector('button.shortcuts')
  const say = () => {
    opener?.firstElementChild?.toggleAttribute('hidden', areOff())
    opener?.lastElementChild?.toggleAttribute('hidden', !areOff())
  }
  opener?.addEventListener('click', () => help.showModal())
  say()
  const off = help.querySelector('input')
  if (off) {
    off.checked = areOff()
    off.addEventListener('change', () => {
      if (off.checked) localStorage.setItem(KEYS_OFF, '')
      else localStorage.removeItem(KEYS_OFF)
      say()
      goTo(current, { focus: false })
    })
  }
}
