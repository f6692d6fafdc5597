// How far an import or a backup is. Without this file the page loads itself again.

const EVERY_MS = 1000

const part = () => document.querySelector('[data-progress="busy"]')

async function look() {
  const answer = await fetch(location.pathname, { headers: { accept: 'text/html' } }).catch(() => undefined) // offline: the next time
  if (!answer || answer.status >= 500) return setTimeout(look, EVERY_MS)
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  const [old, next] = [part(), page.querySelector('[data-progress="busy"]')]
  if (!old || !next || answer.redirected) return location.replace(location.pathname) // it is over, or somebody has signed out
  // The button keeps its focus
  for (const place of ['[role=status]', 'table']) {
    const [before, after] = [old.querySelector(place), next.querySelector(place)]
    if (before && after && before.outerHTML !== after.outerHTML) before.replaceChildren(...after.childNodes)
    else if (!before && after) old.querySelector('[role=status]')?.after(document.importNode(after, true))
  }
  setTimeout(look, EVERY_MS)
}

if (part()) setTimeout(look, EVERY_MS)
