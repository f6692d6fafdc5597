// Markdown by buttons, by keys, and in lists that go on with Enter. Without this file it is typed.

const isMac = /mac|iphone|ipad/i.test(navigator.platform)
/** @type {Record<string, string>} */
const KEYS = { b: 'bold', i: 'italic', k: 'link' }
/** What a line begins with: quotes, and the mark of a list. */
const LEAD = /^(\s{0,12}(?:> ?)*)(?:([-*+]|(\d{1,8})([.)])) +(\[[ xX]\] )?)?/

// Here and not with the other styles: few pages need them
const barStyle = new CSSStyleSheet()
barStyle.replaceSync(`
  .bar {
    display: flex;
    flex-wrap: wrap;
    padding: 2px;
    border: 1px solid var(--edge);
    border-top: 0;
    border-radius: 0 0 var(--round) var(--round);
    background: var(--raised);
  }
  /* One ring around the text and its bar; forced colours show the outline */
  textarea.barred:focus-visible {
    outline: 3px solid transparent;
    border-color: var(--accent);
    border-bottom-color: var(--line);
    border-radius: var(--round) var(--round) 0 0;
    box-shadow: inset 0 2px var(--accent), inset 2px 0 var(--accent), inset -2px 0 var(--accent);
  }
  textarea.barred:focus-visible + .bar {
    border-color: var(--accent);
    box-shadow: inset 0 -2px var(--accent), inset 2px 0 var(--accent), inset -2px 0 var(--accent);
  }
  textarea.barred {
    display: block;
    border-radius: var(--round) var(--round) 0 0;
  }
  .bar button {
    display: grid;
    place-items: center;
    min-width: 2.25rem;
    min-height: 2.25rem;
    padding: 0;
    border: 0;
    border-radius: var(--1);
    background: none;
    color: var(--soft);
    font: inherit;
    cursor: pointer;
  }
  .bar button:hover {
    background: var(--line);
    color: var(--ink);
  }
  .bar:dir(rtl) :is([data-md='list'], [data-md='quote']) {
    scale: -1 1;
  }
  @media (pointer: coarse) {
    .bar button {
      min-width: var(--hit);
      min-height: var(--hit);
    }
  }
`)
document.adoptedStyleSheets.push(barStyle)

/** The page about Markdown has a row for each button: its name, its icon and its key. @type {HTMLElement | undefined} */
let bar

async function loadBar() {
  const link = document.querySelector('a[data-script]')
  if (!(link instanceof HTMLAnchorElement)) return
  const response = await fetch(link.href, { headers: { accept: 'text/html' } })
  if (!response.ok) return
  const page = new DOMParser().parseFromString(await response.text(), 'text/html')
  bar = Object.assign(document.createElement('div'), { className: 'bar', role: 'toolbar' })
  bar.ariaLabel = page.querySelector('h1')?.textContent ?? ''
  for (const [index, row] of page.querySelectorAll('tr[data-md]').entries()) {
    const button = Object.assign(document.createElement('button'), { type: 'button', tabIndex: index === 0 ? 0 : -1 })
    const [name, icon] = [row.querySelector('[data-name]')?.textContent ?? '', row.querySelector('svg')]
    const key = row.querySelector('kbd')
    button.dataset.md = row.getAttribute('data-md') ?? ''
    button.title = button.ariaLabel = key ? `${name} (${isMac ? `⌘${key.dataset.key}` : key.textContent})` : name
    if (icon) button.append(document.importNode(icon, true))
    bar.append(button)
  }
  show(document.activeElement)
}

/** Puts the buttons below a text that is written. What stands above it must not move. @param {EventTarget | null} target */
function show(target) {
  if (!bar || !isEdited(target) || target.classList.contains('barred')) return
  const own = document.importNode(bar, true)
  own.setAttribute('aria-controls', target.id)
  target.classList.add('barred')
  target.after(own)
}

/** @param {EventTarget | null} target @returns {target is HTMLTextAreaElement} */
const isEdited = (target) => target instanceof HTMLTextAreaElement && target.closest('.post-form, .comment-form, form:has(a[data-script])') !== null // prettier-ignore

/**
 * Puts a text in place of a part, as if it were typed: Ctrl+Z takes it back.
 * @param {HTMLTextAreaElement} area @param {number} from @param {number} to @param {string} text
 */
function put(area, from, to, text) {
  area.focus()
  area.setSelectionRange(from, to)
  if (from === to && text === '') return true
  // The only way that browsers undo. They call it deprecated, and have no other.
  if (document.execCommand(text === '' ? 'delete' : 'insertText', false, text)) return true
  area.setRangeText(text, from, to, 'end')
  area.dispatchEvent(new InputEvent('input', { bubbles: true }))
  return true
}

