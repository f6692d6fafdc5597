/** Null where the browser allows none. @param {'localStorage' | 'sessionStorage'} name */
function storage(name) {
  try {
    return globalThis[name]
  } catch {
    return null
  }
}

/** Tells the other windows of the site. */
const others = storage('localStorage')

// Votes, without leaving the page.
document.addEventListener('submit', (event) => void vote(event))

/** The forms of a post lead to its address, and on. @param {HTMLFormElement} form */
const postOf = (form) => form.action.replace(/\/(un)?vote$/, '')

/** @param {ParentNode} root */
const voteForms = (root) => root.querySelectorAll(/** @type {'form'} */ ('form.vote'))

/** @param {SubmitEvent} event */
async function vote(event) {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || !form.matches('.vote')) return
  const isVisitor = form.dataset.vote === undefined
  if (isVisitor && navigator.onLine) return
  event.preventDefault()
  // The form of a visitor leads to the sign-in, and without a connection to a page of the browser
  if (isVisitor)
    return fetch(location.href, { method: 'HEAD', cache: 'no-store' }).then(() => form.submit(), unreachable)
  const button = form.querySelector('button')
  if (!button || button.ariaBusy === 'true') return
  const before = button.getAttribute('aria-pressed') ?? 'false'
  button.ariaBusy = 'true'
  button.setAttribute('aria-pressed', String(before === 'false')) // at once; taken back where it fails
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(),
    })
    if (!response.ok) return form.submit() // to the page that says what to do: sign in, above all
    showVote(form, await response.json())
    document.querySelector('.flash')?.remove() // it may say the opposite
    tellOthers()
    if (document.querySelector('[data-live=voters]')) await refresh()
  } catch {
    button.setAttribute('aria-pressed', before)
    unreachable()
  } finally {
    button.ariaBusy = null
  }
}

const unreachable = () => tell(main?.dataset.unreachable)

/** @param {HTMLFormElement} voted @param {{ isVoted: boolean, votes: string, count: string }} now */
function showVote(voted, { isVoted, votes, count: said }) {
  for (const form of voteForms(document)) {
    if (postOf(form) !== postOf(voted)) continue
    const [button, count] = [form.querySelector('button'), form.querySelector('[data-count]')]
    button?.setAttribute('aria-pressed', String(isVoted))
    button?.setAttribute(
      'aria-label',
      (form.dataset.label ?? '').replace('{votes}', () => said),
    )
    if (count) count.textContent = votes
    if (form !== voted) form.action = `${form.dataset.vote}/${isVoted ? 'unvote' : 'vote'}`
  }
  voted.action = `${voted.dataset.vote}/${isVoted ? 'unvote' : 'vote'}`
}

/** Shows votes, and the parts of the page that others change too, as they are now. */
async function refresh() {
  const page = await pageOf(here, { cache: 'no-cache' }).catch(() => null)
  if (!page) return
  const now = new Map(Array.from(voteForms(page), (form) => [postOf(form), form]))
  for (const form of voteForms(document)) {
    const [fresh, button] = [now.get(postOf(form)), form.querySelector('button')]
    const other = fresh?.querySelector('button')
    if (!fresh || !button || !other || button.ariaBusy === 'true') continue
    form.action = fresh.action
    for (const name of ['aria-pressed', 'aria-label']) button.setAttribute(name, other.getAttribute(name) ?? '')
    replaceContent(button, other)
  }
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-live]'))) {
    const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`)
    // What somebody has opened or is at stays
    if (!fresh || part.querySelector('details[open], :focus:not(a)')) continue
    const link = part.querySelector('a:focus')?.getAttribute('href')
    replaceContent(part, fresh)
    showAges(part)
    restoreDrafts(part)
    for (const each of part.querySelectorAll('a'))
      if (each.getAttribute('href') === link) each.focus({ preventScroll: true })
  }
}

/** @param {Element} old @param {Element} fresh */
const replaceContent = (old, fresh) =>
  old.replaceChildren(...Array.from(fresh.childNodes, (node) => document.importNode(node, true)))

// A page that comes back is as it was left, and so is one in another window.
addEventListener('pageshow', ({ persisted }) => {
  const [way] = performance.getEntriesByType('navigation')
  if (persisted || (way instanceof PerformanceNavigationTiming && way.type === 'back_forward')) void refresh()
})
addEventListener('storage', ({ key }) => {
  if (key === 'changed') void refresh()
})
const tellOthers = () => others?.setItem('changed', `${performance.timeOrigin + performance.now()}`)
if (justDone !== null) tellOthers()
