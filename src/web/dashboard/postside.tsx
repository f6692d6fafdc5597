import { links } from '../../core/pagelinks.js'
import { SECTIONS } from '../kit/sections.js'
import type { NotifiedSummary } from '../../service/told.js'
import * as users from '../../service/users.js'
import * as votes from '../../service/votes.js'
import { withParameters, withQuery } from '../kit/addresses.js'
import type { View } from '../kit/page.js'
import { WillTell } from '../parts/audience.js'
import { BoardField } from '../parts/boardfield.js'
import { BoardChip, RoadmapChip } from '../parts/chip.js'
import { Field, Form, Hidden, Submit } from '../parts/form.js'
import { Foreign } from '../parts/foreign.js'
import { areTooMany } from '../parts/lists.js'
import { nameOf, Person } from '../parts/person.js'
import { NOWHERE, PlaceConflict } from '../parts/placeconflict.js'
import { PostRules } from '../parts/postrules.js'
import { AuthorFacts, Reports } from '../parts/reports.js'
import { Segments } from '../parts/segments.js'
import { StatusMenu } from '../parts/statusmenu.js'
import { TagsPanel } from '../parts/tagspanel.js'
import { takesVotes } from '../parts/taking.js'
import { Time } from '../parts/time.js'
import { RowVerbs } from './decisions.js'
import { By, LOG, What } from '../parts/event.js'
import { rowOf } from './inbox.js'
import { MergeButton, Repeats } from './inboxways.js'
import { linkWithList, type Data } from './postdata.js'
import { Snoozed } from './snoozing.js'
import { State } from './users.js'
import { Unmet } from './unmet.js'

type Props = Data & { view: View }

/** What belongs to a post, and what can be done with it. */
export const Side = (props: Props) => (
  <div class="panels">
    <Places {...props} />
    <Rules {...props} />
    <TagsPanel {...props} to={linkWithList(props.view, props.post.slug, '/tag')} />
    <Waits {...props} />
    <Author {...props} />
    <Voters {...props} />
    <WasTold {...props} />
    <Log {...props} />
  </div>
)

function Places({ view, post, places, audience }: Props) {
  const { t } = view
  const to = linkWithList(view, post.slug, '/move')
  const choosesBoard = places !== undefined && places.boards.total > 0 && !areTooMany(places.boards)
  return (
    <section>
      <h2>{t('filter.roadmap')}</h2>
      <PlaceConflict
        view={view}
        to={to}
        fresh={linkWithList(view, post.slug)}
        roadmap={post.roadmap}
        board={post.board && { id: post.board.boardId, name: post.board.name }}
        choices={view.form.values.ifRoadmapId === undefined ? (places?.boards.rows ?? []) : (places?.stages ?? [])}
      />
      <div class="places">
        {places && places.stages.length > 0 ? (
          <StatusMenu
            view={view}
            to={to}
            stages={places.stages}
            chosen={post.roadmap ?? null}
            shortcut="m"
            isOpen={view.query.at === 'status'}
          >
            {audience ? <WillTell view={view} audience={audience} /> : null}
          </StatusMenu>
        ) : post.roadmap ? (
          <RoadmapChip view={view} roadmap={post.roadmap} />
        ) : (
          <span class="soft">{t('post.noRoadmap')}</span>
        )}
        {post.board && !choosesBoard ? <BoardChip view={view} board={post.board} /> : null}
      </div>
      {places && choosesBoard ? (
        <Form view={view} to={to}>
          <Hidden name="ifBoardId" value={post.board?.boardId ?? NOWHERE} />
          <BoardField view={view} boards={places.boards} value={post.board?.url} />
          <Submit kind="plain">{t('posts.move')}</Submit>
        </Form>
      ) : null}
    </section>
  )
}

/** Pins and locks the post. */
function Rules({ view, post: { slug, pinned, locked = 'none', may, updatedAt } }: Props) {
  if (!may.includes('update')) return null
  return (
    <section>
      <h2>{view.t('teamPost.rules')}</h2>
      <Form view={view} to={linkWithList(view, slug, '/rules')}>
        <Hidden name="ifUpdatedAt" value={updatedAt} />
        <PostRules view={view} pinned={pinned} locked={locked} isSent={view.form.values.locked !== undefined} />
        <Submit kind="plain">{view.t('form.save')}</Submit>
      </Form>
    </section>
  )
}

/** Why it waits for a decision, and what decides. */
function Waits({ view, post, item }: Props) {
  const { t } = view
  if (!item || (item.reasons.length === 0 && !item.is_spam && !item.snoozed)) return null
  return (
    <section>
      <h2 id="waits">
        {t(item.reasons.length > 0 ? 'inbox.reasons' : item.snoozed ? 'inbox.reason.snoozed' : 'inbox.mark.spam')}
      </h2>
      <Unmet view={view} titles={new Map([[item.id, post.title]])} />
      <p class="facts">
        {item.reasons.map((reason) => (
          <span class={reason === 'new' || reason === 'edited' ? 'mark' : 'mark spam'}>
            {reason === 'reported'
              ? t('inbox.reports', { count: item.reports.length })
              : t(`inbox.mark.${reason as 'new'}`)}
          </span>
        ))}
        <Snoozed view={view} item={item} />
      </p>
      <Reports view={view} reports={item.reports} />
      <Repeats view={view} item={item} />
      <Form view={view} to={linkWithList(view, post.slug)}>
        {item.reasons.length > 0 ? <Hidden name="waiting" value="true" /> : null}
        <RowVerbs view={view} row={rowOf(item)} next={undefined} about="waits" hasKeys={false}>
          <MergeButton view={view} item={item} to={links.teamPost(post.slug)} />
        </RowVerbs>
      </Form>
    </section>
  )
}

