import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { sql } from 'kysely'
import { connect } from '../../src/db/connect.js'
import { makeDatabase } from './site.js'
import { PNG } from './images.js'
import { zipOf } from './zip.js'

// What other products export, made from what is known of their formats.

export const AT = '2023-05-06T07:08:09.000Z'

/** The pages of the API of Canny. */
const ANN = { id: 'u1', name: 'Ann', email: 'ann@example.org', created: AT }
const DARK = { id: 'p1', title: 'Dark mode', details: 'Eyes', board: { id: 'b1', name: 'Ideas' }, author: ANN, score: 5, status: 'complete', created: AT, tags: [{ id: 't1', name: 'UI' }], category: { id: 'k1', name: 'App' }, imageURLs: ['https://canny.example/1.png'], url: 'https://x.canny.io/ideas/p/dark-mode', mergeHistory: [{ post: { id: 'gone' } }, { post: { id: 'p2' } }] } // prettier-ignore
export const CANNY = {
  'canny/boards.json': { boards: [{ id: 'b1', name: 'Ideas' }] },
  'canny/posts1.json': { posts: [DARK], hasMore: true },
  'canny/posts2.json': { posts: [{ id: 'p2', title: 'Night', board: { id: 'b1', name: 'Ideas' }, author: null, status: 'open', score: 0, created: AT }] }, // prettier-ignore
  'canny/votes.json': { votes: [{ id: 'v1', post: { id: 'p1' }, voter: ANN, created: AT }, { id: 'v2', post: { id: 'p1' }, voter: null, by: null }] }, // prettier-ignore
  'canny/comments.json': { comments: [{ id: 'c2', post: { id: 'p1' }, author: ANN, parentID: 'c1', value: 'Reply', created: '2023-06-02T00:00:00Z', internal: true }, { id: 'c1', post: { id: 'p1' }, author: { id: 'u2', name: 'Bob' }, value: 'First', created: '2023-06-01T00:00:00Z' }] }, // prettier-ignore
  'canny/entries.json': { entries: [{ id: 'e1' }] },
}

/** A backup of Fider, and the CSV of its posts. */
export const FIDER = {
  'backup.zip': zipOf({
    'users.json': JSON.stringify([{ id: 1, name: 'Ann', email: 'ann@example.org', created_at: AT, api_key: 'SECRET-KEY' }, { id: 2, name: 'Bob', email: '', created_at: AT }]), // prettier-ignore
    'tags.json': JSON.stringify([{ id: 1, name: 'UI', slug: 'ui', color: 'ff0000', is_public: false }]),
    'post_tags.json': JSON.stringify([{ tag_id: 1, post_id: 10 }]),
    'posts.json': JSON.stringify([
      {
        id: 11,
        number: 2,
        title: 'Night theme',
        description: null,
        user_id: 2,
        status: 5,
        original_id: 10,
        created_at: AT,
      },
      { id: 10, number: 1, title: 'Dark mode', description: 'For @{"id":2,"name":"Bob"} ![two  words ](fider-image:attachments/x)', user_id: 1, status: 2, response: 'Shipped!', response_user_id: 1, response_date: '2023-07-01T00:00:00Z', created_at: AT }, // prettier-ignore
      { id: 12, number: 3, title: 'Deleted', user_id: 1, status: 6, created_at: AT },
    ]),
    'post_votes.json': JSON.stringify([{ user_id: 1, post_id: 10, created_at: AT }, { user_id: 2, post_id: 11, created_at: AT }, { user_id: 1, post_id: 12, created_at: AT }]), // prettier-ignore
    'comments.json': JSON.stringify([{ id: 5, content: 'Yes', post_id: 10, user_id: 2, created_at: AT, is_approved: true }, { id: 6, content: 'Gone', post_id: 10, user_id: 2, created_at: AT, deleted_at: AT }]), // prettier-ignore
    'oauth_providers.json': JSON.stringify([{ client_secret: 'SECRET-OAUTH' }]),
    'attachments.json': JSON.stringify([{ post_id: 10, attachment_bkey: 'attachments/x', user_id: 1 }, { post_id: 11, attachment_bkey: 'attachments/none', user_id: 2 }]), // prettier-ignore
    'blobs/attachments/x': PNG,
    'blobs/avatars/1': PNG,
  }),
  'posts.csv': 'number,title,description,created_at,created_by,votes_count,comments_count,status,tags\n7,CSV post,Text ![Shot](fider-image:attachments/x),2023-05-06T07:08:09Z,Eve,12,0,open,"a, b"\n', // prettier-ignore
}

