import { links } from '../../core/pagelinks.js'
import { findPath } from '../../service/imports.js'
import type { View } from '../kit/page.js'

/** Where the post is now that had this path where it was imported from. */
export async function moved(view: View): Promise<string | undefined> {
  if (view.path === '/') return undefined
  const { post } = await view.call(findPath, { path: view.path })
  return links.post(post.slug)
}
