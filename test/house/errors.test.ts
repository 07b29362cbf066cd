import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ERROR_PAGE, errorPage } from '../../scripts/generate-error-docs.js';
import { readFiles } from '../../scripts/support/files.js';
import { ERROR_CODES } from '../../src/errors.js';

const CODES = Object.keys(ERROR_CODES).sort();
const page = existsSync(ERROR_PAGE) ? readFileSync(ERROR_PAGE, 'utf8') : '';

/** The first text argument in upper case of whatever builds an error. */
const USED = /(?:new EngineError\(\s*|toEngineError\([^'"]*?,\s*)['"]([A-Z][A-Z_]+)['"]/g;

describe('the error page', () => {
  it('documents every code of the table, and no other', () => {
    const documented = [...page.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
    expect(documented.sort()).toEqual(CODES);
  });

  it('is what `npm run docs:errors` writes', () => {
    expect(page).toBe(errorPage());
  });
});

describe('the error table', () => {
  it.each(CODES)('%s has one sentence that says what happened', (code) => {
    const { summary } = ERROR_CODES[code as keyof typeof ERROR_CODES];
    expect(summary).toMatch(/^[A-Z].*\.$/);
  });

  it('holds every code that src uses', () => {
    const used = readFiles('src', '.ts').flatMap(({ text }) => [...text.matchAll(USED)].map(([, code]) => code));
    expect(used.length).toBeGreaterThan(0);
    expect(CODES).toEqual(expect.arrayContaining([...new Set(used)]));
  });
});
