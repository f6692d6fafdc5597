// Finds boards by name where the list is too long to show all. Without this script, the form sends the search.

const finder = document.querySelector('input[data-boards]')
/** @type {ReturnType<typeof setTimeout> | undefined} */
let wait

/** @param {HTMLInputElement} field */
async function find(field) {
  const text = field.value.trim()
  const [place, chosen] = [document.querySelector('#boards'), field.form?.elements.namedItem('boardId')]
  const address = new URL(field.dataset.boards ?? '', location.href)
  address.searchParams.set('boardQuery', text)
  address.searchParams.set('board', chosen instanceof HTMLSelectElement ? chosen.value : '')
  try {
    const answer = await fetch(address, { headers: { accept: 'text/html' } })
    const found = new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('#boards')
    if (!found || !place || field.value.trim() !== text) return
    place.replaceChildren(...Array.from(found.childNodes, (node) => document.importNode(node, true)))
  } catch {
    // Offline: the form still finds them
  }
}

if (finder instanceof HTMLInputElement) {
  finder.addEventListener('input', () => {
    clearTimeout(wait)
    wait = setTimeout(find, 300, finder)
  })
  finder.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return
    event.preventDefault() // it would send the post
    clearTimeout(wait)
    void find(finder)
  })
  const asked = finder.form?.elements.namedItem('boardAsked')
  if (asked instanceof HTMLInputElement && asked.value !== finder.value.trim()) void find(finder) // typed before this script loaded
}