/** Who wrote it. The address is for those who may read it. */
function Author({ view, post: { author }, person, item }: Props) {
  const { t, words, href } = view
  return (
    <section>
      <h2>{t('posts.author')}</h2>
      <p>
        {person ? (
          <a href={href(links.person(person.username))}>
            <Person view={view} person={author} />
          </a>
        ) : (
          <Person view={view} person={author} />
        )}
      </p>
      {person ? (
        <dl class="about">
          <dt>{t('user.state')}</dt>
          <dd>
            <State view={view} person={person} />
          </dd>
          <dt>{t('user.email')}</dt>
          <dd>
            <Foreign text={person.email} />
          </dd>
          <dt>{t('user.joined')}</dt>
          <dd>{words.date(person.createdAt)}</dd>
          <dt>{t('user.wrote')}</dt>
          <dd>
            {t('user.posts', { count: Number(person.posts) })}, {t('user.voted', { count: Number(person.votes) })}
          </dd>
        </dl>
      ) : (
        <p class="facts">
          <AuthorFacts view={view} account={item?.author_account ?? null} />
          {item?.author_is_blocked ? <span class="mark spam">{t('user.state.blocked')}</span> : null}
        </p>
      )}
      {item?.author_is_blocked && item.may.includes('block') ? (
        <Form view={view} to={links.person(author.username, 'unblock')}>
          <Hidden name="to" value={withParameters(view.url, {})} />
          <Submit kind="plain">{t('user.unblock')}</Submit>
        </Form>
      ) : null}
    </section>
  )
}

/** Who voted, and a vote for somebody who asked by mail or on the phone. */
function Voters({ view, post, voters, segments, isOnBehalf }: Props) {
  const { t, href } = view
  const takes = isOnBehalf && takesVotes(view, post)
  const removes = takes && view.may(votes.unassign)
  const path = (verb: string) => linkWithList(view, post.slug, verb)
  return (
    <section>
      <div data-live="voters">
        <h2 id="voters">{t('voters.count', { count: post.voters.votesCount })}</h2>
        {post.voters.importedVotes === undefined ? null : (
          <p class="soft">{t('voters.imported', { count: post.voters.importedVotes })}</p>
        )}
        <ul class="outcomes">
          {voters.results.map(({ user }) => (
            <li>
              <Person view={view} person={user} />
              {removes ? (
                <Form view={view} to={path('/unvote')}>
                  <Hidden name="user_id" value={user.userId} />
                  <button
                    type="submit"
                    class="link"
                    aria-label={t('teamPost.removeVote', { name: nameOf(view, user) })}
                  >
                    {t('user.remove')}
                  </button>
                </Form>
              ) : null}
            </li>
          ))}
        </ul>
      </div>
      {post.voters.votesCount > voters.results.length && voters.results.length > 0 ? (
        <a href={href(`${links.post(post.slug)}/voters`)}>{t('teamPost.allVoters')}</a>
      ) : null}
      {segments ? <Segments view={view} of={segments} /> : null}
      {takes && view.may(votes.assign) ? (
        <Form view={view} to={path('/vote')}>
          <Field
            view={view}
            of={votes.assign}
            name="user_id"
            label={t('teamPost.voteFor')}
            hint={t(view.may(users.show) ? 'teamPost.voteForAny' : 'teamPost.voteForName')}
            autocomplete="off"
            required
          />
          <Submit kind="plain">{t('teamPost.addVote')}</Submit>
        </Form>
      ) : null}
    </section>
  )
}

/** Events of which people were told that are shown. */
const SHOWN = 8

/** Who was told of what became of the post, the newest first. */
function WasTold({ view, post, told }: Props) {
  const { t } = view
  if (!told || told.length === 0) return null
  return (
    <section>
      <h2>{t('told.title')}</h2>
      <ul class="events">
        {told.slice(0, SHOWN).map((row) => (
          <li>
            <strong>{row.is_held ? t('mark.held') : t(`told.kind.${row.kind}`)}</strong>{' '}
            {row.user ? <bdi>{nameOf(view, row.user)}</bdi> : null} <Time view={view} at={row.created_at} />
            <div class="soft">
              <a href={view.href(links.told(post.slug, row.event_id))}>{toldText(view, row)}</a>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Such as `12 people: 9 by mail, 2 in a digest, 9 mails written, 4 read it`. */
function toldText({ t, words }: View, { people, mail, digest, mailed, read }: NotifiedSummary): string {
  const parts = [
    mail > 0 && t('told.mail', { count: mail }),
    digest > 0 && t('told.digest', { count: digest }),
    mailed > 0 && t('told.written', { count: mailed }),
    read > 0 && t('told.read', { count: read }),
  ].filter((part) => part !== false)
  const all = t('told.people', { count: people })
  return parts.length === 0 ? all : words.labelled(all, words.list(parts))
}

/** What was done with the post. The links of an event are those of the log. */
function Log({ view, post, log }: Props) {
  if (!log) return null
  const whole = withQuery(LOG, { subject: post.postId })
  const inLog = { ...view, url: whole }
  return (
    <section>
      <h2>{view.t(SECTIONS.log.label)}</h2>
      <ul class="events">
        {log.map((event) => (
          <li>
            <What view={inLog} event={event} /> <By view={inLog} event={event} />{' '}
            <Time view={view} at={event.created_at} />
          </li>
        ))}
      </ul>
      <a href={view.href(whole)}>{view.t('teamPost.allEvents')}</a>
    </section>
  )
}
