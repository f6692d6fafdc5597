import { links } from '../../core/pagelinks.js'
import type * as service from '../../service/users.js'
import { tag } from '../../service/usertags.js'
import { list } from '../../service/users.js'
import type { View } from '../kit/page.js'
import { Field, Form, Hidden, Submit } from '../parts/form.js'

interface TagsProps {
  view: View
  user: Pick<Awaited<ReturnType<typeof service.show.run>>['user'], 'tags'>
  /** Where its forms lead. */
  to: string
}

/** What the team calls a person, each with a button that takes it away, and a field for more. */
export function PersonTags({ view, user: { tags }, to }: TagsProps) {
  const { t } = view
  const isEditor = view.may(tag)
  if (tags.length === 0 && !isEditor) return null
  return (
    <section>
      <h2>{t('tag.label')}</h2>
      <ul class="outcomes">
        {tags.map((name) => (
          <li>
            {view.may(list) ? (
              <a href={view.href(links.peopleWithTag(name))}>
                <bdi>{name}</bdi>
              </a>
            ) : (
              <bdi>{name}</bdi>
            )}
            {isEditor ? (
              <Form view={view} to={to}>
                <Hidden name="remove" value={name} />
                <button type="submit" class="link" aria-label={t('teamPost.removeTag', { name })}>
                  {t('user.remove')}
                </button>
              </Form>
            ) : null}
          </li>
        ))}
      </ul>
      {isEditor ? (
        <Form view={view} to={to}>
          <Field
            view={view}
            of={tag}
            name="add"
            label={t('posts.addTag')}
            hint={t('user.tagsHint')}
            required
            autocomplete="off"
          />
          <Submit kind="plain">{t('posts.addTag')}</Submit>
        </Form>
      ) : null}
    </section>
  )
}
