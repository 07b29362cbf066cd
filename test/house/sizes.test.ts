import { expect, it } from 'vitest';
import { MAX_FILES, MAX_LINES, MAX_STUDIO_LINES, sizeProblems } from '../../scripts/check-sizes.js';

const lines = (count: number): string => 'a\n'.repeat(count);

it('counts lines as an editor does', () => {
  const problems = sizeProblems([
    { path: 'src/a/full.ts', text: lines(MAX_LINES) },
    { path: 'src/a/over.ts', text: lines(MAX_LINES + 1) },
    { path: 'src/a/unended.ts', text: `${lines(MAX_LINES)}a` },
  ]);
  expect(problems.map((problem) => problem.split(' ', 2).join(' '))).toEqual([
    'src/a/over.ts: 501',
    'src/a/unended.ts: 501',
  ]);
});

it('allows the studio shorter files', () => {
  const problems = sizeProblems([
    { path: 'web/run/full.tsx', text: lines(MAX_STUDIO_LINES) },
    { path: 'web/run/over.tsx', text: lines(MAX_STUDIO_LINES + 1) },
  ]);
  expect(problems).toEqual([expect.stringContaining('web/run/over.tsx: 201 lines')]);
});

it('counts the files a folder holds itself', () => {
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, index) => ({ path: `${folder}/${index}.ts`, text: '' }));
  const problems = sizeProblems([
    ...files('src/a', MAX_FILES),
    ...files('src/a/b', MAX_FILES),
    ...files('src/c', MAX_FILES + 1),
  ]);
  expect(problems).toEqual([expect.stringContaining('src/c: 41 files')]);
});
