import type { ComponentChildren } from 'preact'
import { excerptCached } from '../../core/markdown/excerpt.js'
import { links } from '../../core/pagelinks.js'
import * as posts from '../../service/posts.js'
import * as service from '../../service/userprofile.js'
import { show } from '../../service/users.js'
import { pageNumber, withQuery } from '../kit/addresses.js'
import { page, Redirect, type View } from '../kit/page.js'
import { Count } from '../parts/count.js'
import { Empty } from '../parts/empty.js'
import { Head } from '../parts/head.js'
import { Icon } from '../parts/icon.js'
import { Pager } from '../parts/pager.js'
import { Avatar, nameOf, TeamMark } from '../parts/person.js'
import { PostList } from '../parts/postlist.js'
import { Time } from '../parts/time.js'

type Profile = service.PublicProfile
type Tab = 'posts' | 'votes' | 'comments'

/** Rows on a page. */
const SIZE = 20

/** The person of the address. A former user name or an id leads to the present address. */
async function profileAt(view: View): Promise<Profile> {
  const { user: given = '' } = view.params
  const { profile } = await view.call(service.publicProfile, { user: given })
  if (profile.user.username === given) return profile
  const to = links.profile(profile.user.username)
  throw new Redirect(
    view.url.replace(/^\/users\/[^/?]+/i, () => to),
    301,
  )
}

/** Where a list of a person is. */
const tabOf = ({ user }: Profile, tab: Tab): string => links.profile(user.username, tab === 'posts' ? undefined : tab)

/** To the last page, where the address names one after it. */
function assertPage(view: View, profile: Profile, tab: Tab, { total_pages: pages }: { total_pages: number }): void {
  if (pageNumber(view) > Math.max(1, pages))
    throw new Redirect(withQuery(tabOf(profile, tab), { page: pages > 1 ? pages : undefined }))
}

const asked = (view: View) => ({ page: pageNumber(view), limit: SIZE })

/** The posts of a person. */
export const profilePosts = page({
  cache: 'actor',
  async load(view) {
    const profile = await profileAt(view)
    if (profile.isHidden) return { profile, list: undefined }
    const list = await view.call(posts.list, { authorId: profile.user.userId, votes: false, ...asked(view) })
    assertPage(view, profile, 'posts', list)
    return { profile, list }
  },
  title: (view, { profile: { user } }) => nameOf(view, user),
  head: (view, { profile }) =>
    profile.isHidden || profile.posts === 0 || !profile.shows.profile ? (
      <meta name="robots" content="noindex" />
    ) : (
      <Head
        view={view}
        path={withQuery(links.profile(profile.user.username), { page: view.query.page })}
        title={nameOf(view, profile.user)}
      />
    ),
  show: (view, { profile, list }) => (
    <Frame view={view} profile={profile} tab="posts">
      {list === undefined || list.posts.length === 0 ? (
        <Empty title={view.t('empty.posts')} />
      ) : (
        <>
          <PostList view={view} posts={list.posts} without="author" />
          <Pager view={view} page={pageNumber(view)} pages={list.total_pages} />
        </>
      )}
    </Frame>
  ),
})

/** The posts that a person voted for. */
export const profileVotes = page({
  cache: 'actor',
  isUnlisted: true,
  async load(view) {
    const profile = await profileAt(view)
    const list = await view.call(service.votes, { user: profile.user.userId, ...asked(view) })
    assertPage(view, profile, 'votes', list)
    return { profile, list }
  },
  title: (view, { profile: { user } }) => nameOf(view, user),
  show: (view, { profile, list }) => (
    <Frame view={view} profile={profile} tab="votes">
      {list.posts.length === 0 ? (
        <Empty title={view.t('voters.none')} />
      ) : (
        <>
          <PostList view={view} posts={list.posts} />
          <Pager view={view} page={pageNumber(view)} pages={list.total_pages} isCapped={list.is_capped} />
        </>
      )}
    </Frame>
  ),
})

