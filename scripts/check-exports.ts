/**
 * Holds that users of the package can name every type they meet: what an exported signature mentions is exported, too, by one of the
 * entries in `package.json`. Reads the declarations that the compiler wrote; needs `npm run build` first.
 *
 * Declarations are formatted by the compiler: every top-level one begins in the first column, types are in Pascal case.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, readFiles, type SourceFile } from './support/files.js';
import { isProgram, report } from './support/script.js';

/** A top-level declaration. */
interface Declaration {
  readonly name: string;
  /** Without comments and texts. */
  readonly text: string;
}

/** What one file declares, and where the names come from that it does not. */
interface Module {
  readonly declarations: readonly Declaration[];
  /** By local name; only what comes from files of the package. */
  readonly imports: ReadonlyMap<string, Origin>;
  /** By exported name, for names that another file declares. */
  readonly reexports: ReadonlyMap<string, Origin>;
}

/** A name in the braces of an import or export. */
const PASSED_ON = /^\s*(?:type\s+)?(\w+)(?:\s+as\s+(\w+))?\s*$/;

interface Origin {
  readonly file: string;
  readonly name: string;
}

/**
 * The types that exported signatures mention and no entry exports, a line each, sorted. `files` are all declarations, `entries` the
 * paths of those that users import from.
 */
export function missingExports(files: readonly SourceFile[], entries: readonly string[]): readonly string[] {
  const modules = new Map(files.map((file) => [file.path, readModule(file)]));
  const exported = new Map(
    entries.flatMap((entry) => exportsOf(entry, modules)).map((origin) => [keyOf(origin), origin]),
  );
  const missing = new Map<string, string>();
  for (const { file, name } of exported.values()) {
    const module = modules.get(file);
    const texts = module?.declarations.filter((one) => one.name === name).map(({ text }) => text) ?? [];
    for (const mentioned of texts.flatMap((text) => mentionsIn(text, file, modules))) {
      if (exported.has(keyOf(mentioned)) || missing.has(keyOf(mentioned))) continue;
      missing.set(keyOf(mentioned), `${mentioned.file}: ${mentioned.name}, which ${name} of ${file} mentions`);
    }
  }
  return [...missing.values()].sort();
}

function readModule({ path: file, text }: SourceFile): Module {
  const plain = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*$/gm, '');
  const imports = new Map<string, Origin>();
  const reexports = new Map<string, Origin>();
  for (const [, kind, list = '', from = ''] of plain.matchAll(
    /^(import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+['"]([^'"]+)['"]/gm,
  )) {
    if (!from.startsWith('.')) continue;
    for (const part of list.split(',')) {
      const [, name = '', alias = name] = PASSED_ON.exec(part) ?? [];
      if (name !== '') (kind === 'import' ? imports : reexports).set(alias, { file: resolve(file, from), name });
    }
  }
  // Imported names that are passed on by a statement of their own.
  for (const [, list = ''] of plain.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\};?\s*$/gm)) {
    for (const part of list.split(',')) {
      const [, name = '', alias = name] = PASSED_ON.exec(part) ?? [];
      const origin = imports.get(name);
      if (origin !== undefined) reexports.set(alias, origin);
    }
  }
  return { declarations: declarationsIn(plain), imports, reexports };
}

function declarationsIn(plain: string): readonly Declaration[] {
  const start = /^(?:export\s+)?(?:declare\s+)?(?:abstract\s+)?(?:interface|type|class|function|const|enum)\s+(\w+)/gm;
  const starts = [...plain.matchAll(start)];
  // Texts may contain anything, also words that look like types; the paths of `import("…")` must stay.
  const withoutTexts = (text: string): string => text.replace(/(?<!import\()(["'`])(?:\\.|(?!\1).)*\1/g, '');
  return starts.map((match, index) => {
    const end = starts[index + 1]?.index ?? plain.length;
    return { name: match[1] ?? '', text: withoutTexts(plain.slice(match.index + match[0].length, end)) };
  });
}

/** Where the names that a file exports are declared. */
function exportsOf(entry: string, modules: ReadonlyMap<string, Module>): readonly Origin[] {
  const module = modules.get(entry);
  if (module === undefined) throw new Error(`there is no ${entry}; run npm run build`);
  const own = module.declarations.map(({ name }) => ({ file: entry, name }));
  return [...own, ...[...module.reexports.values()].map((origin) => declaredAt(origin, modules))];
}

/** Follows names that are only passed on. */
function declaredAt(origin: Origin, modules: ReadonlyMap<string, Module>): Origin {
  const module = modules.get(origin.file);
  const next = module?.reexports.get(origin.name);
  return next === undefined ? origin : declaredAt(next, modules);
}

/** The types of the package that a declaration mentions. */
function mentionsIn(text: string, file: string, modules: ReadonlyMap<string, Module>): readonly Origin[] {
  const module = modules.get(file);
  const inline = [...text.matchAll(/import\("(\.[^"]+)"\)\.(\w+)/g)].map(
    ([, from = '', name = '']): Origin => ({ file: resolve(file, from), name }),
  );
  // Neither members of other types (`z.ZodType`), nor values, nor names of properties.
  const names = [...text.matchAll(/(?<!typeof )(?<![.\w])([A-Z]\w*)\b(?!\??:)/g)].map((match) => match[1] ?? '');
  const local = names.flatMap((name): readonly Origin[] => {
    if (module?.declarations.some((one) => one.name === name)) return [{ file, name }];
    const origin = module?.imports.get(name);
    return origin === undefined ? [] : [origin];
  });
  return [...inline, ...local]
    .map((origin) => declaredAt(origin, modules))
    .filter(({ file: at, name }) => modules.get(at)?.declarations.some((one) => one.name === name));
}

function resolve(file: string, from: string): string {
  return path.posix.join(path.posix.dirname(file), from.replace(/\.js$/, '.d.ts'));
}

function keyOf({ file, name }: Origin): string {
  return `${file}#${name}`;
}

/** The declarations of the entries in `package.json`. */
export function entriesOf(manifest: { readonly exports: Readonly<Record<string, unknown>> }): readonly string[] {
  return Object.values(manifest.exports).flatMap((entry) => {
    const types = typeof entry === 'object' && entry !== null && 'types' in entry ? entry.types : undefined;
    return typeof types === 'string' ? [path.posix.normalize(types)] : [];
  });
}

if (isProgram(import.meta.url)) {
  const entries = entriesOf(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')));
  const problems = missingExports(readFiles('dist', '.d.ts'), entries);
  report(
    problems.map((problem) => `not exported: ${problem}`),
    `${entries.length} entries export every type that they mention`,
  );
}
