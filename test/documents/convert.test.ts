import { inflateSync } from 'node:zlib';
import { convertToHtml } from 'mammoth';
import { getDocumentProxy } from 'unpdf';
import { describe, expect, it } from 'vitest';
import {
  convertMarkdown,
  DOCUMENT_FORMATS,
  type DocumentFormat,
  type DocumentOptions,
} from '../../src/documents/index.js';
import { htmlPage, pdfPages } from './read-back.js';
import { AROUND, PNG, SAMPLES } from './samples.js';

const FORMATS = Object.keys(DOCUMENT_FORMATS) as DocumentFormat[];

const convert = (markdown: string, options: DocumentOptions) => convertMarkdown(markdown, options);
const bytesOf = async (markdown: string, options: DocumentOptions) => (await convert(markdown, options)).bytes;
const textOf = async (markdown: string, options: DocumentOptions) =>
  new TextDecoder().decode(await bytesOf(markdown, options));

describe('every format', () => {
  it.each(FORMATS)('%s says what it is', async (format) => {
    const { mimeType, extension, bytes } = await convert('# x', { format });
    expect({ mimeType, extension }).toEqual(DOCUMENT_FORMATS[format]);
    expect(bytes).toBeInstanceOf(Uint8Array);
  });

  it.each<[string, string, Partial<DocumentOptions>, RegExp]>([
    ['content that is too long', 'x'.repeat(2_097_153), {}, /PDF generation failed: the content has 2097153 bytes/],
    ['quotes too deep', `${'> '.repeat(40)}x`, {}, /deeper than 32 levels/],
    [
      'lists too deep',
      Array.from({ length: 700 }, (_, level) => `${' '.repeat(2 * level)}- a`).join('\n'),
      {},
      /deeper than 32 levels/,
    ],
    ['quotes deeper than the parser goes', `${'> '.repeat(5000)}x`, {}, /nested too deeply|deeper than 32 levels/],
    ['too many columns', `|${'a|'.repeat(64)}\n|${'-|'.repeat(64)}\n`, {}, /64 columns; at most 63/],
    ['too many cells', `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(50_000)}`, {}, /more than 100000 cells/],
    ['too large letters', 'x', { fontSize: 100 }, /font size 100 is not between 6 and 72/],
    ['no size', 'x', { fontSize: Number.NaN }, /font size NaN/],
    ['unknown paper', 'x', { pageSize: 'B5' as never }, /no page size "B5"; known are A3, A4/],
    [
      'an unknown format',
      'x',
      { format: 'rtf' as never },
      /RTF generation failed: there is no such format; known are pdf/,
    ],
    ['a broken layout', 'x', { format: 'html', layout: '{{#if}}' }, /HTML generation failed/],
  ])('refuses %s', async (_, markdown, options, message) => {
    const format = options.format ?? 'pdf';
    await expect(convert(markdown, { format, ...options })).rejects.toMatchObject({
      code: 'DOCUMENT_NOT_WRITTEN',
      message: expect.stringMatching(message),
      details: { format, reason: expect.any(String) },
    });
  });

  it.each(FORMATS)('%s is not even begun for somebody who left', async (format) => {
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(convert('x', { format, signal })).rejects.toThrow('gone');
  });

  it('a PDF is given up halfway', async () => {
    const controller = new AbortController();
    const making = convert('Some text to be set.\n\n'.repeat(20_000), { format: 'pdf', signal: controller.signal });
    setImmediate(() => controller.abort(new Error('gone')));
    await expect(making).rejects.toThrow('gone');
  });
});

describe('a text that is made to be slow', () => {
  it('is read while others go on, and given up at once', async () => {
    const controller = new AbortController();
    const converted = convert('_a'.repeat(1_000_000), { format: 'html', signal: controller.signal });
    // The parser would be at it for hours.
    setImmediate(() => setTimeout(() => controller.abort(new Error('nobody waits')), 10));
    await expect(converted).rejects.toThrow('nobody waits');
  });

  it('gives the same as a short one where it is long, pictures and edges too', async () => {
    const markdown = `<!-- header: Top -->\n\n# One\n\n![P](${PNG})\n\n`;
    const long = await textOf(`${markdown}${'word '.repeat(2_000)}word`, { format: 'html' });
    const short = await textOf(`${markdown}word`, { format: 'html' });
    expect(long.replace(/(?:word )+word/, 'word')).toBe(short);
  });

  it('says what is wrong with a long one', async () => {
    const deep = `${'> '.repeat(40)}x\n\n${'word '.repeat(2_000)}`;
    await expect(convert(deep, { format: 'pdf' })).rejects.toThrow(/PDF generation failed: .*deeper than 32 levels/);
  });
});