/** The comments of a person. */
export const profileComments = page({
  cache: 'actor',
  isUnlisted: true,
  async load(view) {
    const profile = await profileAt(view)
    const list = await view.call(service.comments, { user: profile.user.userId, ...asked(view) })
    assertPage(view, profile, 'comments', list)
    return { profile, list }
  },
  title: (view, { profile: { user } }) => nameOf(view, user),
  show: (view, { profile, list }) => (
    <Frame view={view} profile={profile} tab="comments">
      {list.activity.length === 0 ? (
        <Empty title={view.t('comment.none')} />
      ) : (
        <>
          <ol class="posts">
            {list.activity.map(({ id, created_at: at, post, comment }) => (
              <li class="post">
                <div class="body">
                  <h2>
                    <a href={view.href(links.comment(post.slug, id))}>
                      <bdi>{post.title}</bdi>
                    </a>
                  </h2>
                  <p class="excerpt">
                    <bdi>{excerptCached(comment.body)}</bdi>
                  </p>
                  <div class="facts">
                    {comment.is_update ? <span class="mark">{view.t('mark.update')}</span> : null}
                    {comment.is_answer ? <span class="mark">{view.t('mark.answer')}</span> : null}
                    <Time view={view} at={at} />
                  </div>
                </div>
              </li>
            ))}
          </ol>
          <Pager view={view} page={pageNumber(view)} pages={list.total_pages} />
        </>
      )}
    </Frame>
  ),
})

/** Who it is, and the lists that the reader may see. */
function Frame({
  view,
  profile,
  tab,
  children,
}: {
  view: View
  profile: Profile
  tab: Tab
  children: ComponentChildren
}) {
  const { t, href } = view
  const { user, shows } = profile
  const tabs: readonly Tab[] = ['posts', 'votes', 'comments']
  const isMine = view.viewer?.userId === user.userId
  return (
    <>
      <div class="top profile">
        <Avatar person={user} size={64} />
        <div>
          <h1>
            <bdi>{nameOf(view, user)}</bdi>
          </h1>
          <p class="facts">
            <code class="soft" dir="ltr">
              @{user.username}
            </code>
            <TeamMark view={view} person={user} />
            {profile.isBlocked ? <span class="mark spam">{t('user.state.blocked')}</span> : null}
            {profile.createdAt === undefined ? null : (
              <span class="soft">{t('profile.since', { date: view.words.date(profile.createdAt) })}</span>
            )}
            {isMine ? <a href={href('/settings#profile')}>{t('profile.choose')}</a> : null}
            {view.can('dashboard:read') && view.may(show) ? (
              <a href={href(links.person(user.username))}>{t('nav.dashboard')}</a>
            ) : null}
          </p>
        </div>
      </div>
      {profile.isHidden ? (
        <Empty title={t('profile.hidden')}>
          <p>{t('profile.hiddenNote')}</p>
        </Empty>
      ) : (
        <>
          <nav class="tabs" aria-label={t('profile.lists')}>
            {tabs.map((each) =>
              profile[each] === undefined ? null : (
                <a href={href(tabOf(profile, each))} aria-current={each === tab ? 'page' : undefined}>
                  {t(TITLES[each])}{' '}
                  <span class="soft">
                    <Count view={view} of={profile[each]} />
                  </span>
                  {shows.profile && (each === 'posts' || shows[each]) ? null : (
                    <span class="soft" title={t('profile.private')}>
                      <Icon name="lock" />
                      <span class="hidden">{t('profile.private')}</span>
                    </span>
                  )}
                </a>
              ),
            )}
          </nav>
          {profile[tab] === undefined ? <Empty title={t('profile.listHidden')} /> : children}
        </>
      )}
    </>
  )
}

const TITLES = { posts: 'nav.posts', votes: 'profile.votes', comments: 'profile.comments' } as const
