/** The flags of fields that narrow a list of posts, where their names differ. */
export const FILTER_FLAGS = { boardId: 'board', roadmapIds: 'roadmap', authorId: 'author', tags: 'tag' } as const
