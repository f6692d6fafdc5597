// Who may import whom. Type-only and dynamic imports count.
const onlyImports = (folder, allowed, comment) => ({
  name: `${folder} imports`,
  comment,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: [folder, ...allowed].map((each) => `^src/${each}(/|[.]ts$)`) },
})
const noPackages = (folder, packages, comment, except) => ({
  name: `${folder} packages`,
  comment,
  severity: 'error',
  from: { path: `^src/${folder}/`, ...(except && { pathNot: except }) },
  to: { path: packages.map((name) => `^node_modules/(@types/)?${name}(/|$)`) },
})

// The folders of cli/lib, from the lowest: each may import those before it only, so no two import each other.
const CLI_FOLDERS = [
  'texts',
  'terminal',
  'flags',
  'output',
  'prompts',
  'errors',
  'settings',
  'connection',
  'command',
  'server',
]
const layersOfCli = CLI_FOLDERS.map((folder, index) => ({
  name: `cli/lib/${folder} imports`,
  comment: 'A folder of cli/lib imports itself and those before it in CLI_FOLDERS only.',
  severity: 'error',
  from: { path: `^src/cli/lib/${folder}/` },
  to: { path: '^src/cli/lib/', pathNot: `^src/cli/lib/(${CLI_FOLDERS.slice(0, index + 1).join('|')})/` },
}))

// The folders of web, and which others each may import.
const WEB_FOLDERS = {
  assets: [],
  kit: [],
  parts: ['kit'],
  public: ['kit', 'parts'],
  account: ['kit', 'parts'],
  dashboard: ['kit', 'parts'],
}
const IN_WEB_FOLDER = `^src/web/(${Object.keys(WEB_FOLDERS).join('|')})/`
const layersOfWeb = Object.entries(WEB_FOLDERS).map(([folder, allowed]) => ({
  name: `web/${folder} imports`,
  comment: 'kit is what pages are made with, parts what they share. A folder imports what WEB_FOLDERS says.',
  severity: 'error',
  from: { path: `^src/web/${folder}/` },
  to: { path: '^src/web/', pathNot: `^src/web/(${[folder, ...allowed].join('|')})/` },
}))

// What some folders are made on. The rest of http and db is made on the caches, and other nouns on the lists of posts.
const BELOW = {
  'http/cache': 'src/http/lib/',
  'db/cache': 'src/db/(carried|dialect|paging|tables)[.]ts$',
  'db/posts':
    'src/db/(cache/|(carried|dialect|images|paging|references|search|tables)[.]ts$|migrations/0017_trending[.]ts$)',
}
const layersBelow = Object.entries(BELOW).flatMap(([folder, below]) => [
  {
    name: `${folder} imports`,
    comment: 'The folder imports itself and what BELOW says.',
    severity: 'error',
    from: { path: `^src/${folder}/` },
    to: { path: `^src/${folder.split('/')[0]}/`, pathNot: `^(src/${folder}/|${below})` },
  },
  {
    name: `below ${folder}`,
    comment: 'What BELOW says imports nothing above it.',
    severity: 'error',
    from: { path: `^${below}` },
    to: { path: `^src/${folder.split('/')[0]}/`, pathNot: `^${below}` },
  },
])

