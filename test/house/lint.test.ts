import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

interface Ban {
  /** What is banned, and the file name of its fixture. */
  readonly name: string;
  /** Folder of `src` the fixture pretends to live in. */
  readonly folder?: string;
  /** File name of the fixture, where the rule cares about it. */
  readonly file?: string;
  /** Rule that must speak: biome's category, or `plugin`. */
  readonly rule: string;
  /** Words its message must hold, to tell plugins from each other. */
  readonly says?: RegExp;
  /** Code that breaks the rule. */
  readonly bad: string;
  /** Its twin, in which lint finds nothing at all. */
  readonly good: string;
  /** Folder in which `bad` itself is allowed. */
  readonly allowedIn?: string;
}

const RESTRICTED = 'lint/style/noRestrictedImports';

const BANS: readonly Ban[] = [
  {
    name: 'share-replay-count',
    rule: 'plugin',
    says: /refCount/,
    bad: 'export const a = source.pipe(shareReplay(1));',
    good: 'export const a = source.pipe(shareReplay({ bufferSize: 1, refCount: true }));',
  },
  {
    name: 'share-replay-false',
    rule: 'plugin',
    says: /refCount/,
    bad: 'export const a = source.pipe(shareReplay({ bufferSize: 1, refCount: false }));',
    good: 'export const a = source.pipe(share());',
  },
  {
    name: 'replay-subject-bare',
    rule: 'plugin',
    says: /ReplaySubject/,
    bad: 'export const a = new ReplaySubject<string>();',
    good: 'export const a = new ReplaySubject<string>(1);',
  },
  {
    name: 'replay-subject-infinite',
    rule: 'plugin',
    says: /ReplaySubject/,
    bad: 'export const a = new ReplaySubject(Infinity, 5);',
    good: 'export const a = new ReplaySubject(size, 5);',
  },
  {
    name: 'to-promise',
    rule: 'plugin',
    says: /toPromise/,
    bad: 'export const a = () => source?.toPromise();',
    good: 'export const a = () => firstValueFrom(source);',
  },
  {
    name: 'nested-subscribe-function',
    rule: 'plugin',
    says: /Nested subscribe/,
    bad: 'export const a = () => outer.subscribe((value) => inner(value).subscribe(log));',
    good: 'export const a = () => outer.pipe(mergeMap(inner)).subscribe(log);',
  },
  {
    name: 'nested-subscribe-observer',
    rule: 'plugin',
    says: /Nested subscribe/,
    bad: 'export const a = () => outer.subscribe({ next(value) { inner.pipe(f(value)).subscribe(); } });',
    good: 'export const a = new Observable((subscriber) => outer.subscribe(subscriber));',
  },
  {
    name: 'partition',
    folder: 'operators',
    rule: RESTRICTED,
    bad: "import { partition } from 'rxjs';\nexport const a = partition;",
    good: "import { merge } from 'rxjs';\nexport const a = merge;",
  },
  {
    name: 'expand',
    folder: 'operators',
    rule: RESTRICTED,
    bad: "import { expand as loop } from 'rxjs';\nexport const a = loop;",
    good: "import { map as loop } from 'rxjs';\nexport const a = loop;",
  },
  {
    name: 'queue-scheduler',
    rule: RESTRICTED,
    bad: "import { queueScheduler } from 'rxjs';\nexport const a = queueScheduler;",
    good: "import { asapScheduler } from 'rxjs';\nexport const a = asapScheduler;",
  },
  {
    name: 'async-scheduler',
    rule: RESTRICTED,
    bad: "import { asyncScheduler } from 'rxjs';\nexport const a = asyncScheduler;",
    good: "import { timer } from 'rxjs';\nexport const a = timer;",
    allowedIn: 'models',
  },
  {
    name: 'rxjs-namespace',
    rule: RESTRICTED,
    bad: "import * as rx from 'rxjs';\nexport const a = rx.partition;",
    good: "import { of } from 'rxjs';\nexport const a = of;",
  },
  {
    name: 'rxjs-internal',
    rule: RESTRICTED,
    bad: "import { map } from 'rxjs/internal/operators/map';\nexport const a = map;",
    good: "import { TestScheduler } from 'rxjs/testing';\nexport const a = TestScheduler;",
  },
  {
    name: 'node-vm',
    rule: RESTRICTED,
    bad: "export const a = () => import('node:vm');",
    good: "export const a = () => import('node:v8');",
  },
  {
    name: 'eval',
    rule: 'lint/security/noGlobalEval',
    bad: 'export const a = (text: string) => eval(text);',
    good: 'export const a = (text: string) => evaluate(text);',
  },
  {
    name: 'new-function',
    rule: 'plugin',
    says: /Function constructor/,
    bad: "export const a = new Function('a', 'return a');",
    good: 'export const a = newFunction();',
  },
  {
    name: 'called-function',
    rule: 'plugin',
    says: /Function constructor/,
    bad: "export const a = globalThis.Function('return 1');",
    good: 'export const a = isFunction(1);',
  },
  {
    name: 'export-star',
    rule: 'plugin',
    says: /names/,
    bad: "export * from './json.js';",
    good: "export { isJsonObject } from './json.js';",
  },
  {
    name: 'export-type-star',
    rule: 'plugin',
    says: /names/,
    bad: "export type * from './json.js';",
    good: "export type { Json } from './json.js';",
  },
  {
    name: 'default-export',
    rule: 'lint/style/noDefaultExport',
    bad: 'export default 1;',
    good: 'export const one = 1;',
  },
  {
    name: 'as-any',
    rule: 'lint/suspicious/noExplicitAny',
    bad: 'export const a = JSON.parse(text) as any;',
    good: 'export const a = JSON.parse(text) as unknown;',
  },
  {
    name: 'ts-ignore',
    rule: 'lint/suspicious/noTsIgnore',
    bad: '// @ts-ignore\nexport const a: string = 1;',
    good: '// @ts-expect-error a number is no string\nexport const a: string = 1;',
  },
  {
    name: 'floating-promise',
    rule: 'lint/nursery/noFloatingPromises',
    bad: 'async function save(): Promise<void> {}\nexport function a() { save(); }',
    good: 'async function save(): Promise<void> {}\nexport async function a() { await save(); }',
  },
  {
    name: 'shift',
    rule: 'plugin',
    says: /head index/,
    bad: 'export const a = (queue?: string[]) => queue?.shift();',
    good: 'export const a = (queue: string[], head: number) => queue[head];',
    allowedIn: 'cli',
  },
  {
    name: 'type-branch',
    rule: 'plugin',
    says: /component's type/,
    bad: "export const a = (node: { type: string }) => node.type === 'Switch';",
    good: "export const a = (event: { type: string }) => event.type === 'settled';",
    allowedIn: 'components',
  },
  {
    name: 'type-branch-mirrored',
    rule: 'plugin',
    says: /component's type/,
    bad: "export const a = (type: string) => 'Loop' !== type;",
    good: "export const a = (value: unknown) => typeof value !== 'object';",
    allowedIn: 'dsl',
  },
  {
    name: 'type-switch',
    rule: 'plugin',
    says: /component's type/,
    bad: "export function a(node: { type: string }) { switch (node.type) { case 'Begin': return 1; default: return 2; } }",
    good: "export function a(node: { type: string }) { switch (node.type) { case 'delta': return 1; default: return 2; } }",
  },
  {
    name: 'component-name',
    rule: 'plugin',
    says: /component's type/,
    bad: 'export const a = component.obj.component_name === wanted;',
    good: 'export const a = component.obj.component_name;',
  },
  {
    name: 'abstract-class',
    rule: 'plugin',
    says: /abstract/,
    bad: 'export abstract class A {}',
    good: 'export class A {}',
  },
  {
    name: 'decorator',
    rule: 'plugin',
    says: /decorator/,
    bad: '@sealed class A {}\nexport const a = A;',
    good: 'class A {}\nexport const a = sealed(A);',
  },
  {
    name: 'module-state',
    rule: 'plugin',
    says: /mutable state/,
    bad: 'let count = 0;\nexport const a = () => ++count;',
    good: 'export function a() { let count = 0; count += 1; return count; }',
  },
  {
    name: 'exported-state',
    rule: 'plugin',
    says: /mutable state/,
    bad: 'export let count = 0;',
    good: 'export const count = 0;',
  },
  { name: 'enum', rule: 'lint/style/noEnum', bad: 'export enum A { B }', good: "export type A = 'b';" },
  {
    name: 'undeclared-dependency',
    rule: 'lint/correctness/noUndeclaredDependencies',
    bad: "import { Chai } from 'chai';\nexport const a = Chai;",
    good: "import { of } from 'rxjs';\nexport const a = of;",
  },
  {
    name: 'dev-dependency',
    rule: 'lint/correctness/noUndeclaredDependencies',
    bad: "import { vi } from 'vitest';\nexport const a = vi;",
    good: "import { z } from 'zod';\nexport const a = z;",
  },
  {
    name: 'file-name',
    file: 'fileName.ts',
    rule: 'lint/style/useFilenamingConvention',
    bad: 'export const a = 1;',
    good: 'export const a = 1;',
  },
  {
    name: 'import-cycle',
    rule: 'lint/suspicious/noImportCycles',
    bad: "import { b } from './import-cycle-other.js';\nexport const a = () => b;",
    good: "import { EngineError } from '../errors.js';\nexport const a = () => EngineError;",
  },
];

