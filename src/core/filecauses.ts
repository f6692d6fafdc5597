/** Why a file cannot be written, by the codes of the operating system. */
const WRITING: Readonly<Record<string, string>> = {
  EEXIST: 'it exists already. Name another file, or remove it',
  ENAMETOOLONG: 'its name is too long. Choose a shorter one',
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'this user is not allowed to write there',
  EPERM: 'this user is not allowed to write there',
  EROFS: 'its disk is read-only',
  ENOSPC: 'its disk is full',
  EDQUOT: 'the disk quota of this user is used up',
}

/** Returns why a file could not be written, in words that end a sentence. */
export function whyNotWritten(error: unknown): string {
  const { code = 'unknown reason' } = error as { code?: string }
  return WRITING[code] ?? code
}
