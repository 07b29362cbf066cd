/** Writes `docs/errors.md` from the table in `src/errors.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ERROR_CODES, type ErrorCode } from '../src/errors.js';
import { ROOT } from './support/files.js';
import { isProgram } from './support/script.js';

/** Where the page lives. */
export const ERROR_PAGE = path.join(ROOT, 'docs/errors.md');

const INTRODUCTION = `<!-- Written by \`npm run docs:errors\` from src/errors.ts; edit that file instead. -->
# Errors

Every failure has one of these codes. A message names what failed, which id, what was received and what to do; programs
should look at the code alone. **Envelope** is the number in the \`code\` field of a JSON answer. Where a message is kept
from clients, they read the meaning given here instead; the log has the rest.
`;

/** The page as text: one table per group of the source, groups named by its comments. */
export function errorPage(): string {
  return [
    INTRODUCTION,
    ...groups().map(({ title, codes }) => `${heading(title)}\n${codes.map(row).join('\n')}\n`),
  ].join('\n');
}

interface Group {
  readonly title: string;
  readonly codes: ErrorCode[];
}

/** The groups exist in the source only, as comment lines between the entries. */
function groups(): readonly Group[] {
  const source = readFileSync(path.join(ROOT, 'src/errors.ts'), 'utf8');
  const table = /ERROR_CODES = \{\n([\s\S]*?)\n\} as const/.exec(source)?.[1] ?? '';
  const found: Group[] = [];
  for (const line of table.split('\n')) {
    const title = /^ {2}\/\/ (.+)$/.exec(line)?.[1];
    const code = /^ {2}([A-Z_]+):/.exec(line)?.[1];
    if (title !== undefined) found.push({ title, codes: [] });
    if (code !== undefined) found.at(-1)?.codes.push(code as ErrorCode);
  }
  return found;
}

function heading(title: string): string {
  return `## ${title.charAt(0).toUpperCase()}${title.slice(1)}\n\n| Code | Envelope | Message shown to clients | Meaning |\n|---|---|---|---|`;
}

function row(code: ErrorCode): string {
  const { envelope, expose, summary } = ERROR_CODES[code];
  return `| \`${code}\` | ${envelope} | ${expose ? 'yes' : 'no'} | ${summary.replaceAll('|', '\\|')} |`;
}

if (isProgram(import.meta.url)) {
  writeFileSync(ERROR_PAGE, errorPage());
  console.log(`docs/errors.md lists ${Object.keys(ERROR_CODES).length} codes`);
}
