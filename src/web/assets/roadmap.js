// Cards of the roadmap are moved by a drag, by keys, and in a dialog. Without this file a link leads to the form.

const CARD = '[data-roadmap] .post'

/** @param {EventTarget | null} target */
const cardAt = (target) => (target instanceof Element && target.closest(/** @type {'li'} */ (CARD))) || undefined

/** @param {Element} card */
const linkOf = (card) => card.querySelector(/** @type {'a'} */ ('a.move'))

/** A card whose link is of another page comes from there, see `more` in site.js. @param {Element} card */
const wayBack = (card) => `${card.closest('.columns')?.getAttribute('data-to') ?? ''}#${card.id}`

let isLeaving = false
addEventListener('pageshow', () => (isLeaving = false))

/** Sends the form of the card, with the status that the page showed. @param {Element} card @param {string} [roadmap] */
function move(card, roadmap = '') {
  const [link, from] = [linkOf(card), placeOf(card)]
  if (!link || !roadmap || roadmap === from || isLeaving) return
  const fields = { ifRoadmapId: from ?? '', roadmapId: roadmap, to: wayBack(card) }
  const form = Object.assign(document.createElement('form'), { method: 'post', action: link.href.split('?', 1)[0] })
  for (const [name, value] of Object.entries(fields))
    form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }))
  isLeaving = true // one at a time: the next one begins on the page that comes
  card.ariaBusy = 'true'
  document.body.append(form)
  form.submit()
}

/** @param {Element | undefined} within */
const placeOf = (within) => within?.closest('[data-roadmap]')?.getAttribute('data-roadmap') ?? undefined

// By a drag. A card becomes draggable as it is pressed: `more` in site.js adds cards.
/** @type {HTMLElement | undefined} */
let moved
/** @type {Element | undefined} */
let over

/** @param {Element} [next] */
function showOver(next) {
  over?.removeAttribute('data-over')
  over = next
  over?.setAttribute('data-over', '')
}

document.addEventListener('pointerdown', ({ target }) => {
  const card = cardAt(target)
  if (card && linkOf(card)) card.draggable = true
})
document.addEventListener('dragstart', (event) => {
  moved = cardAt(event.target)
  if (!moved || !event.dataTransfer) return
  event.dataTransfer.effectAllowed = 'all' // the link of a card can still be dropped elsewhere
  event.dataTransfer.setDragImage(moved, 16, 16)
})
document.addEventListener('dragover', (event) => {
  const place = event.target instanceof Element ? event.target.closest('[data-roadmap]') : undefined
  const takes = moved && place && !place.contains(moved)
  showOver(takes ? place : undefined)
  if (!takes) return
  event.preventDefault()
  if (event.dataTransfer) event.dataTransfer.dropEffect = 'move'
})
document.addEventListener('drop', (event) => {
  if (!moved || !over) return
  event.preventDefault()
  move(moved, placeOf(over))
})
document.addEventListener('dragend', () => {
  moved = undefined
  showOver()
})

// By keys: to the column beside it.
for (const link of document.querySelectorAll('.columns a.move'))
  link.setAttribute('aria-keyshortcuts', 'Shift+ArrowLeft Shift+ArrowRight')
document.addEventListener('keydown', (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
  const card = cardAt(event.target)
  if (!step || !card || !event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  const columns = Array.from(document.querySelectorAll('.column'))
  const towardsEnd = getComputedStyle(card).direction === 'rtl' ? -step : step
  const at = columns.findIndex((column) => column.contains(card))
  move(card, placeOf(columns[at + towardsEnd]))
})

// In a dialog, which has the form of the page that the link leads to.
document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest(/** @type {'a'} */ ('.columns a.move')) : null
  if (!link || event.metaKey || event.ctrlKey || event.shiftKey) return
  event.preventDefault()
  void ask(link)
})

/** @param {HTMLAnchorElement} link */
async function ask(link) {
  if (link.ariaBusy === 'true') return
  link.ariaBusy = 'true'
  const answer = await fetch(link.href, { headers: { accept: 'text/html' } }).catch(() => undefined)
  const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), 'text/html') : undefined
  const part = page?.querySelector('.mover')
  link.ariaBusy = null
  if (!part) return location.assign(link.href) // signed out, offline, or the post is gone: the page says so
  const dialog = document.createElement('dialog')
  dialog.setAttribute('aria-labelledby', 'mover')
  dialog.append(document.importNode(part, true))
  // With neither mouse nor keyboard there is nothing to say of them
  if (matchMedia('(hover: hover)').matches) dialog.querySelector('[hidden]')?.removeAttribute('hidden')
  const [to, card] = [dialog.querySelector('input[name=to]'), cardAt(link)]
  if (to instanceof HTMLInputElement && card) to.value = wayBack(card)
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close() // beside it
  })
  dialog.querySelector('.mover > p:last-child a')?.addEventListener('click', (event) => {
    event.preventDefault()
    dialog.close()
  })
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
