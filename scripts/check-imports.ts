/**
 * Which folder of `src` may import which, and what the studio in `web` may.
 *
 * A linter sees an import as text, and `../graph/plan.js` means different folders in different places; here every
 * import is resolved first. Cycles between files are biome's part (`noImportCycles`).
 */
import path from 'node:path';
import { readFiles, type SourceFile } from './support/files.js';
import { isProgram, report } from './support/script.js';

const BASE = [
  'errors',
  'group-by',
  'json',
  'logger',
  'nearest-name',
  'newest',
  'own-pages',
  'passing-values',
  'standard-schema',
  'trace-context',
];
const ENGINE = [...BASE, 'operators', 'dsl', 'graph'];
const PORTS = [...ENGINE, 'threads', 'templates', 'models', 'records'];
const ADAPTERS = [...PORTS, 'documents', 'adapters'];
const NODES = [...ADAPTERS, 'knowledge', 'tools', 'compose', 'agents', 'chat', 'research'];
const HOST = [...ENGINE, 'models', 'records', 'adapters', 'components', 'canvas', 'telemetry'];
const EVERYTHING_BUT_CLI = [
  ...NODES,
  'ingestion',
  'components',
  'settings',
  'stores',
  'canvas',
  'ui-messages',
  'ag-ui',
  'telemetry',
  'hosting',
  'transport',
];

/** The parts of `src`, each with the parts it may import besides itself. */
export const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  'group-by': [],
  json: [],
  logger: [],
  'nearest-name': [],
  newest: [],
  'own-pages': [],
  'passing-values': [],
  'standard-schema': [],
  'trace-context': [],
  operators: BASE,
  threads: [...BASE, 'operators'],
  dsl: BASE,
  templates: [...BASE, 'dsl'],
  models: [...BASE, 'operators'],
  graph: [...BASE, 'operators', 'dsl'],
  records: ENGINE,
  stores: [...ENGINE, 'records'],
  documents: PORTS,
  adapters: [...PORTS, 'documents'],
  knowledge: [...BASE, 'operators', 'threads', 'models', 'records', 'documents', 'adapters'],
  tools: [...ADAPTERS, 'knowledge'],
  compose: [...ADAPTERS, 'knowledge', 'tools'],
  ingestion: NODES,
  agents: [...ADAPTERS, 'knowledge', 'tools', 'compose', 'ui-messages'],
  chat: [...ADAPTERS, 'knowledge', 'tools', 'compose', 'agents'],
  research: [...ADAPTERS, 'knowledge', 'tools', 'compose', 'agents', 'chat'],
  components: [...NODES, 'ingestion'],
  canvas: [...ENGINE, 'templates', 'models', 'records', 'compose', 'components', 'ingestion'],
  'ui-messages': [...BASE, 'operators', 'dsl', 'graph', 'models'],
  'ag-ui': [...BASE, 'operators', 'graph', 'models', 'ui-messages'],
  telemetry: [...BASE, 'operators', 'graph'],
  hosting: HOST,
  settings: [...BASE, 'operators', 'threads', 'models', 'records', 'adapters', 'hosting'],
  transport: [...HOST, 'agents', 'chat', 'research', 'knowledge', 'dsl', 'settings', 'hosting', 'ui-messages'],
  cli: [...EVERYTHING_BUT_CLI, 'index'],
  testing: [...ENGINE, 'models', 'compose'],
  index: EVERYTHING_BUT_CLI,
  entries: [...EVERYTHING_BUT_CLI, 'testing'],
};

/** The parts of `src` whose code runs in the studio's page as well; of all others it may import types only. */
export const IN_BROWSERS: readonly string[] = ['canvas', 'dsl', 'errors', 'json', 'operators'];

/** Files of other parts that need nothing of Node, and so run there, too. */
const FILES_IN_BROWSERS: readonly string[] = [
  'src/knowledge/evaluation/metrics.js',
  'src/research/deep/fold-research.js',
  'src/research/plan/plan-tools.js',
  'src/research/service/research-frames.js',
];

/** Says what is wrong with the imports of `files` (below `src` or `web`), one line each: `file:line: what`. */
export function importProblems(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => {
    const problem = file.path.startsWith('web/') ? studioProblemOf : problemOf;
    return relativeImports(file.text).flatMap((found) => problem(file.path, found));
  });
}

interface Import {
  readonly specifier: string;
  readonly line: number;
  readonly isType: boolean;
}

// Formatted code starts its import and export statements in the first column; `import()` may be anywhere.
const STATEMENT =
  /^(?:import\s+(?:type\s+)?(?:[^'";=()]*?\bfrom\s*)?|export\s+[^'";=()]*?\bfrom\s*)['"](\.[^'"\n]*)['"]/gm;
const TYPE = /^(?:import|export)\s+type\b/;
const CALL = /\bimport\(\s*['"](\.[^'"\n]*)['"]/g;
const COMMENT_LINE = /^\s*(?:\/\/|\/?\*)/;

function relativeImports(text: string): readonly Import[] {
  const lines = text.split('\n');
  return [STATEMENT, CALL].flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const line = text.slice(0, match.index + match[0].length).split('\n').length;
      return COMMENT_LINE.test(lines[line - 1] ?? '')
        ? []
        : [{ specifier: match[1] ?? '', line, isType: TYPE.test(match[0]) }];
    }),
  );
}

function problemOf(file: string, { specifier, line }: Import): readonly string[] {
  const where = `${file}:${line}:`;
  const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier));
  if (!target.startsWith('src/')) return [`${where} imports ${specifier}, which is outside src`];
  const from = partOf(file);
  const to = partOf(target);
  const allowed = ALLOWED[from];
  if (allowed === undefined) return [`${where} src/${from} has no row in scripts/check-imports.ts; add it there`];
  if (from === to || allowed.includes(to)) return [];
  return [`${where} src/${from} may not import src/${to} (${specifier}); it may import ${list(allowed)}`];
}

function studioProblemOf(file: string, { specifier, line, isType }: Import): readonly string[] {
  const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier));
  if (target.startsWith('web/') || isType) return [];
  if (target.startsWith('src/') && IN_BROWSERS.includes(partOf(target))) return [];
  if (FILES_IN_BROWSERS.includes(target)) return [];
  return [
    `${file}:${line}: web may not import ${target}, for it may not run in a browser; it may import types, and from src ${list(IN_BROWSERS)}`,
  ];
}

/** `src/graph/plan.ts` belongs to `graph`, `src/errors.ts` to `errors`. */
function partOf(file: string): string {
  return (file.split('/')[1] ?? '').replace(/\.[^.]*$/, '');
}

function list(parts: readonly string[]): string {
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

if (isProgram(import.meta.url)) {
  const files = [...readFiles('src', '.ts'), ...readFiles('web', '.ts'), ...readFiles('web', '.tsx')];
  report(importProblems(files), `${files.length} files import in the allowed directions`);
}
