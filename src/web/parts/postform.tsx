import type { TObject } from 'typebox'
import type { Lock } from '../../core/boardrules.js'
import { links } from '../../core/pagelinks.js'
import type { SimilarReason } from '../../service/lib/similarreasons.js'
import type { Post } from '../../service/lib/postshapes.js'
import type { Choices } from './lists.js'
import type { View } from '../kit/page.js'
import { cameFrom } from '../kit/addresses.js'
import { TellNobody } from './audience.js'
import { BoardField } from './boardfield.js'
import { Field, Form, Hidden, Submit } from './form.js'
import { ImageField } from './imagefield.js'
import { MarkdownField } from './markdownfield.js'
import { mentionsIn } from './mentions.js'
import { NameField } from './namefield.js'
import { PostList } from './postlist.js'
import { Preview, PreviewButton, previewOf } from './preview.js'
import { Refused } from './refused.js'
import { PostRules } from './postrules.js'
import { RoadmapField } from './roadmapfield.js'
import { SignInNext } from './signinnext.js'

interface Named {
  name: string
  url: string
}

interface PostFormProps {
  view: View
  to: string
  of: { id: string; input: TObject }
  boards: Choices<Named>
  roadmaps?: Choices<Named>
  values?: {
    title?: string | undefined
    contentMarkdown?: string
    boardId?: string | undefined
    roadmapId?: string | undefined
    /** For those who may change them. */
    pinned?: boolean
    locked?: Lock
  }
  /** The post that is edited. Undefined: a new one. */
  slug?: string
  /** Posts like it. Undefined: they are not looked for. */
  similar?: { posts: readonly Post[]; reasons?: readonly SimilarReason[] }
  /** Whether they have been shown, so that the next step writes the post. */
  isChecked?: boolean
  /** Last change of the post when the form was rendered; detects concurrent edits. */
  version?: string
  submit: string
  cancel?: string
}

/** The form of a post, new or edited: the title first, because similar posts are found by it. */
export function PostForm({
  view,
  to,
  of,
  boards,
  roadmaps,
  values = {},
  slug,
  similar,
  isChecked,
  version,
  submit,
  cancel,
}: PostFormProps) {
  const { t } = view
  return (
    <Form view={view} to={to} class="post-form" id="post-form" takesFiles>
      {/* Enter presses the first button of a form: this one, and not a vote */}
      <button type="submit" class="hidden" tabIndex={-1} aria-hidden="true" />
      {isChecked ? <Hidden name="checked" value="yes" /> : null}
      <Refused view={view} of={of} />
      <Hidden name="to" value={cameFrom(view)} />
      <Hidden name="ifUpdatedAt" value={version} />
      <Field
        view={view}
        of={of}
        name="title"
        label={t('post.title')}
        required
        autocomplete="off"
        value={values.title}
        {...(similar && { data: { similar: view.href('/posts/similar') } })}
      />
      {similar ? (
        <section id="similar" class="similar" aria-live="polite" hidden={similar.posts.length === 0}>
          <h2>{t('similar.title')}</h2>
          {isChecked ? null : <p class="soft">{t('similar.explained')}</p>}
          <div data-list="">
            {similar.posts.length > 0 ? <PostList view={view} {...similar} isShort isInForm /> : null}
          </div>
        </section>
      ) : null}
      <MarkdownField
        view={view}
        of={of}
        name="contentMarkdown"
        label={t('post.text')}
        rows={8}
        value={values.contentMarkdown}
        data={mentionsIn(view, slug === undefined ? links.team : links.people(slug))}
      />
      <ImageField view={view} />
      <Preview view={view} text={previewOf(view, 'contentMarkdown')[0]} />
      <BoardField view={view} boards={boards} value={values.boardId} />
      {similar ? <NameField view={view} /> : null}
      {roadmaps ? <RoadmapField view={view} roadmaps={roadmaps} value={values.roadmapId} /> : null}
      {roadmaps && roadmaps.rows.length > 0 ? <TellNobody view={view} /> : null}
      {values.locked === undefined ? null : <PostRules view={view} pinned={values.pinned} locked={values.locked} />}
      <div class="buttons">
        <Submit>{submit}</Submit>
        <PreviewButton view={view} mayBeUnfinished />
        {cancel === undefined ? null : (
          <a class="button plain" href={view.href(cancel)}>
            {t('form.cancel')}
          </a>
        )}
        <SignInNext view={view} />
      </div>
    </Form>
  )
}
