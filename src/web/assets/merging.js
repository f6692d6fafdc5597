// Suggests posts while the one that stays is typed. Without this file the form searches when it is sent.
// A block, so that its names are its own.
{
  const WAIT_MS = 250

  // Here and not with the other styles: one page needs them
  const style = new CSSStyleSheet()
  style.replaceSync(`
  .field:has(> .offered) {
    position: relative;
  }
  .offered {
    position: absolute;
    z-index: 1;
    inset-inline: 0;
    max-height: 18rem;
    margin: 0;
    padding: 0;
    overflow: auto;
    list-style: none;
    background: var(--raised);
    border: 1px solid var(--line);
    border-radius: var(--round);
  }
  .offered li {
    margin: 0;
    padding: var(--2) var(--3);
    overflow-wrap: anywhere;
    cursor: pointer;
  }
  .offered [aria-selected='true'],
  .offered [aria-selected='true'] * {
    color: var(--on-fill);
    background: var(--fill);
  }
`)
  document.adoptedStyleSheets.push(style)

  const field = document.querySelector('#field-into')
  const said = document.querySelector('[data-offered]')
  const list = Object.assign(document.createElement('ul'), { id: 'offered', className: 'offered', role: 'listbox', hidden: true }) // prettier-ignore
  /** @type {AbortController | undefined} */
  let pending
  let timer = 0
  /** The option that keys chose; none while this is -1. */
  let chosen = -1

  /** A number or an address says which post, and is no search. @param {string} text */
  const isSearch = (text) => text.length > 1 && !/^#?\d+$|^#\d+ · |\/posts\//.test(text)

  /** @param {HTMLInputElement} input @param {string} words */
  async function look(input, words) {
    pending?.abort()
    const mine = (pending = new AbortController())
    const address = new URL(input.form?.action ?? '', location.href)
    address.searchParams.set('into', words.slice(0, 200))
    try {
      const answer = await fetch(address, { signal: mine.signal, headers: { accept: 'text/html' } })
      if (!answer.ok || answer.redirected) return
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      if (mine.signal.aborted || document.activeElement !== input) return
      const options = Array.from(page.querySelectorAll('[data-found] input[name=chosen]'), (radio, at) => {
        const option = Object.assign(document.createElement('li'), { id: `offered-${at}`, role: 'option', ariaSelected: 'false' }) // prettier-ignore
        const text = radio.parentElement?.querySelector('span')
        option.dataset.value = `#${radio.getAttribute('value')} · ${text?.querySelector('bdi')?.textContent ?? ''}`
        if (text) option.append(...Array.from(text.childNodes, (node) => document.importNode(node, true)))
        return option
      })
      chosen = -1
      input.removeAttribute('aria-activedescendant')
      list.ariaLabel = page.querySelector('[data-found] legend')?.textContent ?? ''
      list.replaceChildren(...options)
      open(input, options.length > 0)
      if (said) said.textContent = page.querySelector('[data-offered]')?.textContent ?? ''
    } catch {
      // Cancelled by what was typed since, or offline: the form still works
    }
  }

  /** @param {HTMLInputElement} input @param {boolean} isOpen */
  function open(input, isOpen) {
    list.hidden = !isOpen
    input.ariaExpanded = String(isOpen)
    if (isOpen) return
    chosen = -1
    input.removeAttribute('aria-activedescendant')
  }

  /** @param {HTMLInputElement} input @param {number} to */
  function choose(input, to) {
    chosen = (to + list.children.length) % list.children.length
    for (const [at, option] of Array.from(list.children).entries()) option.ariaSelected = String(at === chosen)
    list.children[chosen]?.scrollIntoView({ block: 'nearest' })
    input.setAttribute('aria-activedescendant', `offered-${chosen}`)
  }

  /** @param {HTMLInputElement} input @param {Element | null | undefined} option */
  function take(input, option) {
    if (option instanceof HTMLElement) input.value = option.dataset.value ?? ''
    close(input)
    if (said) said.textContent = input.value
  }

  /** @param {HTMLInputElement} input */
  function close(input) {
    clearTimeout(timer)
    pending?.abort()
    open(input, false)
  }

  /** @param {HTMLInputElement} input */
  function begin(input) {
    input.after(list)
    input.role = 'combobox'
    input.autocomplete = 'off'
    input.setAttribute('aria-autocomplete', 'list')
    input.setAttribute('aria-controls', list.id)
    open(input, false)
    input.addEventListener('input', () => {
      const text = input.value.trim()
      clearTimeout(timer)
      if (isSearch(text)) timer = setTimeout(() => void look(input, text), WAIT_MS)
      else {
        close(input)
        if (said) said.textContent = ''
      }
    })
    input.addEventListener('keydown', (event) => {
      if (list.hidden || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === 'ArrowDown') choose(input, chosen + 1)
      else if (event.key === 'ArrowUp') choose(input, chosen < 0 ? -1 : chosen - 1)
      else if (event.key === 'Enter' && chosen >= 0) take(input, list.children[chosen])
      else if (event.key === 'Escape') close(input)
      else return
      event.preventDefault()
      event.stopPropagation()
    })
    list.addEventListener('pointerdown', (event) => {
      event.preventDefault() // the field keeps the focus
      take(input, event.target instanceof Element ? event.target.closest('li') : undefined)
    })
    input.addEventListener('blur', () => close(input))
  }

  if (field instanceof HTMLInputElement) begin(field)
}
