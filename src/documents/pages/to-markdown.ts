import TurndownService from 'turndown';
import type { PageElement } from './dom.js';

/** Marks a table of data, as opposed to one for layout. */
const DATA = 'data-runnel-table';

/** The content of an element as Markdown; tables of data as tables. */
export function toMarkdown(body: PageElement): string {
  for (const table of body.querySelectorAll('table')) if (isData(table)) table.setAttribute(DATA, '');
  const service = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.addRule('data-cell', {
    filter: (node) => isPart(node, 'TD', 'TH'),
    replacement: (content) =>
      ` ${content
        .trim()
        .replaceAll('|', '\\|')
        .replace(/\s*\n\s*/g, ' ')} |`,
  });
  service.addRule('data-row', {
    filter: (node) => isPart(node, 'TR'),
    replacement: (content) => `\n|${content}`,
  });
  service.addRule('data-table', {
    filter: (node) => isPart(node, 'TABLE'),
    replacement: (content) => `\n\n${withRule(content)}\n\n`,
  });
  return service.turndown(body as never).trim();
}

/** A row with several cells, and no table inside. */
function isData(table: PageElement): boolean {
  return table.querySelector('table') === null && table.querySelector('td ~ td, td ~ th, th ~ td, th ~ th') !== null;
}

function isPart(node: unknown, ...names: readonly string[]): boolean {
  const element = node as PageElement;
  return names.includes(element.nodeName) && element.closest(`table[${DATA}]`) !== null;
}

/** Markdown requires a delimiter row below the header. */
function withRule(content: string): string {
  const [head = '', ...rows] = content.split('\n').filter((line) => line.startsWith('|'));
  const others = content.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('|'));
  const columns = head.match(/(?<!\\)\|/g)?.length ?? 1;
  const table = [head, `|${' --- |'.repeat(columns - 1)}`, ...rows].join('\n');
  return [...others, table].join('\n\n');
}