/** Whether a run of stars or backticks has this mark in it: three stars are bold and italic. @param {string} run @param {string} mark */
const has = (run, mark) => run.startsWith(mark) && (mark === '**' || run.length !== 2)
/** @param {string} text */
const runBefore = (text) => /(\*+|`+)$/.exec(text)?.[0] ?? ''
/** @param {string} text */
const runAfter = (text) => /^(\*+|`+)/.exec(text)?.[0] ?? ''

/**
 * Around the selection, or away from around it. Marks end with their line.
 * @param {HTMLTextAreaElement} area @param {string} mark
 */
function wrap(area, mark) {
  const { value, selectionStart: from, selectionEnd: to } = area
  const [inside, size] = [value.slice(from, to), mark.length]
  if (mark === '`' && inside.includes('\n')) return fence(area, inside)
  if (has(runBefore(value.slice(0, from)), mark) && has(runAfter(value.slice(to)), mark)) {
    if (put(area, from - size, to + size, inside)) area.setSelectionRange(from - size, to - size)
    return
  }
  const lines = inside.split('\n').map((line, index) => {
    const isWhole = index > 0 || from === 0 || value[from - 1] === '\n'
    const lead = isWhole ? (LEAD.exec(line)?.[0] ?? '') : ''
    const [, before = '', text = '', after = ''] = /^(\s*)(.*?)(\s*)$/.exec(line.slice(lead.length)) ?? []
    return { before: lead + before, text, after }
  })
  const texts = lines.flatMap(({ text }) => text || [])
  const isMarked = texts.length > 0 && texts.every((text) => text.length > 2 * size && has(runAfter(text), mark) && has(runBefore(text), mark)) // prettier-ignore
  const made = lines.map(({ before, text, after }) => {
    if (text === '' && lines.length > 1) return before + after
    return before + (isMarked ? text.slice(size, -size) : mark + text + mark) + after
  })
  if (!put(area, from, to, made.join('\n'))) return
  if (lines.length > 1) return area.setSelectionRange(from, from + made.join('\n').length)
  const [{ before, text } = { before: '', text: '' }] = lines
  const start = from + before.length + (isMarked ? 0 : size)
  area.setSelectionRange(start, start + text.length - (isMarked ? 2 * size : 0))
}

