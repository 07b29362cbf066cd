import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  API_PAGE,
  apiPage,
  declarationOf,
  ENTRIES_PAGE,
  entriesPage,
  exportedNames,
} from '../../scripts/generate-api-docs.js';

describe('the API reference', () => {
  it('is what `npm run docs:api` writes, and describes every name of its parts', () => {
    expect(existsSync(API_PAGE) ? readFileSync(API_PAGE, 'utf8') : '').toBe(apiPage());
  });

  it('has every name that `runnel` or one of its entries exports, on one of its two pages', () => {
    const names = (page: string) => [...page.matchAll(/^### (.*)$/gm)].map(([, name]) => name);
    expect(names(readFileSync(ENTRIES_PAGE, 'utf8'))).toEqual(names(entriesPage()));
    const known = new Set([...names(apiPage()), ...names(entriesPage())]);
    const entries = readdirSync('src/entries').map((file) => `src/entries/${file}`);
    const exported = ['src/index.ts', ...entries].flatMap((file) => exportedNames(readFileSync(file, 'utf8')));
    expect(exported.length).toBeGreaterThan(1_000);
    expect(exported.filter(({ name }) => !known.has(name))).toEqual([]);
  });
});

describe('reading exports', () => {
  it('finds names, types among values, and what a name is called outside', () => {
    const index = "export { a, type B, c as d } from './x/y.js';\nexport type { E } from '../z.js';\n";
    expect(exportedNames(index)).toEqual([
      { name: 'a', source: 'a', file: 'x/y.ts' },
      { name: 'B', source: 'B', file: 'x/y.ts' },
      { name: 'd', source: 'c', file: 'x/y.ts' },
      { name: 'E', source: 'E', file: 'z.ts' },
    ]);
  });

  it('gives the overloads of a function without its implementation', () => {
    const source = [
      '/** Adds. */',
      'export function add(a: number): number;',
      'export function add(a: string): string;',
      'export function add(a: unknown): unknown {',
      '  return a;',
      '}',
    ].join('\n');
    expect(declarationOf(source, 'add')).toEqual({
      comment: 'Adds.',
      code: 'function add(a: number): number;\nfunction add(a: string): string;',
    });
  });

  it('gives a signature over several lines, and an interface with what is said of its members', () => {
    const source = [
      '/**',
      ' * Makes one.',
      ' *',
      ' * @throws EngineError X',
      ' */',
      'export function make(',
      '  a: number,',
      '): One {',
      '  return a;',
      '}',
      '',
      '/** One. */',
      'export interface One {',
      '  /** Two. */',
      '  readonly two: number;',
      '}',
    ].join('\n');
    expect(declarationOf(source, 'make')).toEqual({
      comment: 'Makes one.\n\n\n**Throws** EngineError X',
      code: 'function make(\n  a: number,\n): One;',
    });
    expect(declarationOf(source, 'One')?.code).toBe('interface One {\n  /** Two. */\n  readonly two: number;\n}');
  });
});
