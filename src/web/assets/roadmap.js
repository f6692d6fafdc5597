// Moves cards of the roadmap by drag and drop, by keys and in a dialog. Without this file, a link leads to the form.

const CARD = '[data-roadmap] .post'

/** @param {EventTarget | null} target */
const cardAt = (target) => (target instanceof Element && target.closest(/** @type {'li'} */ (CARD))) || undefined

/** @param {Element} card */
const linkOf = (card) => card.querySelector(/** @type {'a'} */ ('a.move'))

/** The roadmap page, at this card. The link of a card that `more` loaded names another page. @param {Element} card */
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
  isLeaving = true // one move per page load
  card.ariaBusy = 'true'
  document.body.append(form)
  form.submit()
}

/** @param {Element | undefined} within */
const placeOf = (within) => within?.closest('[data-roadmap]')?.getAttribute('data-roadmap') ?? undefined

// Drag and drop. A card becomes draggable when it is pressed, because `more` in site.js adds cards later.
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
  event.dataTransfer.effectAllowed = 'all' // links can still be dragged to other windows
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

// Keys move a card to the next column.
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

// The dialog shows the form of the page that the link leads to.
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
  if (!part) return location.assign(link.href) // the page explains: signed out, offline, or the post is gone
  const dialog = document.createElement('dialog')
  dialog.setAttribute('aria-labelledby', 'mover')
  dialog.append(document.importNode(part, true))
  // A touch screen has neither mouse nor keyboard
  if (matchMedia('(hover: hover)').matches) dialog.querySelector('[hidden]')?.removeAttribute('hidden')
  const [to, card] = [dialog.querySelector('input[name=to]'), cardAt(link)]
  if (to instanceof HTMLInputElement && card) to.value = wayBack(card)
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close() // a click on the backdrop
  })
  dialog.querySelector('.mover > p:last-child a')?.addEventListener('click', (event) => {
    event.preventDefault()
    dialog.close()
  })
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}