/** The same posts as answers of the API of Fider. What is of one post has its number in the name of the file. */
const FIDER_ANN = { id: 1, name: 'Ann', role: 'administrator', status: 'active' }
const FIDER_BOB = { id: 2, name: 'Bob', role: 'visitor', status: 'active' }
export const FIDER_API = {
  'fider/posts.json': [
    { id: 10, number: 1, title: 'Dark mode', slug: 'dark-mode', description: 'For @{"id":2,"name":"Bob"} ![two  words ](fider-image:attachments/x)', createdAt: AT, user: FIDER_ANN, votesCount: 3, commentsCount: 1, status: 'completed', response: { text: 'Shipped!', respondedAt: '2023-07-01T00:00:00Z', user: FIDER_ANN }, tags: ['ui'] }, // prettier-ignore
    { id: 11, number: 2, title: 'Night theme', slug: 'night-theme', description: '', createdAt: AT, user: FIDER_BOB, votesCount: 0, commentsCount: 2, status: 'duplicate', response: { text: '', respondedAt: AT, user: FIDER_ANN, original: { number: 1, title: 'Dark mode', slug: 'dark-mode', status: 'completed' } }, tags: [] }, // prettier-ignore
    { id: 12, number: 3, title: 'Deleted', votesCount: 0, commentsCount: 0, status: 'deleted', user: FIDER_ANN },
  ],
  'fider/tags.json': [{ id: 1, name: 'UI', slug: 'ui', color: 'ff0000', isPublic: false }],
  'fider/votes-1.json': [{ createdAt: AT, user: { id: 1, name: 'Ann', email: 'ann@example.org' } }, { createdAt: AT, user: { id: 2, name: 'Bob' } }], // prettier-ignore
  'fider/comments-1.json': [{ id: 5, content: 'Yes ![](fider-image:attachments/y)', createdAt: AT, user: FIDER_BOB }],
  'fider/comments-9.json': [{ id: 6, content: 'Of no post', createdAt: AT, user: FIDER_BOB }],
}

/** What `gh api --paginate` saves. */
const ISSUE = { number: 12, title: 'Dark mode', body: 'Please', state: 'closed', state_reason: 'completed', labels: [{ name: 'ui', color: '00ff00' }], milestone: null, user: { id: 7, login: 'ann' }, created_at: AT, reactions: { '+1': 31 }, html_url: 'https://github.com/o/r/issues/12' } // prettier-ignore
export const GITHUB = {
  'gh/issues.json': [[ISSUE], [{ ...ISSUE, number: 13, pull_request: {} }, { ...ISSUE, number: 14, title: 'Later', state: 'open', milestone: { title: 'v2' }, user: null, html_url: null }]], // prettier-ignore
  'gh/comments.json': [{ id: 1, issue_url: 'https://api.github.com/repos/o/r/issues/12', user: { id: 8, login: 'bob' }, body: '+1 <img width="10" alt="Shot" src="https://github.example/a(1).png"> `<img src=x>`', created_at: AT }, { id: 2, issue_url: 'https://api.github.com/repos/o/r/issues/13', body: 'of a pull request' }], // prettier-ignore
}

/** The suggestions of UserVoice, with a row for each voter. */
const HEAD = 'ideaId,ideaTitle,ideaDescription,ideaCreatorEmailAddress,ideaCreatorName,categoryName,forumName,publicStatusName,moderationState,labels,votersCount,createdTimestamp,publicStatusUpdateMessage,publicStatusUpdatedTimestamp,publicStatusCreatorEmailAddress,userEmailAddress,linkedIdeaCreationDate' // prettier-ignore
const rowOf = (voter: string) => `1,Dark mode,<p>Eyes</p>,ann@example.org,Ann,App,Ideas,planned,approved,"[""ui"",""theme""]",5,2023-05-06 07:08:09,Soon,2023-06-01 00:00:00,team@example.org,${voter},2023-05-07 00:00:00` // prettier-ignore
export const USERVOICE = { 'ideas.csv': [HEAD, rowOf('ann@example.org'), rowOf('bob@example.org'), '2,Spam,,,,,,,rejected,,,,,,,,'].join('\n') } // prettier-ignore

