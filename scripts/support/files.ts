import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The folder that holds `package.json`. */
export const ROOT = path.resolve(import.meta.dirname, '../..');

/** A file of the project, as the checks see it. */
export interface SourceFile {
  /** Path from the project's root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Reads every file below `folder` whose name ends in `ending`, sorted by path; a folder that does not exist is empty. */
export function readFiles(folder: string, ending: string): readonly SourceFile[] {
  const start = path.join(ROOT, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort()
    .map((file) => ({ path: path.relative(ROOT, file).replaceAll(path.sep, '/'), text: readFileSync(file, 'utf8') }));
}
