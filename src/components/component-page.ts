/** The catalogue as one page of Markdown: `docs/components.md`, and what `runnel components` prints. */
import type { AnyComponent } from '../graph/component.js';
import { type ComponentDescription, describeComponent } from './catalogue.js';

const INTRODUCTION = `# Components

Every node of a canvas is one of these. Parameters that are not listed are kept and ignored. Outputs are read from other
nodes as \`{node@output}\`.
`;

/** The page as text, one section per component, by name. */
export function componentPage(all: readonly AnyComponent[]): string {
  const sorted = [...all].sort((a, b) => a.type.localeCompare(b.type, 'en'));
  return [INTRODUCTION, ...sorted.map((component) => section(describeComponent(component)))].join('\n');
}

function section({ type, aliases, summary, hasBody, parameters, outputs }: ComponentDescription): string {
  const also = aliases.length === 0 ? '' : ` Also known as ${aliases.map((name) => `\`${name}\``).join(', ')}.`;
  const body = hasBody ? ' It has a body: the nodes whose `parent_id` it is.' : '';
  return [
    `## ${type}\n`,
    `${summary}${also}${body}\n`,
    table(
      ['Parameter', 'Type', 'Default', 'Meaning'],
      parameters.map((one) => [
        `\`${one.name}\``,
        one.type.replace(/"[^"]*"/g, '`$&`'),
        one.default === undefined ? '' : `\`${JSON.stringify(one.default)}\``,
        one.description,
      ]),
    ),
    table(
      ['Output', 'Type', 'Meaning'],
      outputs.map((one) => [`\`${one.name}\``, one.type, one.description]),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`;
  return `${[line(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(line)].join('\n')}\n`;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}