describe('HTML', () => {
  it('holds nothing that runs or is fetched, whatever the text says', async () => {
    const attacks = [
      '<script>alert(1)</script>',
      '<img src=x onerror=alert(1)>',
      '[x](javascript:alert(1)) [x](JaVaScRiPt:alert(1)) [x](data:text/html,<script>alert(1)</script>)',
      '![x](https://example.com/beacon.png) ![x](data:image/svg+xml;base64,PHN2Zz4=)',
      '![" onerror="alert(1)](javascript:alert(1)) [x](https://example.com/"onclick="alert(1))',
      '`</code><script>alert(1)</script>`',
      '```"><script>\n</code></pre><script>alert(1)</script>\n```',
      '&lt;script&gt;alert(1)&lt;/script&gt;',
    ];
    const hostile = '"></title><script>alert(1)</script>';
    const page = htmlPage(
      await bytesOf(attacks.join('\n\n'), { format: 'html', title: hostile, header: hostile, watermark: hostile }),
    );
    expect(page('script, iframe, object, link, img, svg, form').length).toBe(0);
    const attributes = page('body *')
      .toArray()
      .flatMap((element) => ('attribs' in element ? Object.entries(element.attribs) : []));
    expect(attributes.filter(([name]) => name.startsWith('on'))).toEqual([]);
    expect(attributes.filter(([name]) => name === 'href').map(([, value]) => new URL(value).protocol)).toEqual([
      'https:',
      'https:',
    ]);
  });

  it('is put into a layout', async () => {
    const layout = '<h1>{{title}}</h1>{{#if watermark}}<i>{{watermark}}</i>{{/if}}<main>{{{body}}}</main>';
    const text = await textOf('a & b $& $1', { format: 'html', title: '<T>', layout });
    expect(text).toBe('<h1>&lt;T&gt;</h1><main><section>\n<p>a &amp; b $&amp; $1</p>\n</section></main>');
  });

  it('shows pictures that it holds', async () => {
    const page = htmlPage(await bytesOf(`![red & square](${PNG})`, { format: 'html' }));
    expect(page('img').attr()).toEqual({ src: PNG, alt: 'red & square', width: '5', height: '5' });
  });
});

describe('Word', () => {
  it('is read back by another library', async () => {
    const { bytes } = await convert(SAMPLES.full?.markdown ?? '', { format: 'docx', ...AROUND });
    const { value, messages } = await convertToHtml({ buffer: Buffer.from(bytes) });
    const page = htmlPage(new TextEncoder().encode(value));
    expect(page('h1').text()).toBe('Quarterly report');
    expect(page('h2').text()).toBe('Lists and tasks');
    expect(page('ul > li').first().text()).toBe('first');
    expect(page('ul > li > ol > li').length).toBe(2);
    expect(page('table tr').length).toBe(3);
    expect(page('table tr').last().text()).toContain('Pear | quince');
    expect(page('a[href="https://example.com/a?b=1&c=2"]').text()).toBe('link');
    expect(page('img').attr('alt')).toBe('a red square');
    expect(page('strong').first().text()).toBe('bold');
    expect(messages.filter(({ type }) => type === 'error')).toEqual([]);
  });
});

