/**
 * Writes `docs/api.md` and `docs/api-entries.md`: what `runnel` and its entries export, from the doc comments of their sources.
 *
 * `src/index.ts` and `src/entries` say what is public, the table below in which section; the sources say what it is. A name without a section is an
 * error.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './support/files.js';
import { isProgram } from './support/script.js';

/** Where the pages live. */
export const API_PAGE = path.join(ROOT, 'docs/api.md');
export const ENTRIES_PAGE = path.join(ROOT, 'docs/api-entries.md');

/** Folders and files of `src` whose exports by `runnel` are on the page, with their titles; the first one that fits is taken. */
const PARTS: readonly (readonly [title: string, prefix: string])[] = [
  ['Running', 'compose/run'],
  ['Going on with a run', 'compose/resume'],
  ['Chunks and stored values', 'compose/chunks/'],
  ['Chunks and stored values', 'compose/values/'],
  ['Models', 'compose/models/'],
  ['Tools', 'compose/tools/'],
  ['Prompts', 'compose/prompt/'],
  ['Steps, graphs, workflows', 'compose/'],
  ['Steps, graphs, workflows', 'standard-schema'],
  ['Canvases', 'canvas/embed'],
  ['Canvases', 'components/step-component'],
  ['Messages', 'models/messages'],
  ['Messages', 'models/message-parts'],
  ['Messages', 'models/concat-messages'],
  ['Messages', 'models/parse-message'],
  ['Messages', 'models/to-message-chunks'],
  ['Messages', 'models/content-parts'],
  ['Messages', 'models/message-schema'],
  ['Models', 'models/'],
  ['Models', 'settings/'],
  ['Documents', 'knowledge/'],
  ['Operators', 'operators/'],
  ['Agents and their tools', 'agents/'],
  ['Agents and their tools', 'tools/'],
  ['Agents and their tools', 'adapters/'],
  ['Canvases', 'canvas/'],
  ['Canvases', 'dsl/'],
  ['Components', 'components/'],
  ['Pages of others', 'ui-messages/'],
  ['Pages of others', 'ag-ui/'],
  ['Runs and events', 'graph/'],
  ['Runs and events', 'trace-context'],
  ['Errors and JSON', 'errors'],
  ['Errors and JSON', 'json'],
];

/** Names of the entries, in the order of their files. */
const ENTRIES = readdirSync(path.join(ROOT, 'src/entries')).map((file) => path.basename(file, '.ts'));

const INTRODUCTION = `<!-- Written by \`npm run docs:api\` from the doc comments of the sources; edit those instead. -->
# API reference

Everything that \`runnel\` exports; [what only its entries do](api-entries.md) is on a page of its own. [library.md](library.md) is the guide to
composing in code.
`;

const ENTRIES_INTRODUCTION = `<!-- Written by \`npm run docs:api\` from the doc comments of the sources; edit those instead. -->
# API reference of the entries

What \`runnel/engine\`, \`runnel/server\` and the other entries export beside what is in the [reference of \`runnel\`](api.md).
`;

/** Lines of a declaration that are shown; longer ones end with a sign. */
const MAX_LINES = 60;

interface Entry {
  readonly name: string;
  /** Its name in its source. */
  readonly source: string;
  /** Path below `src`. */
  readonly file: string;
}

/** The page of `runnel` as text. */
export function apiPage(): string {
  return pageOf(INTRODUCTION, mainParts());
}

/** The page of the entries as text. */
export function entriesPage(): string {
  return pageOf(ENTRIES_INTRODUCTION, entryParts());
}

function pageOf(introduction: string, byTitle: ReadonlyMap<string, readonly Entry[]>): string {
  const titles = [...byTitle.keys()];
  const sections = [...byTitle].map(
    ([title, entries]) => `## ${title}\n\n${entries.toSorted(byName).map(entryText).join('\n')}`,
  );
  const contents = titles.map((title) => `[${title}](#${anchor(title)})`).join(' · ');
  return `${introduction}\n${contents}\n\n${sections.join('\n')}`;
}

function mainParts(): ReadonlyMap<string, readonly Entry[]> {
  const byTitle = new Map<string, Entry[]>(PARTS.map(([title]) => [title, []]));
  for (const entry of exportedNames(readFileSync(path.join(ROOT, 'src/index.ts'), 'utf8'))) {
    const part = PARTS.find(([, prefix]) => entry.file.startsWith(prefix));
    if (part === undefined) throw new Error(`docs/api.md has no section for src/${entry.file}; add one to PARTS.`);
    byTitle.get(part[0])?.push(entry);
  }
  return byTitle;
}

/** Names that several entries export are on the page once. */
function entryParts(): ReadonlyMap<string, readonly Entry[]> {
  const known = new Set([...mainParts().values()].flat().map(keyOf));
  return new Map(
    ENTRIES.map((entry) => {
      const exported = exportedNames(readFileSync(path.join(ROOT, `src/entries/${entry}.ts`), 'utf8'));
      const own = exported.filter((one) => !known.has(keyOf(one)));
      for (const one of own) known.add(keyOf(one));
      return [`runnel/${entry}`, own] as const;
    }),
  );
}

function keyOf({ name, file }: Entry): string {
  return `${file}#${name}`;
}

function byName(left: Entry, right: Entry): number {
  return left.name.localeCompare(right.name, 'en');
}

function anchor(title: string): string {
  return title.toLowerCase().replaceAll(/[,/]/g, '').replaceAll(' ', '-');
}

