import { action } from '../kit/page.js'

/** Takes images that a script sends while their text is written. Answers with the Markdown that shows them. */
export const upload = action({
  operation: null,
  images: 'markdown',
  input: () => ({}),
  done: (_view, _output, { markdown = '' }) => ({ to: '/', json: { markdown } }),
})
