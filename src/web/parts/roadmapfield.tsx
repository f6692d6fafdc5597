import type { View } from '../kit/page.js'
import { Choice } from './form.js'
import type { Choices } from './lists.js'

/** Where a post stands, or nowhere. A site without roadmaps has no such field. */
export const RoadmapField = ({
  view,
  roadmaps,
  value,
}: {
  view: View
  roadmaps: Choices<{ name: string; url: string }>
  value: string | undefined
}) =>
  roadmaps.rows.length === 0 ? null : (
    <Choice
      view={view}
      name="roadmapId"
      label={view.t('filter.roadmap')}
      value={value}
      options={[
        { value: '', text: view.t('post.noRoadmap') },
        ...roadmaps.rows.map(({ name, url }) => ({ value: url, text: name })),
      ]}
    />
  )
