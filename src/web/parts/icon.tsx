/** Drawn in the colour of the text around them. Each stands beside words, so screen readers skip it. */
const PATHS = {
  up: 'M12 6l7 9H5z',
  dashboard: 'M4 4h7v9H4zm9 0h7v5h-7zm0 7h7v9h-7zm-9 4h7v5H4z',
  comment: 'M4 5h16v11H10l-4 4v-4H4z',
  bell: 'M12 3a5.5 5.5 0 0 0-5.5 5.5c0 4.5-1.2 5.7-2.5 7V17h16v-1.5c-1.3-1.3-2.5-2.5-2.5-7A5.5 5.5 0 0 0 12 3zm-2 15a2 2 0 0 0 4 0z',
  leave: 'M4 4h9v2H6v12h7v2H4zm11 4l5 4-5 4v-3H9v-2h6z',
  lock: 'M7 11V8a5 5 0 0 1 10 0v3h1v9H6v-9zm2 0h6V8a3 3 0 0 0-6 0z',
  megaphone: 'M4 10v4h3l8 5V5l-8 5zm13-2a5 5 0 0 1 0 8z',
  check: 'M9.5 18.5l-6-6 2-2 4 4 9-9 2 2z',
  search: 'M10 4a6 6 0 1 0 3.6 10.8l4.8 4.8 1.4-1.4-4.8-4.8A6 6 0 0 0 10 4zm0 2a4 4 0 1 1 0 8 4 4 0 0 1 0-8z',
  feed: 'M5 4a15 15 0 0 1 15 15h-3A12 12 0 0 0 5 7zm0 6a9 9 0 0 1 9 9h-3a6 6 0 0 0-6-6zm2 5a2 2 0 1 1 0 4 2 2 0 0 1 0-4z',
  bold: 'M7 4h6a4.5 4.5 0 0 1 3 7.8A4.5 4.5 0 0 1 13.5 20H7zm3 3v3.5h3a1.7 1.7 0 0 0 0-3.5zm0 6.2V17h3.3a1.9 1.9 0 0 0 0-3.8z',
  italic: 'M10 4h9v2.5h-3.3L11.9 17.5H15V20H5v-2.5h3.6l3.8-11H10z',
  code: 'M8.5 6l1.7 1.7L5.9 12l4.3 4.3L8.5 18l-6-6zm7 0l6 6-6 6-1.7-1.7 4.3-4.3-4.3-4.3z',
  link: 'M10 7v2H7a3 3 0 0 0 0 6h3v2H7A5 5 0 0 1 7 7zm4 0h3a5 5 0 0 1 0 10h-3v-2h3a3 3 0 0 0 0-6h-3zm-6 4h8v2H8z',
  list: 'M4 5h3v3H4zm5 .5h11v2H9zM4 10.5h3v3H4zm5 .5h11v2H9zM4 16h3v3H4zm5 .5h11v2H9z',
  quote: 'M4 6h7v7l-3 5H5l2-5H4zm9 0h7v7l-3 5h-3l2-5h-3z',
} as const

export const Icon = ({ name }: { name: keyof typeof PATHS }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
