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

// The preview, without leaving the form.
document.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('button[name=preview][value=text]') : null
  if (button instanceof HTMLButtonElement) void showPreview(event, button, button.form)
})

/** @param {Event} event @param {HTMLButtonElement} button @param {HTMLFormElement | null} form */
async function showPreview(event, button, form) {
  if (!form || !(button.formNoValidate || form.checkValidity())) return
  event.preventDefault()
  const fields = new URLSearchParams()
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') fields.append(name, value)
  fields.set('preview', 'text')
  try {
    const made = (await pageOf(form.action, { method: 'POST', body: fields })).querySelector('.preview')
    if (!made) return form.requestSubmit(button) // to the page that says why
    const preview = document.importNode(made, true)
    form.querySelector('.preview')?.remove()
    button.parentElement?.before(preview)
    if (preview instanceof HTMLElement) preview.focus()
  } catch {
    tell(main?.dataset.unreachable)
  }
}

// What was typed is there again after a reload, an error or the way back, until it is stored.
const drafts = storage('sessionStorage')

/** Forgets what was typed: it is of who signed out, or of who was signed in before. */
function forget() {
  for (const key of Object.keys(drafts ?? {})) if (/^(draft |sent$|writer$)/.test(key)) drafts?.removeItem(key)
}
const [writer, reader] = [drafts?.getItem('writer'), document.body.dataset.viewer]
if (/^(loggedOut|accountDeleted)$/.test(justDone ?? '')) {
  forget()
  others?.setItem('left', String(performance.timeOrigin))
} else if (writer && reader && writer !== reader) forget()
if (reader) drafts?.setItem('writer', reader)
document.querySelector('.to-logout')?.addEventListener('click', forget) // the next page may be left before its script runs
addEventListener('storage', ({ key }) => {
  if (key === 'left') forget()
})

const sent = drafts?.getItem('sent')
if (sent && /^((posted|commented)(Held)?|saved|noted)\b/.test(justDone ?? '')) drafts?.removeItem(sent)
const WRITTEN = 'form.post-form, form.comment-form'

/** @param {HTMLFormElement} form */
function draftOf(form) {
  // The id tells replies, and the note for the team, from the comment for everybody.
  return `draft ${form.action} ${form.querySelector('textarea')?.id}`
}

/** @param {ParentNode} root */
function restoreDrafts(root) {
  for (const form of root.querySelectorAll(/** @type {'form'} */ (WRITTEN))) {
    const stored = JSON.parse(drafts?.getItem(draftOf(form)) ?? '{}')
    // A search without result has named another post.
    const named = form.querySelector('input[data-similar]')
    const isOther =
      named instanceof HTMLInputElement && named.defaultValue !== '' && named.defaultValue !== stored.title
    const kept = isOther ? {} : stored
    /** @type {NodeListOf<HTMLInputElement | HTMLTextAreaElement>} */
    const fields = form.querySelectorAll('input[name=title], textarea')
    for (const field of fields)
      if (field.value === field.defaultValue && kept[field.name] && kept[field.name] !== field.value) {
        field.value = kept[field.name]
        /** @type {HTMLInputElement | null} */
        const version = form.querySelector('input[name=ifUpdatedAt]')
        if (version && kept.ifUpdatedAt) version.value = kept.ifUpdatedAt // of its text
        field.closest('details')?.setAttribute('open', '')
      }
    // What was meant for the team must not become public.
    /** @type {HTMLInputElement | null} */
    const internal = form.querySelector('input[name=is_internal]')
    if (internal && kept.is_internal) internal.checked = true
  }
}
if (main) restoreDrafts(document)
for (const kind of ['submit', 'input'])
  document.addEventListener(kind, ({ target }) => {
    const form = formOf(target)
    if (!form?.matches(WRITTEN)) return
    if (kind === 'submit') drafts?.setItem('sent', draftOf(form))
    else drafts?.setItem(draftOf(form), JSON.stringify(Object.fromEntries(new FormData(form))))
  })

/** @param {Element} part */
const loadScript = (part) => import(part.getAttribute('data-script') ?? '')
/** @param {EventTarget | null} target */
const formOf = (target) => (target instanceof Element ? target.closest('form') : null)

// What helps to write comes with scripts of its own, once somebody begins to write in a form that names them.
/** @param {EventTarget | null} target */
function loadHelp(target) {
  const form = formOf(target)
  const editor = form?.matches(WRITTEN) ? document.querySelector('a[data-script]') : null
  for (const part of [editor, ...(form?.querySelectorAll('[data-script]') ?? [])])
    if (part) loadScript(part).catch(() => undefined) // offline: every form works without
}
document.addEventListener('focusin', ({ target }) => loadHelp(target))
loadHelp(document.activeElement)

// A file may be pasted or dropped before the script for images has loaded.
for (const kind of /** @type {const} */ (['dragover', 'paste', 'drop']))
  document.addEventListener(kind, (event) => {
    const form = formOf(event.target)
    const place = form?.querySelector('[data-images]')
    const given = 'dataTransfer' in event ? event.dataTransfer : event.clipboardData
    const files = Array.from(given?.files ?? []) // none before they are dropped
    if (!place || !given?.types.includes('Files')) return
    event.preventDefault()
    if (files.length > 0)
      loadScript(place)
        .then(({ add }) => add(form, files))
        .catch(() => tell(main?.dataset.unreachable))
  })
