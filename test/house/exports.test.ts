import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { entriesOf, missingExports } from '../../scripts/check-exports.js';
import { ROOT } from '../../scripts/support/files.js';

const ENTRY = 'dist/index.d.ts';

/** What is missing when `index` exports from these files; a key is a path below `dist`, without its ending. */
const missing = (index: string, files: Readonly<Record<string, string>>): readonly string[] =>
  missingExports(
    [
      { path: ENTRY, text: index },
      ...Object.entries(files).map(([name, text]) => ({ path: `dist/${name}.d.ts`, text })),
    ],
    [ENTRY],
  );

const RUN = `import { Observable } from 'rxjs';
import { type Plan, type Start as Begin } from './plan.js';
/** Runs a {@link Secret} plan. */
export declare function run(plan: Plan, start: Begin): Observable<import("./events.js").RunEvent>;
`;
const FILES = {
  'graph/run': RUN,
  'graph/plan': `interface Scope {
    readonly ids: readonly number[];
}
export interface Plan {
    /** A Secret. */
    readonly scope: Scope;
    readonly kind: 'Secret';
    readonly Secret: number;
}
export type Start = {
    readonly input: object;
};
export interface Secret {
}
`,
  'graph/events': `export type RunEvent = { readonly type: 'a' } | End<'b'>;
export interface End<T> {
    readonly type: T;
}
`,
};

describe('what the entries of the package export', () => {
  it('is checked for every type that it mentions, wherever that is declared', () => {
    expect(missing("export { run } from './graph/run.js';\n", FILES)).toEqual([
      'dist/graph/events.d.ts: RunEvent, which run of dist/graph/run.d.ts mentions',
      'dist/graph/plan.d.ts: Plan, which run of dist/graph/run.d.ts mentions',
      'dist/graph/plan.d.ts: Start, which run of dist/graph/run.d.ts mentions',
    ]);
  });

  it('is checked through what exported types mention in turn, exported by their files or not', () => {
    const index = `export { run } from './graph/run.js';
export type { RunEvent } from './graph/events.js';
export { type Plan, type Start as RunStart, } from './graph/plan.js';
`;
    expect(missing(index, FILES)).toEqual([
      'dist/graph/events.d.ts: End, which RunEvent of dist/graph/events.d.ts mentions',
      'dist/graph/plan.d.ts: Scope, which Plan of dist/graph/plan.d.ts mentions',
    ]);
  });

  it('may be passed on by other files', () => {
    const index = `export { run } from './door.js';
export type { End, RunEvent } from './door.js';
export type { Plan, Start } from './graph/plan.js';
`;
    const door = `import type { End } from './graph/events.js';
export { run } from './graph/run.js';
export type { RunEvent } from './graph/events.js';
export type { End };
`;
    const plan = FILES['graph/plan'].replace('readonly scope: Scope;', '');
    expect(missing(index, { ...FILES, 'graph/plan': plan, door })).toEqual([]);
  });

  it('has a written purpose for each entry', () => {
    const entries = entriesOf(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')));
    expect(entries).toContain('dist/index.d.ts');
    expect(entries.length).toBeGreaterThanOrEqual(5);
    for (const entry of entries) {
      const source = readFileSync(path.join(ROOT, entry.replace(/^dist/, 'src').replace(/\.d\.ts$/, '.ts')), 'utf8');
      expect(source, entry).toMatch(/^\/\*\*\n \* `runnel(?:\/[a-z]+)?`: [\s\S]{60,}?\*\//);
    }
  });
});
