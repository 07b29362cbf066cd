import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** Only this user may look into them. */
const MODE = 0o700;

/**
 * Makes a folder and those it lies in, where they are missing.
 *
 * Recursive `mkdir` of Node never ends where the system answers ENOENT for a new folder in an existing one, as it does below `/proc`.
 *
 * @throws the system's error, such as ENOENT, EACCES, ENOTDIR, EROFS.
 */
export async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !(await isFolder(at)); at = path.dirname(at)) missing.push(at);
  for (const one of missing.reverse()) {
    try {
      await mkdir(one, { mode: MODE });
    } catch (error) {
      // Another process made it first, or it is a file.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !(await isFolder(one))) throw error;
    }
  }
}

async function isFolder(place: string): Promise<boolean> {
  try {
    return (await stat(place)).isDirectory();
  } catch (error) {
    if (place !== path.dirname(place) && (error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
