/** The words of the project: what a sentence says is named, never "whoever" or "somebody". */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, readFiles } from '../../scripts/support/files.js';

const VAGUE = /\b(?:whoever|nobody|somebody|everybody)\b/i;
const PAGES = ['README.md', 'AGENTS.md', 'CHANGELOG.md', ...readFiles('docs', '.md').map(({ path: file }) => file)];

/** Lines that use a vague word; a line that quotes the words, as the rule in AGENTS.md does, is not one. */
function vagueLines(file: string, text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap((line, at) => (VAGUE.test(line.replace(/"[a-z]+"/g, '')) ? [`${file}:${at + 1}: ${line.trim()}`] : []));
}

describe('words', () => {
  it('are found in a line that names no one', () => {
    expect(vagueLines('a.ts', 'fine\n// Told to whoever asks.')).toEqual(['a.ts:2: // Told to whoever asks.']);
    expect(vagueLines('a.md', 'No "whoever", no "nobody".')).toEqual([]);
  });

  it('of the code say who or what is meant', () => {
    expect(readFiles('src', '.ts').flatMap(({ path: file, text }) => vagueLines(file, text))).toEqual([]);
  });

  it('of the pages do, too', () => {
    expect(PAGES.flatMap((file) => vagueLines(file, readFileSync(path.join(ROOT, file), 'utf8')))).toEqual([]);
  });
});