module.exports = {
  forbidden: [
    {
      name: 'no circle',
      comment: 'Type-only and dynamic imports count too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    onlyImports('core', [], 'core imports nothing of ours.'),
    onlyImports('db', ['core'], 'db imports core only.'),
    onlyImports('mail', ['core'], 'mail imports core only.'),
    onlyImports('delivery', ['core', 'db', 'mail'], 'delivery imports core, db and mail only.'),
    onlyImports('service', ['core', 'db', 'delivery', 'mail'], 'service imports core, db, delivery and mail only.'),
    onlyImports(
      'jobs',
      ['core', 'db', 'delivery', 'mail', 'service'],
      'jobs imports core, db, delivery, mail and service only.',
    ),
    onlyImports('http', ['core', 'service'], 'http imports core and service only.'),
    onlyImports('client', ['core', 'service'], 'client imports core and service only.'),
    onlyImports('sources', ['core', 'service'], 'sources imports core and service only.'),
    onlyImports('web', ['core', 'service', 'http'], 'web imports core, service and http only.'),
    onlyImports(
      'backup',
      ['core', 'db', 'config', 'secret', 'marker'],
      'backup imports core, db and the files of a site only.',
    ),
    onlyImports(
      'doctor',
      ['core', 'db', 'mail/problem', 'service', 'backup', 'app', 'config', 'secret', 'marker', 'process'],
      'doctor looks at everything below the commands.',
    ),
    onlyImports(
      'app',
      ['core', 'db', 'mail', 'service', 'jobs', 'backup', 'config', 'secret', 'marker'],
      'app opens a site. Neither a server nor a command is known there.',
    ),
    onlyImports(
      'static',
      ['core', 'service', 'http', 'web', 'app'],
      'static asks the pages and the API of an open site.',
    ),
    onlyImports(
      'metrics',
      ['core', 'db', 'service', 'jobs', 'http'],
      'metrics looks at what a server is made of, but for its pages.',
    ),
    onlyImports('process', [], 'process imports nothing of ours: the launcher loads what was built.'),
    onlyImports(
      'cli',
      [
        'core',
        'service',
        'client',
        'sources',
        'backup',
        'doctor',
        'app',
        'serve',
        'static',
        'metrics',
        'config',
        'process',
        'delivery/due',
        'mail/problem',
        'mail/check',
      ],
      'cli reaches data through app, backup, client, doctor and service. Of mail it knows what tests the settings and what sends at once.',
    ),
    ...layersOfCli,
    ...layersOfWeb,
    ...layersBelow,
    {
      name: 'below core/search',
      comment: 'core/search is made on the rest of core.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: '^src/core/search/' },
      to: { path: '^src/core/search/' },
    },
    {
      name: 'known folder of cli/lib',
      comment: 'A new folder gets its place in CLI_FOLDERS; no file is outside of one.',
      severity: 'error',
      from: {},
      to: { path: '^src/cli/lib/', pathNot: `^src/cli/lib/(${CLI_FOLDERS.join('|')})/` },
    },
    {
      name: 'known folder of web',
      comment: 'A new folder gets its entry in WEB_FOLDERS; index.ts alone is outside of one.',
      severity: 'error',
      from: {},
      to: { path: '^src/web/', pathNot: [IN_WEB_FOLDER, '^src/web/index[.]ts$'] },
    },
    {
      name: 'imports of an unknown folder of web',
      comment: 'What no entry of WEB_FOLDERS is for imports nothing.',
      severity: 'error',
      from: { path: '^src/web/', pathNot: [IN_WEB_FOLDER, '^src/web/index[.]ts$'] },
      to: {},
    },
    {
      name: 'nouns above lib',
      comment: 'lib is the machinery below the nouns of its folder.',
      severity: 'error',
      from: { path: '^src/(service|cli)/lib/' },
      to: { path: '^src/$1/[^/]+[.]tsx?$' },
    },
    {
      name: 'engines apart',
      comment: 'Neither engine knows the other.',
      severity: 'error',
      from: { path: '^src/db/(sqlite|postgres)/' },
      to: { path: '^src/db/(sqlite|postgres)/', pathNot: '^src/db/$1/' },
    },
    noPackages(
      '(service|http|web|client|cli|jobs|doctor)',
      ['kysely', 'pg', 'better-sqlite3(-node20)?'],
      'Only db speaks SQL.',
    ),
    noPackages('(service|client|cli|db|mail|delivery|jobs)', ['fastify'], 'Only http and web speak HTTP.'),
    noPackages('(service|client|http|web|db|mail|delivery|jobs)', ['commander'], 'Only cli reads a command line.'),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.js', '.json'] },
  },
}