/** The archive of a workspace. */
export const QUACKBACK = zipOf({
  'workspace/posts.csv': `id,title,content,status,tags,board,author_name,author_email,vote_count,created_at\np1,Dark mode,Eyes,In progress,"ui,theme",ideas,Ann,Ann@example.org,4,${AT}\n`, // prettier-ignore
  'workspace/post_votes.csv': `id,post_id,voter_email,source_type,created_at\nv1,p1,ann@example.org,web,${AT}\nv2,p1,bob@example.org,web,${AT}\n`,
  'workspace/post_comments.csv': `id,post_id,parent_id,author_name,author_email,is_team_member,is_private,moderation_state,content,created_at,updated_at\nc1,p1,,Eve,eve@example.org,true,true,published,Note,${AT},\nc2,p1,,Eve,eve@example.org,false,false,spam,Buy,${AT},\n`, // prettier-ignore
  'workspace/users.csv': `name,email,verified,joined_at\nBob,bob@example.org,true,${AT}\n`,
  'workspace/changelog.csv': 'id\n',
})

/** The archive of its data. */
export const CLEARFLASK = zipOf({
  'posts.csv': `ideaId,authorUserId,created,title,description,response,categoryId,statusId,tagIds,funded,fundersCount,fundGoal,voteValue,votersCount,expressionsValue,expressions\nx1,u1,${AT},Light mode,<b>Bold</b>,<p>No</p>,cat,closed,t1,0,0,0,9,9,0,\n`, // prettier-ignore
  'users.csv': `userId,ssoGuid,isMod,name,email,emailVerified,emailNotify,balance,created\nu1,,false,Zed,zed@example.org,true,true,0,${AT}\n`,
})

/** Databases keep the milliseconds. */
export const PRECISELY = '2023-05-06T07:08:09.123Z'
export const idOf = (n: number) => `00000000-0000-4000-8000-00000000000${n}`

/** A PostgreSQL database with tables of another product; a file of the machine has its address. */
export async function filledTables(machine: { folder: string }, statements: readonly string[]) {
  const url = await makeDatabase('postgres', machine.folder, { bare: true })
  const db = await connect(url)
  for (const statement of statements) await sql.raw(statement).execute(db)
  await db.destroy()
  writeFileSync(path.join(machine.folder, 'address'), `${url}\n`, { mode: 0o600 })
  return url
}

/** LogChimp before its comments. */
export const LOGCHIMP = [
  'create table users ("userId" uuid primary key, name varchar(30), email varchar(320) unique, password varchar(72), username varchar(30), avatar text, "isVerified" boolean default false, "isOwner" boolean default false, "isBlocked" boolean default false, "createdAt" timestamptz not null, "updatedAt" timestamptz not null)', // prettier-ignore
  'create table boards ("boardId" uuid primary key, name varchar(50), url varchar(50), color varchar(6), display boolean default false, view_voters boolean default true, "createdAt" timestamptz not null, "updatedAt" timestamptz not null)', // prettier-ignore
  'create table roadmaps (id uuid primary key, name varchar(50), url varchar(50), index integer, color varchar(6), display boolean default false, created_at timestamptz, updated_at timestamptz)', // prettier-ignore
  'create table posts ("postId" uuid primary key, title varchar(100), slug varchar(150), "slugId" varchar(20), "contentMarkdown" text, "userId" uuid, "createdAt" timestamptz, "updatedAt" timestamptz, "boardId" uuid, roadmap_id uuid)', // prettier-ignore
  'create table votes ("voteId" uuid primary key, "userId" uuid, "postId" uuid, "createdAt" timestamptz)',
  `insert into users values
    ('${idOf(1)}', 'Ada', 'ADA@example.org', '$2b$10$x', 'ada', null, true, true, false, '${PRECISELY}', '${PRECISELY}'),
    ('${idOf(2)}', '', 'Bob@Example.org', '$2b$10$x', 'bobby', null, false, false, true, '${PRECISELY}', '${PRECISELY}'),
    ('${idOf(3)}', 'Twin', 'bob@example.org', '$2b$10$x', 'twin', null, true, false, false, '${PRECISELY}', '${PRECISELY}')`,
  `insert into boards values ('${idOf(4)}', 'Secret ideas', 'ideas-2', 'ff0000', false, false, '${PRECISELY}', '${PRECISELY}')`,
  `insert into roadmaps values ('${idOf(5)}', 'Shipped', 'shipped-now', 1, '00ff00', true, '${PRECISELY}', '${PRECISELY}')`,
  `insert into posts values ('${idOf(6)}', 'Dark &lt;mode&gt;', 'dark-mode-abcdefghij0123456789', 'abcdefghij0123456789', '<script>x</script>Eyes', '${idOf(2)}', '${PRECISELY}', '${PRECISELY}', '${idOf(4)}', '${idOf(5)}')`, // prettier-ignore
  `insert into votes values ('${idOf(7)}', '${idOf(1)}', '${idOf(6)}', '${PRECISELY}'), ('${idOf(8)}', '${idOf(1)}', '${idOf(6)}', '${PRECISELY}'), ('${idOf(9)}', '${idOf(2)}', '${idOf(6)}', '${PRECISELY}')`, // prettier-ignore
]

