/** Writes `docs/tools.md` from the built-in tools. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { describeParameters } from '../src/components/catalogue.js';
import { markdownTable } from '../src/documents/markdown-tables.js';
import { parametersSchema } from '../src/tools/call-tool.js';
import { tools } from '../src/tools/index.js';
import type { AnyTool, Shape } from '../src/tools/tool.js';
import { ROOT } from './support/files.js';
import { isProgram } from './support/script.js';

/** Where the page lives. */
export const TOOL_PAGE = path.join(ROOT, 'docs/tools.md');

const INTRODUCTION = `<!-- Written by \`npm run docs:tools\` from src/tools; edit the tools instead. -->
# Tools

Every tool is a node type of its own and a function that an Agent may offer to its model. **Arguments** come with each call: a
model writes them, and a node has them as parameters, in which references are replaced. **Parameters** are set once, in the
document, and no model sees them; keys and passwords are among them. Beside these, a node has what every node has, and
\`max_retries\` and \`delay_after_error\` (seconds), unless the tool is never tried again.

Where a fixed service is asked, \`RUNNEL_TOOL_BASE_URLS\` points it elsewhere, by any name of the tool:
\`{"tavily_search": "https://tavily.example.org"}\`. Other addresses, those that documents and models name, must be public unless
\`RUNNEL_ALLOW_PRIVATE_NETWORK\` is set.
`;

/** The page as text, one section per tool, by the name of its component. */
export function toolDocs(all: readonly AnyTool[] = tools): string {
  const sorted = [...all].sort((a, b) => a.component.localeCompare(b.component, 'en'));
  return `${[INTRODUCTION, ...sorted.map(section)].join('\n')}`;
}

function section(tool: AnyTool): string {
  const { component, name, aliases = [], summary, advice = '', timeoutSeconds, isRepeatable = true, outputs } = tool;
  const also = aliases.length === 0 ? '' : `; also known as ${aliases.map((one) => `\`${one}\``).join(', ')}`;
  const again = isRepeatable ? '' : ' It is never tried again.';
  return [
    `## ${component}\n`,
    `${summary}\n`,
    advice === '' ? '' : `For models: ${advice}\n`,
    `Function \`${name}\`${also}. A call may take ${timeoutSeconds} seconds.${again}\n`,
    table(['Argument', 'Type', 'Default', 'Meaning'], argumentRows(tool)),
    table(['Parameter', 'Type', 'Default', 'Meaning'], rowsOf(tool.params as Shape)),
    table(
      ['Output', 'Type', 'Meaning'],
      Object.entries(outputs).map(([output, { type, description }]) => [`\`${output}\``, type, description]),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** A node may leave out what it takes from elsewhere; a model may not. */
function argumentRows({ arguments: shape, nodeDefaults = {} }: AnyTool): string[][] {
  const { required } = parametersSchema(shape as Shape);
  const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
  return Object.keys(shape as Shape).map((name) => {
    const [row = []] = rowsOf({ [name]: (shape as Shape)[name] as z.ZodType });
    const [cell = '', type = '', fallback = '', meaning = ''] = row;
    const usual = nodeDefaults[name];
    const node = usual === undefined ? '' : `; a node takes \`${JSON.stringify(usual)}\``;
    return [cell, type, isRequired(name) ? `required${node}` : fallback, meaning];
  });
}

function rowsOf(shape: Shape): string[][] {
  return describeParameters(z.object({ ...shape })).map((one) => [
    `\`${one.name}\``,
    one.type.replace(/"[^"]*"/g, '`$&`'),
    one.default === undefined ? '' : `\`${JSON.stringify(one.default)}\``,
    one.description,
  ]);
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : `${markdownTable(header, rows)}\n`;
}

if (isProgram(import.meta.url)) {
  writeFileSync(TOOL_PAGE, toolDocs());
  console.log(`docs/tools.md lists ${tools.length} tools`);
}
