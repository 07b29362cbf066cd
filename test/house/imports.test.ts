import { describe, expect, it } from 'vitest';
import { ALLOWED, importProblems } from '../../scripts/check-imports.js';

const check = (path: string, text: string): readonly string[] => importProblems([{ path, text }]);

describe('import directions', () => {
  it.each([
    ['a value', "import { run } from '../graph/run.js';"],
    ['a type', "import type { Plan } from '../graph/plan.js';"],
    ['a default beside a type', "import plan, { type Plan } from '../graph/plan.js';"],
    ['a namespace', "import * as graph from '../graph/plan.js';"],
    ['a side effect', "import '../graph/plan.js';"],
    ['names on many lines', "import {\n  compile,\n  type Plan,\n} from '../graph/plan.js';"],
    ['names passed on', "export { compile } from '../graph/plan.js';"],
    ['types passed on', "export type { Plan } from '../graph/plan.js';"],
    ['a late import', "const load = () => import('../graph/plan.js');"],
    ['a type in place', "let plan: import('../graph/plan.js').Plan;"],
    ['double quotes', 'import { run } from "../graph/run.js";'],
  ])('sees %s', (_, text) => {
    const lines = text.split('\n').length;
    expect(check('src/dsl/a.ts', text)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^src/dsl/a.ts:${lines}: src/dsl may not import src/graph .*errors, group-by, json, logger, nearest-name, newest, own-pages, passing-values, standard-schema, trace-context$`,
        ),
      ),
    ]);
  });

  it.each([
    ['a package', "import { graph } from 'graph';"],
    ['text that looks like a path', "export const folder = './graph/plan.js';"],
    ['a path handed to a function', "export const file = read('../graph/plan.js');"],
    ['a comment line', "// import { run } from '../graph/run.js';\n/**\n * import('../graph/run.js')\n */"],
    ['its own folder', "import { resolve } from './resolve.js';"],
    ['its own folder from below', "import { resolve } from './resolve.js';"],
    ['a folder above', "import { EngineError } from '../errors.js';\nimport type { Json } from '../json.js';"],
  ])('lets %s pass', (_, text) => {
    expect(check('src/dsl/a.ts', text)).toEqual([]);
  });

  it('resolves paths before it judges them', () => {
    expect(check('src/dsl/jinja/a.ts', "import { a } from '../graph/b.js';")).toEqual([]);
    expect(check('src/dsl/jinja/a.ts', "import { a } from '../../graph/b.js';")).toHaveLength(1);
    expect(check('src/dsl/jinja/a.ts', "import { a } from '../../dsl/b.js';")).toEqual([]);
  });

  it.each([
    ['src/errors.ts', "import type { Json } from './json.js';"],
    ['src/transport/a.ts', "import { memory } from '../stores/memory.js';"],
    ['src/components/a.ts', "import { memory } from '../stores/memory.js';"],
    ['src/canvas/a.ts', "import { http } from '../tools/http.js';"],
    ['src/graph/a.ts', "import { chat } from '../models/chat-model.js';"],
    ['src/graph/a.ts', "import { loadCanvas } from '../index.js';"],
    ['src/index.ts', "import { main } from './cli/main.js';"],
    ['src/cli/a.ts', "import manifest from '../../package.json' with { type: 'json' };"],
    ['src/surprise/a.ts', "import { EngineError } from '../errors.js';"],
  ])('refuses in %s: %s', (path, text) => {
    expect(check(path, text)).toHaveLength(1);
  });

  it.each([
    ['src/transport/a.ts', "import { openCanvas } from '../canvas/open.js';"],
    ['src/tools/a.ts', "import { search } from '../knowledge/search.js';"],
    ['src/components/a.ts', "import { loop } from '../agents/loop.js';"],
    ['src/cli/a.ts', "import { memory } from '../stores/memory.js';"],
    ['src/index.ts', "export { memory } from './stores/memory.js';"],
  ])('allows in %s: %s', (path, text) => {
    expect(check(path, text)).toEqual([]);
  });

  it.each([
    ["import { readDocument } from '../../src/dsl/read.js';", 0],
    ["import type { RunRecord } from '../../src/records/runs.js';", 0],
    ["import { Button } from '../parts/button.js';", 0],
    ["import { runView } from '../../src/transport/runs/run-view.js';", 1],
    ["import { runSteps } from '../../scripts/check.js';", 1],
  ])('lets the studio have what runs in browsers, and types: %s', (text, problems) => {
    expect(check('web/run/a.tsx', text)).toHaveLength(problems);
  });

  it('has a table without a cycle, whose rows are all known', () => {
    const isAbove = (part: string, seen: readonly string[]): boolean =>
      !seen.includes(part) && (ALLOWED[part] ?? ['unknown']).every((next) => isAbove(next, [...seen, part]));
    expect(Object.keys(ALLOWED).filter((part) => !isAbove(part, []))).toEqual([]);
  });
});