/** Astuto, with posts that wait and people who are gone. */
const common = 'tenant_id integer default 1, created_at timestamp default now(), updated_at timestamp default now()'
export const ASTUTO = [
  `create table boards (id serial, name text, description text, "order" integer, slug text, ${common})`,
  `create table post_statuses (id serial, name text, color text, "order" integer, show_in_roadmap boolean, ${common})`,
  `create table users (id serial, email text, encrypted_password text, full_name text, role integer, status integer, ${common})`,
  `create table posts (id serial, title text, description text, board_id integer, user_id integer, post_status_id integer, slug text, approval_status integer, ${common})`,
  `create table likes (id serial, user_id integer, post_id integer, ${common})`,
  `create table comments (id serial, body text, user_id integer, post_id integer, parent_id integer, is_post_update boolean, ${common})`,
  `insert into boards (name, "order", slug) values ('Ideas', 0, 'our-ideas')`,
  `insert into post_statuses (name, color, "order") values ('In progress', '#00ff00', 0)`,
  `insert into users (email, full_name, role, status) values ('ann@example.org', 'Ann', 0, 0), ('eve@example.org', 'Eve', 0, 1), ('gone@example.org', 'Gone', 0, 2)`,
  `insert into posts (title, board_id, user_id, post_status_id, slug, approval_status) values ('Dark mode', 1, 1, 1, 'dark-mode', 0), ('Waiting', 1, 1, null, 'waiting', 1), ('Of nobody', 1, 3, null, 'of-nobody', 0)`,
  'insert into likes (user_id, post_id) values (1, 1), (2, 1), (3, 1), (1, 2)',
  `insert into comments (body, user_id, post_id, parent_id, is_post_update) values ('We began', 1, 1, null, true), ('Thanks', 2, 1, 1, false)`,
]

const ASTUTO_ANN = { id: 1, email: 'ann@example.org', full_name: 'Ann', created_at: AT, updated_at: AT }
const ASTUTO_EVE = { id: 2, email: 'eve@example.org', full_name: 'Eve', created_at: AT, updated_at: AT }
const ASTUTO_BOARD = { id: 1, name: 'Ideas', slug: 'our-ideas', description: null, created_at: AT, updated_at: AT }
const ASTUTO_STATUS = { id: 1, name: 'In progress', color: '#00ff00', show_in_roadmap: true, created_at: AT, updated_at: AT } // prettier-ignore
/** The same posts as answers of the API of Astuto. */
export const ASTUTO_API = {
  'astuto/boards.json': [ASTUTO_BOARD, { ...ASTUTO_BOARD, id: 2, name: 'Bugs', slug: 'bugs' }],
  'astuto/post_statuses.json': [ASTUTO_STATUS],
  'astuto/posts.json': [
    { id: 2, title: 'Waiting', description: '', board: ASTUTO_BOARD, post_status: null, user: ASTUTO_ANN, approval_status: 'pending', slug: 'waiting', created_at: AT }, // prettier-ignore
    { id: 1, title: 'Dark mode', description: 'Eyes', board: ASTUTO_BOARD, post_status: ASTUTO_STATUS, user: ASTUTO_ANN, approval_status: 'approved', slug: 'dark-mode', created_at: AT }, // prettier-ignore
  ],
  'astuto/posts-2.json': [{ id: 3, title: 'Of nobody', description: '', board: ASTUTO_BOARD, post_status: null, user: null, approval_status: 'approved', slug: 'of-nobody', created_at: AT }], // prettier-ignore
  'astuto/votes.json': [1, 2].flatMap((id) => [{ id, user: id === 1 ? ASTUTO_ANN : ASTUTO_EVE, post_id: id, created_at: AT }, { id: id + 2, user: ASTUTO_EVE, post_id: 1, created_at: AT }]), // prettier-ignore
  'astuto/comments.json': [{ id: 1, body: 'We began', is_post_update: true, post_id: 1, user: ASTUTO_ANN, created_at: AT }, { id: 2, body: 'Soon', is_post_update: false, post_id: 2, user: ASTUTO_EVE, created_at: AT }], // prettier-ignore
}