/** Lines of code. @param {HTMLTextAreaElement} area @param {string} inside */
function fence(area, inside) {
  const { value, selectionStart: from, selectionEnd: to } = area
  const ticks = '`'.repeat(Math.max(3, ...Array.from(inside.matchAll(/`+/g), ([run]) => run.length + 1)))
  const [before, after] = [from === 0 || value[from - 1] === '\n' ? '' : '\n', to === value.length || value[to] === '\n' ? '' : '\n'] // prettier-ignore
  put(area, from, to, `${before}${ticks}\n${inside.replace(/\n$/, '')}\n${ticks}${after}`)
}

/** @param {HTMLTextAreaElement} area */
function link(area) {
  const { value, selectionStart: from, selectionEnd: to } = area
  const inside = value.slice(from, to)
  const isAddress = /^https?:\/\/\S+$/.test(inside)
  const [text, address] = isAddress ? ['', inside] : [inside, 'https://']
  if (!put(area, from, to, `[${text}](${address})`)) return
  const start = from + text.length + 3
  if (text === '') area.setSelectionRange(from + 1, from + 1)
  else area.setSelectionRange(start, start + address.length)
}

/**
 * At the start of each line of the selection, or away from there.
 * @param {HTMLTextAreaElement} area @param {string} mark
 */
function begin(area, mark) {
  const { value, selectionStart, selectionEnd } = area
  const from = value.slice(0, selectionStart).lastIndexOf('\n') + 1
  const end = value.indexOf('\n', Math.max(selectionStart, selectionEnd - 1))
  const to = end < 0 ? value.length : end
  const lines = value.slice(from, to).split('\n')
  const isTaken = (/** @type {string} */ line) => line.trim() !== '' || lines.length === 1
  const isMarked = lines.filter(isTaken).every((line) => line.startsWith(mark))
  const text = lines.map((line) => (isTaken(line) ? (isMarked ? line.slice(mark.length) : mark + line) : line)).join('\n') // prettier-ignore
  if (!put(area, from, to, text)) return
  const at = Math.max(from, selectionStart + (isMarked ? -mark.length : mark.length))
  if (selectionStart === selectionEnd) area.setSelectionRange(at, at)
  else area.setSelectionRange(from, from + text.length)
}

/** @type {Record<string, (area: HTMLTextAreaElement) => void>} */
const ACTIONS = {
  bold: (area) => wrap(area, '**'),
  italic: (area) => wrap(area, '*'),
  code: (area) => wrap(area, '`'),
  link,
  list: (area) => begin(area, '- '),
  quote: (area) => begin(area, '> '),
}

document.addEventListener('focusin', ({ target }) => show(target))
document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('.bar button') : null
  const area = document.getElementById(button?.parentElement?.getAttribute('aria-controls') ?? '')
  if (!(button instanceof HTMLElement) || !(area instanceof HTMLTextAreaElement)) return
  select(button)
  ACTIONS[button.dataset.md ?? '']?.(area)
})

/** The next line of a list or a quote. On an empty one it ends. @param {HTMLTextAreaElement} area */
function goOn(area) {
  const { value, selectionStart: at, selectionEnd } = area
  const from = value.slice(0, at).lastIndexOf('\n') + 1
  const [lead = '', start = '', bullet, number, dot, box] = LEAD.exec(value.slice(from, at)) ?? []
  if (at !== selectionEnd || (bullet === undefined && !start.includes('>'))) return false
  if (value.slice(from + lead.length, at).trim() === '') {
    if (/^[^\n]*\S/.test(value.slice(at))) return false
    return put(area, from, at, '')
  }
  const next = number === undefined ? bullet : `${Number(number) + 1}${dot}`
  return put(area, at, at, `\n${start}${next === undefined ? '' : `${next} `}${box ? '[ ] ' : ''}`)
}

let isShifted = false
document.addEventListener('keydown', (event) => {
  const { target, key, code, ctrlKey, metaKey, altKey, shiftKey } = event
  isShifted = shiftKey
  if (event.defaultPrevented || event.isComposing || altKey || shiftKey) return
  if (target instanceof HTMLElement && target.matches('.bar button')) return move(event, target)
  const what =
    ctrlKey !== metaKey && metaKey === isMac
      ? KEYS[(/^[a-z]$/i.test(key) ? key : code.slice('Key'.length)).toLowerCase()]
      : undefined // keyboards of other scripts
  if (what === undefined || !isEdited(target)) return
  event.preventDefault()
  ACTIONS[what]?.(target)
})

// Not the key: keyboards of telephones name none, and Enter also chooses a word that is composed.
document.addEventListener('beforeinput', (event) => {
  const { target, inputType, isComposing } = event
  if (inputType !== 'insertLineBreak' || isComposing || isShifted || !isEdited(target)) return
  if (goOn(target)) event.preventDefault()
})

/** Arrows lead from button to button. @param {KeyboardEvent} event @param {HTMLElement} button */
function move(event, button) {
  const buttons = Array.from(button.parentElement?.querySelectorAll('button') ?? [])
  const at = buttons.findIndex((each) => each === button)
  const ahead = button.matches(':dir(rtl)') ? -1 : 1
  /** @type {Record<string, number>} */
  const places = { ArrowLeft: at - ahead, ArrowRight: at + ahead, Home: 0, End: -1 }
  const place = places[event.key]
  const next = place === undefined || event.ctrlKey || event.metaKey ? undefined : buttons.at(place % buttons.length)
  if (!next) return
  event.preventDefault()
  select(next)
  next.focus()
}

/** It is the one that the tab key comes to. @param {HTMLElement} button */
function select(button) {
  for (const each of button.parentElement?.querySelectorAll('button') ?? []) each.tabIndex = each === button ? 0 : -1
}

// Choosing a board fills in its template for new posts, unless somebody has written a text of their own.
let template = new URLSearchParams(location.search).has('board') ? textOf(document)?.defaultValue : ''

/** The text of the form for a new post. @param {ParentNode} root */
function textOf(root) {
  const text = root.querySelector('#post-form[action$="/posts/new"] textarea[name=contentMarkdown]')
  return text instanceof HTMLTextAreaElement ? text : undefined
}

document.addEventListener('change', ({ target }) => {
  const text = textOf(document)
  if (!text || !(target instanceof HTMLSelectElement) || target.name !== 'boardId') return
  if (text.value === '' || text.value === template) fillIn(text, target).catch(() => undefined) // offline
})

/** @param {HTMLTextAreaElement} text @param {HTMLSelectElement} boards */
async function fillIn(text, boards) {
  const board = boards.value
  const address = new URL(text.form?.action ?? '', location.href)
  address.searchParams.set('board', board)
  const page = await fetch(address, { headers: { accept: 'text/html' } }).then((answer) => answer.text())
  const other = textOf(new DOMParser().parseFromString(page, 'text/html'))?.defaultValue
  if (other === undefined || boards.value !== board || (text.value !== '' && text.value !== template)) return
  text.value = template = other
}

void loadBar().catch(() => undefined) // without the page there are no buttons; the keys still work
