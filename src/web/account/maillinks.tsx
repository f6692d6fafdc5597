import * as service from '../../service/maillinks.js'
import { withQuery } from '../kit/addresses.js'
import { isolated } from '../kit/bidi.js'
import { action, page, type View } from '../kit/page.js'
import { Empty } from '../parts/empty.js'
import { tokenOf } from './mailtokens.js'
import { Form, Hidden, Submit, Summary } from '../parts/form.js'
import { ChoiceFields, choicesIn } from '../parts/notificationways.js'

const PATH = '/notifications/mail'

/** The post that the mail was about. */
const postOf = ({ query, form }: View): string => form.values.about ?? query.post ?? ''

/** The same page again. */
const again = (view: View) => withQuery(PATH, { token: tokenOf(view), post: postOf(view) || undefined })

/** What its forms have beside their fields. */
const Link = ({ view }: { view: View }) => (
  <>
    <Hidden name="token" value={tokenOf(view)} />
    {/* Not `post`, which says how one is told of new posts */}
    <Hidden name="about" value={postOf(view)} />
  </>
)

/** What a mail leads to, without signing in. To open it changes nothing: programs that scan mails follow links too. */
export const choices = page({
  cache: 'never',
  isUnlisted: true,
  load: (view) => view.call(service.settingsByKey, { token: tokenOf(view), post: postOf(view) || undefined }),
  title: ({ t }) => t('ways.title'),
  show(view, { email, settings, post }) {
    const { t } = view
    return (
      <div class="narrow wider">
        <h1>{t('ways.title')}</h1>
        <Summary view={view} />
        <section>
          <p>{t('mailLink.of', { email: isolated(email) })}</p>
          <Form view={view} to={`${PATH}/stop`}>
            <Link view={view} />
            <Submit>{t('mailLink.stop')}</Submit>
          </Form>
        </section>
        {post ? (
          <section>
            <Form view={view} to={`${PATH}/unfollow`}>
              <Link view={view} />
              <p>
                {post.title === null
                  ? t('mailLink.aboutNumber', { number: String(post.number) })
                  : t('mailLink.about', { title: isolated(post.title) })}
              </p>
              <Submit kind="plain">{t('mailLink.unfollow')}</Submit>
            </Form>
          </section>
        ) : null}
        <section>
          <h2>{t('mailLink.choose')}</h2>
          <Form view={view} to={PATH}>
            <Link view={view} />
            <ChoiceFields view={view} choices={settings} />
            <Submit kind="plain">{t('form.save')}</Submit>
          </Form>
        </section>
      </div>
    )
  },
})

export const save = action({
  operation: service.updateByKey,
  page: async () => choices,
  input: (_view, form) => ({ token: form.token, ...choicesIn(form) }),
  done: (view) => ({ to: again(view), flash: 'saved' }),
})

export const stop = action({
  operation: service.stopMail,
  input: (_view, { token }) => ({ token }),
  done: (view) => ({ to: again(view), flash: 'mailStopped' }),
})

export const unfollow = action({
  operation: service.unfollowByKey,
  input: (_view, { token, about }) => ({ token, post: about }),
  done: (view) => ({ to: again(view), flash: 'unfollowed' }),
})

/** What a mail program sends where its user presses its own button (RFC 8058). */
export const unsubscribe = action({
  operation: service.stopMail,
  input: ({ query }) => ({ token: query.token }),
  done: (view, { email }) => ({
    to: again(view),
    title: view.t('flash.mailStopped'),
    show: (
      <Empty title={view.t('flash.mailStopped')} isPage>
        <p>{view.t('mailLink.of', { email: isolated(email) })}</p>
        <a class="button plain" href={view.href(again(view))}>
          {view.t('mailLink.choose')}
        </a>
      </Empty>
    ),
  }),
})