describe('PDF', () => {
  it('starts as many pages as the text needs, and numbers them', async () => {
    const pages = await pdfPages(await bytesOf('Text.\n\n'.repeat(200), { format: 'pdf', pageNumbers: true }));
    expect(pages.length).toBe(7);
    expect(pages.map((text) => /Page \d+$/.exec(text)?.[0])).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((page) => `Page ${page}`),
    );
  });

  it('repeats the header of a table on every page, and splits a row that is higher than one', async () => {
    const rows = Array.from({ length: 60 }, (_, index) => `| row ${index} | x |`).join('\n');
    const pages = await pdfPages(await bytesOf(`| Name | Value |\n|---|---|\n${rows}`, { format: 'pdf' }));
    expect(pages.map((text) => text.split('\n')[0])).toEqual(pages.map(() => 'Name Value'));
    const tall = `| Name |\n|---|\n| ${Array.from({ length: 120 }, (_, line) => `line ${line}`).join('<br>')} |`;
    const split = await pdfPages(await bytesOf(tall, { format: 'pdf' }));
    const lines = split.join('\n').match(/line \d+/g);
    expect(lines).toEqual(Array.from({ length: 120 }, (_, line) => `line ${line}`));
    expect(split.length).toBe(3);
    const after = await pdfPages(await bytesOf(`${'Text.\n\n'.repeat(31)}${tall}`, { format: 'pdf' }));
    expect(after.join('\n').match(/line \d+/g)).toEqual(lines);
    expect(after.length).toBe(4);
  });

  it('holds text as it was written, in Chinese too', async () => {
    const text = '季度报告：本季度收入增长了百分之十二。';
    const [page] = await pdfPages(await bytesOf(`${text}\n\n- 第一项 and **加粗**`, { format: 'pdf' }));
    expect(page).toBe(`${text}\n• 第一项 and 加粗`);
  });

  it('breaks what is wider than the page without losing any of it', async () => {
    const word = Array.from({ length: 300 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
    for (const markdown of [word, `\`${word}\``, `\`\`\`\n${word}\n\`\`\``, `| ${word} | b |\n|---|---|\n`]) {
      const pages = await pdfPages(await bytesOf(markdown, { format: 'pdf' }));
      expect(pages.join('').replace(/\s|b$/g, '').slice(0, 300)).toBe(word);
    }
  });

  it('has an outline of its headings, a title, a date and links', async () => {
    const created = new Date(Date.UTC(2026, 0, 2));
    const bytes = await bytesOf('# One\n\n### Deep\n\n## Two\n\n# Last [l](https://example.com/)', {
      format: 'pdf',
      title: '标题',
      created,
    });
    const pdf = await getDocumentProxy(bytes);
    const titles = (items: readonly { title: string; items: never[] }[]): unknown =>
      items.map((item) => [item.title, titles(item.items)]);
    expect(titles((await pdf.getOutline()) as never)).toEqual([
      [
        'One',
        [
          ['Deep', []],
          ['Two', []],
        ],
      ],
      ['Last l', []],
    ]);
    const { info } = await pdf.getMetadata();
    expect(info).toMatchObject({ Title: '标题', CreationDate: 'D:20260102000000Z' });
    const [link] = await (await pdf.getPage(1)).getAnnotations();
    expect(link.url).toBe('https://example.com/');
  });

  it('is the same each time', async () => {
    const options = { format: 'pdf', created: new Date(0), ...AROUND } as const;
    const [one, other] = [
      await bytesOf(SAMPLES.full?.markdown ?? '', options),
      await bytesOf(SAMPLES.full?.markdown ?? '', options),
    ];
    expect(Buffer.compare(one, other)).toBe(0);
  });

  it('holds each picture once', async () => {
    const bytes = await bytesOf(`![a](${PNG}) ![b](${PNG})\n\n![c](${PNG})`, { format: 'pdf' });
    const text = Buffer.from(bytes).toString('latin1');
    expect(text.match(/\/Subtype \/Image/g)?.length).toBe(1);
    const streams = [...text.matchAll(/stream\n(.*?)\nendstream/gs)].map(([, data = '']) => unpacked(data));
    expect(streams.join('').match(/\/I1 Do/g)?.length).toBe(3);
  });

  it.each(['A4', 'Letter', 'A5'] as const)('is printed on %s', async (pageSize) => {
    const pdf = await getDocumentProxy(await bytesOf('x', { format: 'pdf', pageSize }));
    const [, , width, height] = (await pdf.getPage(1)).view;
    const sizes = { A4: [595.28, 841.89], Letter: [612, 792], A5: [419.53, 595.28] };
    expect([width, height]).toEqual(sizes[pageSize]);
  });

  it('shows what its fonts lack as a box, or as what looks like it', async () => {
    const [page] = await pdfPages(
      await bytesOf('a 😀 b ✅ c ❌ d\u200b\ufe0f e \u5341\u0416\u03b1', { format: 'pdf' }),
    );
    expect(page).toBe('a □ b ✓ c × d e 十Жα');
  });
});

function unpacked(data: string): string {
  try {
    return inflateSync(Buffer.from(data, 'latin1')).toString('latin1');
  } catch {
    return '';
  }
}
