import type { Text } from '../../core/markdown/index.js'
import { links } from '../../core/pagelinks.js'
import type { Merged } from '../../service/merges.js'
import { isolated } from '../kit/bidi.js'
import type { View } from '../kit/page.js'
import { Form, Hidden } from './form.js'
import { nameOf, PersonLink } from './person.js'
import { Time } from './time.js'

/** Posts that a page of a post names with their texts. Those that were merged before them are in the API. */
export const MERGED = 20

/** Headings in the text of a merged post are below its title. */
export const textOf = ({ contentMarkdown }: Merged): Text => ({ markdown: contentMarkdown ?? '', level: 3 })

/** What was merged into a post, in the words of those who wrote it. */
export const MergedPosts = ({
  view,
  slug,
  merged,
  count,
}: {
  view: View
  slug: string
  merged: readonly Merged[]
  count: number
}) =>
  merged.length === 0 ? null : (
    <details class="history">
      <summary>{view.t('merged.title', { count })}</summary>
      <ol>
        {merged.map((each) => (
          <li>
            <Time view={view} at={each.merged_at} />
            <div>
              <p class="facts">
                <strong>
                  <bdi>{each.title}</bdi>
                </strong>
                <PersonLink view={view} person={each.author} />
                <span>#{each.number}</span>
                {each.merged_by ? (
                  <span>{view.t('merged.by', { name: isolated(nameOf(view, each.merged_by)) })}</span>
                ) : null}
              </p>
              {each.contentMarkdown ? (
                <div class="prose" dir="auto" dangerouslySetInnerHTML={{ __html: view.html(textOf(each)) }} />
              ) : null}
              {view.can('post:update') ? (
                <Form view={view} to={`${links.post(slug)}/unmerge`}>
                  <Hidden name="ids" value={each.postId} />
                  <button type="submit" class="link">
                    {view.t('action.unmerge')}
                  </button>
                </Form>
              ) : null}
            </div>
          </li>
        ))}
      </ol>
    </details>
  )
