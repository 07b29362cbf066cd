/**
 * Writes `docs/api.md`: what `runnel` exports for composing in code, from the doc comments of its sources.
 *
 * `src/index.ts` says what is public and in which section; the sources say what it is.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './support/files.js';
import { isProgram } from './support/script.js';

/** Where the page lives. */
export const API_PAGE = path.join(ROOT, 'docs/api.md');

/** Folders and files of `src` whose exports are on the page, with their titles. */
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
  ['Documents', 'knowledge/'],
  ['Operators', 'operators/'],
];

const INTRODUCTION = `<!-- Written by \`npm run docs:api\` from the doc comments of the sources; edit those instead. -->
# API reference: composing in code

Everything that \`runnel\` exports for steps, models, tools, prompts and documents. [library.md](library.md) is the guide to it.
`;

/** Lines of a declaration that are shown; longer ones end with a sign. */
const MAX_LINES = 60;

interface Entry {
  readonly name: string;
  /** Path below `src`. */
  readonly file: string;
}

/** The page as text. */
export function apiPage(): string {
  const entries = exportedNames(readFileSync(path.join(ROOT, 'src/index.ts'), 'utf8'));
  const titles = [...new Set(PARTS.map(([title]) => title))];
  const byTitle = new Map<string, Entry[]>(titles.map((title) => [title, []]));
  for (const entry of entries) {
    const part = PARTS.find(([, prefix]) => entry.file.startsWith(prefix));
    if (part !== undefined) byTitle.get(part[0])?.push(entry);
  }
  const sections = titles.map((title) => {
    const texts = (byTitle.get(title) ?? []).toSorted(byName).map(entryText);
    return `## ${title}\n\n${texts.join('\n')}`;
  });
  const contents = titles.map((title) => `[${title}](#${anchor(title)})`).join(' · ');
  return `${INTRODUCTION}\n${contents}\n\n${sections.join('\n')}`;
}

function byName(left: Entry, right: Entry): number {
  return left.name.localeCompare(right.name, 'en');
}

function anchor(title: string): string {
  return title.toLowerCase().replaceAll(',', '').replaceAll(' ', '-');
}

/** The names that an index exports, and the files they come from. */
export function exportedNames(index: string): readonly Entry[] {
  const statements = index.matchAll(/^export (?:type )?\{([^}]*)\} from '\.\/(.*)\.js';/gm);
  return [...statements].flatMap(([, names = '', file = '']) =>
    names
      .split(',')
      .map((name) => name.trim().replace(/^type /, ''))
      .filter((name) => name !== '')
      // A renamed export is looked up by the name in its source.
      .map((name) => ({ name: name.split(' as ').at(-1) as string, file: `${file}.ts` })),
  );
}

/** One name: its doc comment, and its declaration without a body. */
function entryText({ name, file }: Entry): string {
  const source = readFileSync(path.join(ROOT, 'src', file), 'utf8');
  const found = declarationOf(source, name) ?? declarationOf(source, originalName(name, file));
  if (found === undefined) throw new Error(`src/index.ts exports "${name}", which src/${file} does not declare.`);
  const { comment, code } = found;
  if (comment === '') throw new Error(`"${name}" in src/${file} has no doc comment.`);
  return `### ${name}\n\n${comment}\n\n\`\`\`text\n${code}\n\`\`\`\n`;
}

/** The name in its source of an export that \`src/index.ts\` renames. */
function originalName(name: string, file: string): string {
  const index = readFileSync(path.join(ROOT, 'src/index.ts'), 'utf8');
  const renamed = new RegExp(`(\\w+) as ${name}\\b[^}]*\\} from '\\./${file.replace(/\.ts$/, '')}\\.js'`).exec(index);
  return renamed?.[1] ?? name;
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
  const page = apiPage();
  writeFileSync(API_PAGE, page);
  console.log(`docs/api.md describes ${page.match(/^### /gm)?.length ?? 0} names`);
}
