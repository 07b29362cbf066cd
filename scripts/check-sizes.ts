/** Keeps files and folders of `src` and `web` small: what outgrows its budget misses a concept, not a bigger budget. */
import path from 'node:path';
import { readFiles, type SourceFile } from './support/files.js';
import { isProgram, report } from './support/script.js';

/** Lines a file may have. */
export const MAX_LINES = 500;

/** Lines a file of the studio may have. */
export const MAX_STUDIO_LINES = 200;

/** Files a folder may hold directly. */
export const MAX_FILES = 40;

/** Says which of `files`, and which of their folders, are over budget. */
export function sizeProblems(files: readonly SourceFile[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { path: file } of files) {
    const folder = path.posix.dirname(file);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [
    ...files
      .map(({ path: file, text }) => {
        const most = file.startsWith('web/') ? MAX_STUDIO_LINES : MAX_LINES;
        return { file, most, lines: text.replace(/\n$/, '').split('\n').length };
      })
      .filter(({ lines, most }) => lines > most)
      .map(({ file, lines, most }) => `${file}: ${lines} lines, ${most} are allowed; split it by concept`),
    ...[...counts]
      .filter(([, count]) => count > MAX_FILES)
      .map(([folder, count]) => `${folder}: ${count} files, ${MAX_FILES} are allowed; group them in folders`),
  ];
}

if (isProgram(import.meta.url)) {
  const files = [...readFiles('src', '.ts'), ...readFiles('web', '.ts'), ...readFiles('web', '.tsx')];
  report(sizeProblems(files), `${files.length} files and their folders are within their budgets`);
}