const ROOT = path.resolve(import.meta.dirname, '../..');
const at = (folder: string, ban: Ban): string => `src/${folder}/${ban.file ?? `${ban.name}.ts`}`;
const twinOf = (ban: Ban): string => `src/${ban.folder ?? 'graph'}/${ban.name}-twin.ts`;

describe('banned code', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'runnel-lint-'));
  const found = new Map<string, { rule: string; message: string }[]>();

  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), `${text}\n`);
  };

  beforeAll(() => {
    for (const name of ['biome.json', 'lint', '.gitignore', 'package.json']) {
      cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
    }
    write('src/errors.ts', 'export class EngineError extends Error {}');
    write('src/graph/import-cycle-other.ts', "import { a } from './import-cycle.js';\nexport const b = () => a;");
    for (const ban of BANS) {
      write(at(ban.folder ?? 'graph', ban), ban.bad);
      write(twinOf(ban), ban.good);
      if (ban.allowedIn !== undefined) write(at(ban.allowedIn, ban), ban.bad);
    }
    const biome = path.join(ROOT, 'node_modules/@biomejs/biome/bin/biome');
    const args = [biome, 'lint', '--reporter=json', '--max-diagnostics=none', '.'];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
    if (!stdout.startsWith('{')) throw new Error(`biome gave no report: ${stdout}${stderr}`);
    for (const { category, message, location } of JSON.parse(stdout).diagnostics) {
      const file = location.path.replaceAll('\\', '/');
      found.set(file, [...(found.get(file) ?? []), { rule: category, message }]);
    }
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(BANS)('$name', (ban) => {
    const wanted = { rule: ban.rule, message: expect.stringMatching(ban.says ?? /./) };
    expect(found.get(at(ban.folder ?? 'graph', ban))).toContainEqual(wanted);
    expect(found.get(twinOf(ban)) ?? []).toEqual([]);
    if (ban.allowedIn !== undefined) expect(found.get(at(ban.allowedIn, ban)) ?? []).not.toContainEqual(wanted);
  });

  it('has plugins that compile and run', () => {
    const broken = [...found.values()].flat().filter(({ message }) => message.includes('errored'));
    expect(broken).toEqual([]);
  });
});
