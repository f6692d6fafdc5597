// Votes, without leaving the page.
document.addEventListener('submit', (event) => void vote(event))

/** @param {SubmitEvent} event */
async function vote(event) {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || form.dataset.vote === undefined) return
  event.preventDefault()
  const button = form.querySelector('button')
  if (!button || button.ariaBusy === 'true') return
  button.ariaBusy = 'true'
  const isVoted = button.getAttribute('aria-pressed') === 'true'
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(),
    })
    if (!response.ok) return form.submit() // to the page that says what to do: sign in, above all
    const { votes, count: said } = await response.json()
    button.setAttribute('aria-pressed', String(!isVoted))
    const count = form.querySelector('[data-count]')
    if (count && votes !== undefined) {
      button.ariaLabel = (form.dataset.label ?? '').replace('{votes}', () => said)
      count.textContent = votes
    }
    form.action = `${form.dataset.vote}/${isVoted ? 'vote' : 'unvote'}`
  } catch {
    form.submit()
  } finally {
    button.ariaBusy = null
  }
}
