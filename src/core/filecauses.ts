/** Why a file cannot be written, by the codes of the operating system. */
const WRITING: Readonly<Record<string, string>> = {
  EEXIST: 'it exists already. Name another file, or remove it',
  ENAMETOOLONG: 'its name is too long. Choose a shorter one',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EISDIR: 'it is a folder',
  ENOTEMPTY: 'it is no longer empty',
  EBUSY: 'a disk is mounted there. Name a new folder in it',
  EACCES: 'this user is not allowed to write there',
  EPERM: 'this user is not allowed to write there',
  EROFS: 'its disk is read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: 'the disk quota of this user is used up',
}

/** Returns why a file could not be written, in words that end a sentence. */
export const whyNotWritten = (error: unknown): string => reasonIn(WRITING, error)

/** Why a file cannot be read, by the codes of the operating system. */
const READING: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'this user is not allowed to read it',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is a file, not a folder',
  ENAMETOOLONG: 'its name is too long',
}

/** Returns why a file could not be read, in words that end a sentence. */
export const whyNotRead = (error: unknown): string => reasonIn(READING, error)

function reasonIn(reasons: Readonly<Record<string, string>>, error: unknown): string {
  const { code = 'unknown reason' } = error as { code?: string }
  return reasons[code] ?? code
}
