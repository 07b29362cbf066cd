/**
 * Removes the declarations of `dist` that no entry of the package reaches: 700 files of 1,150, which dependants would install and could not import.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { entriesOf } from './check-exports.js';
import { ROOT } from './support/files.js';

const DIST = path.join(ROOT, 'dist');

/** The file named after `from`, `import` or `import(` in a declaration, when it is one of the package. */
const IMPORTED = /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.js['"]/g;

/** Deletes every `.d.ts` below `dist` that cannot be reached by imports from the types of an entry. */
export function removeUnreachableDeclarations(): void {
  const reached = new Set<string>();
  const visit = (file: string): void => {
    if (reached.has(file) || !existsSync(file)) return;
    reached.add(file);
    for (const [, imported] of readFileSync(file, 'utf8').matchAll(IMPORTED)) {
      visit(path.resolve(path.dirname(file), `${imported}.d.ts`));
    }
  };
  const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  for (const entry of entriesOf(manifest)) visit(path.join(ROOT, entry));
  for (const name of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(DIST, name);
    if (name.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
  }
}