/** The names that an index exports, and the files they come from. */
export function exportedNames(index: string): readonly Entry[] {
  const statements = index.matchAll(/^export (?:type )?\{([^}]*)\} from '\.\.?\/(.*)\.js';/gm);
  return [...statements].flatMap(([, names = '', file = '']) =>
    names
      .split(',')
      .map((name) => name.trim().replace(/^type /, ''))
      .filter((name) => name !== '')
      // A renamed export is looked up by the name in its source.
      .map((name) => ({
        name: name.split(' as ').at(-1) as string,
        source: name.split(' as ')[0] as string,
        file: `${file}.ts`,
      })),
  );
}

/** One name: its doc comment, and its declaration without a body. */
function entryText({ name, source, file }: Entry): string {
  const found = declarationIn(file, source);
  if (found === undefined) throw new Error(`"${name}" is exported, but src/${file} does not declare "${source}".`);
  const { comment, code } = found;
  if (comment === '') throw new Error(`"${name}" in src/${file} has no doc comment.`);
  return `### ${name}\n\n${comment}\n\n\`\`\`text\n${code}\n\`\`\`\n`;
}

/** In a file, or in that from which the file passes it on. */
function declarationIn(file: string, name: string): ReturnType<typeof declarationOf> {
  const text = readFileSync(path.join(ROOT, 'src', file), 'utf8');
  const found = declarationOf(text, name);
  if (found !== undefined) return found;
  const passedOn = text.matchAll(/^(?:export|import) (?:type )?\{([^}]*)\} from '(.*)\.js';/gm);
  for (const [, names = '', from = ''] of passedOn) {
    const isHere = names.split(',').some((one) => one.trim().replace(/^type /, '') === name);
    if (isHere) return declarationIn(path.posix.join(path.posix.dirname(file), `${from}.ts`), name);
  }
  return undefined;
}

/** The first declaration of a name: overloads all, functions and classes without their bodies. */
export function declarationOf(
  source: string,
  name: string,
): { readonly comment: string; readonly code: string } | undefined {
  const start = new RegExp(
    `^export (?:declare )?(?:async )?(?:function\\*?|const|class|interface|type) ${name}\\b`,
    'm',
  );
  const match = start.exec(source);
  if (match === null) return undefined;
  const lines = source.slice(match.index).split('\n');
  const code = match[0].includes('function') ? signaturesOf(lines, name) : declarationLines(lines);
  const shown = code.length > MAX_LINES ? [...code.slice(0, MAX_LINES), '  …'] : code;
  const text = shown.join('\n').replace(/^export (?:async )?/gm, '');
  return { comment: commentBefore(source.slice(0, match.index)), code: text };
}

/** Each overload, or the one signature. */
function signaturesOf(lines: readonly string[], name: string): readonly string[] {
  const signatures: string[] = [];
  const begins = new RegExp(`^export (?:async )?function\\*? ${name}\\b`);
  let isInside = false;
  let isOverload = false;
  for (const line of lines) {
    if (begins.test(line)) isInside = true;
    else if (!isInside && line.startsWith('export')) break;
    if (!isInside) continue;
    const isBody = /\{$/.test(line) && /^(?:\S.*)?\).*\{$/.test(line);
    // The implementation behind overloads is not for callers.
    if (isBody && isOverload) return withoutLastSignature(signatures, begins);
    signatures.push(isBody ? line.replace(/ \{$/, ';') : line);
    if (isBody) return signatures;
    if (line.endsWith(';') && /^(?:\S.*)?\).*;$/.test(line)) {
      isOverload = true;
      isInside = false;
    }
  }
  return signatures;
}

function withoutLastSignature(signatures: readonly string[], begins: RegExp): readonly string[] {
  const last = signatures.findLastIndex((line) => begins.test(line));
  return signatures.at(-1)?.endsWith(';') === true ? signatures : signatures.slice(0, last);
}

/** A declaration up to its end; of a class the public members without bodies, of a constant its type. */
function declarationLines(lines: readonly string[]): readonly string[] {
  const [first = ''] = lines;
  if (first.startsWith('export const')) return [first.replace(/ =.*$/, ';')];
  if (first.startsWith('export class')) return [`${first.replace(/ \{$/, '')};`];
  if (/^export (?:interface|type) .*[;}]$/.test(first)) return [first];
  const end = lines.findIndex(
    (line, at) => at > 0 && /^(?:\}|.*;$)/.test(line) && (line.startsWith('}') || first.startsWith('export type')),
  );
  const isObject = first.endsWith('{');
  const close = isObject ? lines.findIndex((line, at) => at > 0 && line.startsWith('}')) : end;
  return lines.slice(0, close + 1);
}

/** The doc comment that ends a text, as Markdown. */
function commentBefore(text: string): string {
  const match = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:\/\/ biome-ignore[^\n]*\n)?$/.exec(text);
  const lines = (match?.[1] ?? '').split('\n').map((line) => line.replace(/^\s*\* ?/, '').trimEnd());
  return lines
    .join('\n')
    .trim()
    .replace(/\{@link ([^}]+)\}/g, '`$1`')
    .replace(/^```ts.*$/gm, '```typescript')
    .replace(/^@throws /gm, '\n**Throws** ')
    .replace(/^@param (\S+)/gm, '\n**$1**:')
    .replace(/^@default /gm, '\n**Default**: ');
}

if (isProgram(import.meta.url)) {
  const pages = [
    [API_PAGE, apiPage()],
    [ENTRIES_PAGE, entriesPage()],
  ] as const;
  for (const [file, page] of pages) {
    writeFileSync(file, page);
    console.log(`docs/${path.basename(file)} describes ${page.match(/^### /gm)?.length ?? 0} names`);
  }
}
