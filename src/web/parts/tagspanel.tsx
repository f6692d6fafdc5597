import { links } from '../../core/pagelinks.js'
import type { Post } from '../../service/lib/postshapes.js'
import type { View } from '../kit/page.js'
import { TagChip, Tags } from './chip.js'
import { Form, Hidden, Submit } from './form.js'

interface PanelProps {
  view: View
  post: Pick<Post, 'tags'>
  /** The tags of the site, for those who may change the tags of a post. */
  tags: readonly { name: string; url: string }[] | undefined
  /** Where its forms lead. */
  to: string
}

/** The tags of a post, each with a button that takes it off, and a field for another one. */
export function TagsPanel({ view, post, tags, to }: PanelProps) {
  const { t } = view
  const own = post.tags ?? []
  const others = tags?.filter(({ url }) => !own.some((tag) => tag.url === url)) ?? []
  if (own.length === 0 && others.length === 0) return null
  return (
    <section>
      <h2 id="tags">{t('tag.label')}</h2>
      {tags === undefined ? <Tags view={view} tags={own} to={links.teamTag} /> : null}
      {tags === undefined || own.length === 0 ? null : (
        <ul class="outcomes">
          {own.map((tag) => (
            <li>
              <TagChip view={view} tag={tag} to={links.teamTag} />
              <Form view={view} to={to}>
                <Hidden name="remove" value={tag.url} />
                <button type="submit" class="link" aria-label={t('teamPost.removeTag', { name: tag.name })}>
                  {t('user.remove')}
                </button>
              </Form>
            </li>
          ))}
        </ul>
      )}
      {others.length === 0 ? null : (
        <Form view={view} to={to} class="buttons">
          <select id="field-add" name="add" aria-label={t('tag.choose')} data-key="t">
            <option value="">{t('tag.choose')}</option>
            {others.map(({ name, url }) => (
              <option value={url}>{name}</option>
            ))}
          </select>
          <Submit kind="plain">{t('posts.addTag')}</Submit>
        </Form>
      )}
    </section>
  )
}
