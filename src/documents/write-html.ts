/** Sections of blocks as a page of HTML. */
import { MEDIA_TYPES } from '../records/files.js';
import { escapeHtml } from '../templates/escape-html.js';
import { renderHandlebars } from '../templates/template.js';
import {
  type Block,
  headingSize,
  type Inline,
  type ListItem,
  type Page,
  type Section,
  type TableBlock,
} from './content.js';

/** A page for people: no scripts, nothing fetched; it also prints well. */
const LAYOUT = `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<meta name="generator" content="Runnel">
<title>{{title}}</title>
<style>{{{style}}}</style>
</head>
<body>
{{#if watermark}}<div class="watermark" aria-hidden="true">{{watermark}}</div>
{{/if}}{{#if generated}}<p class="generated">{{generated}}</p>
{{/if}}{{{body}}}
</body>
</html>
`;

/**
 * Writes sections as a page of HTML. `layout` is a Handlebars template in place of the built-in page; it is given
 * `title`, `style`, `watermark`, `generated` and `body` (HTML, so `{{{body}}}`).
 *
 * Errors: `TEMPLATE_*` for a layout that cannot be rendered.
 */
export function writeHtml(sections: readonly Section[], page: Page, layout = LAYOUT): string {
  const { title, watermark, generated } = page;
  const body = sections.map(sectionHtml).join('\n');
  // The output of a template has a bound that is meant for texts, so the body is inserted afterwards.
  const mark = '\u{f0000}';
  const rendered = renderHandlebars(layout, { title, watermark, generated, style: styleOf(page), body: mark });
  return rendered.split(mark).join(body);
}

function sectionHtml({ header, footer, blocks }: Section): string {
  const edge = (name: string, text: string) => (text === '' ? [] : [`<${name}>${escapeHtml(text)}</${name}>`]);
  return ['<section>', ...edge('header', header), blocksHtml(blocks), ...edge('footer', footer), '</section>'].join(
    '\n',
  );
}

function blocksHtml(blocks: readonly Block[]): string {
  return blocks.map(blockHtml).join('\n');
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level}>${contentHtml(block.content)}</h${block.level}>`;
    case 'paragraph':
      return `<p>${contentHtml(block.content)}</p>`;
    case 'code':
      return `<pre><code>${escapeHtml(block.lines.join('\n'))}\n</code></pre>`;
    case 'quote':
      return `<blockquote>\n${blocksHtml(block.blocks)}\n</blockquote>`;
    case 'rule':
      return '<hr>';
    case 'page-break':
      return '<div class="page-break"></div>';
    case 'list': {
      const items = block.items.map(itemHtml).join('\n');
      if (block.start === undefined) return `<ul>\n${items}\n</ul>`;
      return `<ol${block.start === 1 ? '' : ` start="${block.start}"`}>\n${items}\n</ol>`;
    }
    case 'table':
      return tableHtml(block);
  }
}

function itemHtml({ checked, blocks }: ListItem): string {
  const box = checked === undefined ? '' : `<input type="checkbox" disabled${checked ? ' checked' : ''}> `;
  const [first, ...others] = blocks;
  const opening =
    first?.kind === 'paragraph' ? contentHtml(first.content) : first === undefined ? '' : blockHtml(first);
  return `<li${box && ' class="task"'}>${[box + opening, ...others.map(blockHtml)].join('\n')}</li>`;
}

function tableHtml({ align, header, rows }: TableBlock): string {
  const cells = (name: string, row: readonly (readonly Inline[])[]) =>
    row
      .map((cell, column) => {
        const side = align[column] ?? 'left';
        return `<${name}${side === 'left' ? '' : ` class="${side}"`}>${contentHtml(cell)}</${name}>`;
      })
      .join('');
  const lines = rows.map((row) => `<tr>${cells('td', row)}</tr>`);
  return [
    '<table>',
    `<thead><tr>${cells('th', header)}</tr></thead>`,
    '<tbody>',
    ...lines,
    '</tbody>',
    '</table>',
  ].join('\n');
}

function contentHtml(content: readonly Inline[]): string {
  return content.map(inlineHtml).join('');
}

function inlineHtml(inline: Inline): string {
  switch (inline.kind) {
    case 'text':
      return markedHtml(inline);
    case 'break':
      return '<br>';
    case 'link':
      return `<a href="${escapeHtml(inline.href)}" rel="noopener noreferrer">${contentHtml(inline.content)}</a>`;
    case 'jump':
      return `<a href="#${inline.to}">${contentHtml(inline.content)}</a>`;
    case 'anchor':
      return `<span id="${inline.name}"></span>`;
    case 'image': {
      const { type, bytes, width, height } = inline.image;
      const source = `data:${MEDIA_TYPES[type]};base64,${Buffer.from(bytes).toString('base64')}`;
      return `<img src="${source}" alt="${escapeHtml(inline.alt)}" width="${width}" height="${height}">`;
    }
  }
}

function markedHtml({ text, marks }: Extract<Inline, { kind: 'text' }>): string {
  const names = [marks.bold && 'strong', marks.italic && 'em', marks.struck && 'del', marks.code && 'code'];
  return names.reduceRight<string>((inner, name) => (name ? `<${name}>${inner}</${name}>` : inner), escapeHtml(text));
}

function styleOf({ fontSize, size, hasNumbers }: Page): string {
  const headings = [1, 2, 3, 4, 5, 6].map((level) => `h${level}{font-size:${headingSize(level, fontSize)}pt}`);
  const number = hasNumbers ? '@bottom-right{content:"Page " counter(page);font-size:9pt;color:#595959}' : '';
  return [
    `@page{size:${size};margin:2cm;${number}}`,
    `body{font:${fontSize}pt/1.5 system-ui,"Noto Sans SC","Microsoft YaHei","PingFang SC",sans-serif;max-width:50em;margin:2em auto;padding:0 1em;color:#1a1a1a;overflow-wrap:break-word}`,
    'h1,h2,h3,h4,h5,h6{line-height:1.2;margin:1.2em 0 .5em}',
    ...headings,
    'header,footer,.generated{color:#595959;font-size:9pt}',
    'section+section,.page-break{break-before:page}',
    'table{border-collapse:collapse;margin:1em 0}',
    'th,td{border:1px solid #bfbfbf;padding:.3em .6em;text-align:left;vertical-align:top}th{background:#f2f2f2}',
    '.center{text-align:center}.right{text-align:right}',
    'pre,code{font-family:ui-monospace,Consolas,"Courier New",monospace;font-size:.9em;background:#f5f5f5}',
    'pre{padding:.8em;overflow-x:auto}pre code{font-size:inherit}',
    'blockquote{margin:1em 0;padding-left:1em;border-left:3px solid #d9d9d9;color:#404040}',
    'li.task{list-style:none;margin-left:-1.4em}',
    'img{max-width:100%;height:auto}',
    '.watermark{position:fixed;inset:0;display:flex;align-items:center;justify-content:center;font-size:48pt;color:rgba(153,153,153,.15);transform:rotate(-45deg);pointer-events:none}',
  ].join('\n');
}
