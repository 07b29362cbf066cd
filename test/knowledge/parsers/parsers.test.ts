import { describe, expect, it } from 'vitest';
import { convertMarkdown } from '../../../src/documents/index.js';
import { csvParser } from '../../../src/knowledge/parsers/csv-parser.js';
import { docxParser, fileParser, pdfParser, xlsxParser } from '../../../src/knowledge/parsers/file-parser.js';
import { htmlParser } from '../../../src/knowledge/parsers/html-parser.js';
import { jsonParser } from '../../../src/knowledge/parsers/json-parser.js';
import { markdownParser, textParser } from '../../../src/knowledge/parsers/text-parser.js';
import type { ParseFunction } from '../../../src/knowledge/ports.js';

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** What a parser makes of a text under a name. */
const parse = (parser: ParseFunction, uri: string, text: string, mimeType?: string) =>
  parser({ bytes: bytesOf(text), uri, mimeType });

describe('what all parsers tell', () => {
  it('is where a document came from, and what the call says', async () => {
    const input = { bytes: bytesOf('x'), uri: 'docs/a.TXT', mimeType: 'Text/Plain; charset=utf-8' };
    expect(await textParser()(input, { metadata: { source: 'other', n: 1 } })).toEqual([
      {
        id: 'docs/a.TXT',
        text: 'x',
        metadata: { source: 'other', fileName: 'a.TXT', extension: 'txt', mediaType: 'text/plain', n: 1 },
      },
    ]);
  });

  it('is nothing for bytes without a name, whose id is made of the content', async () => {
    const [document] = await parse(textParser(), '', 'x');
    expect(document?.id).toMatch(/^[0-9a-f]{32}$/);
    expect(document?.metadata).toEqual({});
  });

  it.each([
    ['https://example.com/a/b.md?x=1#y', 'b.md'],
    ['https://example.com/%C3%A4%2Fb.txt', 'ä_b.txt'],
    ['https://example.com/100%.txt', '100%.txt'],
    ['https://example.com', undefined],
    ['C:\\files\\a.txt', 'a.txt'],
  ])('names the file of %s', async (uri, fileName) => {
    const [document] = await parse(textParser(), uri, 'x');
    expect(document?.metadata.fileName).toBe(fileName);
  });
});

describe('a parser of text', () => {
  it('reads the character set of the bytes', async () => {
    const [document] = await textParser()({ bytes: Buffer.from('caf\xe9', 'latin1'), uri: 'a.txt' });
    expect(document?.text).toBe('café');
  });

  it('refuses bytes that are no text', async () => {
    const input = { bytes: Uint8Array.of(1, 0, 0, 0, 7), uri: 'a.bin' };
    await expect(textParser()(input)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });

  it('finds the title of Markdown', async () => {
    const [document] = await parse(markdownParser(), 'a.md', '## Before\n\n```\n# no\n```\n# The *title*\ntext');
    expect(document).toMatchObject({ metadata: { title: 'The *title*' } });
    expect((await parse(markdownParser(), 'a.md', 'text'))[0]?.metadata).not.toHaveProperty('title');
  });
});

describe('a parser of HTML', () => {
  const page = `<!doctype html><html lang="de-AT"><head><title>Die Seite</title>
    <meta name="description" content="Worum es geht"></head>
    <body><h1>Kopf</h1><p>Ein <a href="/x">Verweis</a>.</p><script>alert(1)</script></body></html>`;

  it('makes Markdown of a page, with title, language and description', async () => {
    const [document] = await parse(htmlParser(), 'https://example.com/a', page);
    expect(document?.text).toBe('# Kopf\n\nEin [Verweis](https://example.com/x).');
    expect(document?.metadata).toMatchObject({ title: 'Die Seite', language: 'de-AT', description: 'Worum es geht' });
  });

  it('gives the article alone where that is wanted', async () => {
    const paragraph = '<p>A sentence of the article that is long enough to count, and goes on.</p>'.repeat(8);
    const html = `<body><nav><a href="/">Home</a></nav><article>${paragraph}</article></body>`;
    const [document] = await parse(htmlParser({ part: 'article' }), 'a.html', html);
    expect(document?.text).toContain('A sentence of the article');
    expect(document?.text).not.toContain('Home');
  });

  it('ends when it is stopped', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(htmlParser()({ bytes: bytesOf(page), uri: 'a.html' }, { signal })).rejects.toThrow('enough');
  });
});

describe('a parser of CSV', () => {
  const csv = 'name;price;note\npump;12,5;\n"valve; big";7;"two\nlines"\n';

  it('makes a document of each row', async () => {
    expect(await parse(csvParser(), 'a.csv', csv)).toMatchObject([
      {
        id: 'a.csv#0',
        text: 'name: pump\nprice: 12,5',
        metadata: { row: 1, columns: { name: 'pump', price: '12,5' } },
      },
      { id: 'a.csv#1', text: 'name: valve; big\nprice: 7\nnote: two\nlines', metadata: { row: 2 } },
    ]);
  });

  it('takes the text from a column', async () => {
    const documents = await parse(csvParser({ textColumn: 'note' }), 'a.csv', csv);
    expect(documents.map(({ text }) => text)).toEqual(['', 'two\nlines']);
    const other = parse(csvParser({ textColumn: 'colour' }), 'a.csv', csv);
    await expect(other).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  it('makes one table of all rows', async () => {
    const [document, ...more] = await parse(csvParser({ rows: 'together' }), 'a.csv', 'a,b\n1,2\n');
    expect(more).toEqual([]);
    expect(document?.id).toBe('a.csv');
    expect(document?.text.split('\n').map((line) => line.replace(/[\s-]+/g, ''))).toEqual(['|a|b|', '|||', '|1|2|']);
  });

  it('gives nothing for a file without rows', async () => {
    expect(await parse(csvParser(), 'a.csv', 'a,b\n')).toEqual([]);
  });

  it('reads no more fields than it may', async () => {
    await expect(parse(csvParser({ maxCells: 3 }), 'a.csv', 'a,b\n1,2\n')).rejects.toMatchObject({
      code: 'LIMIT_REACHED',
    });
  });
});

describe('a parser of JSON', () => {
  const read = async (text: string, options = {}, uri = 'a.json') =>
    (await parse(jsonParser(options), uri, text)).map(({ text: own, metadata }) => [own, metadata]);
  const source = { source: 'a.json', fileName: 'a.json', extension: 'json' };

  it('makes a document of each item of a list, and one of anything else', async () => {
    expect(await read('["x", 7, {"a": 1}]')).toEqual([
      ['x', source],
      ['7', source],
      ['{\n  "a": 1\n}', source],
    ]);
    expect(await read('{"a": [1]}')).toEqual([['{\n  "a": [\n    1\n  ]\n}', source]]);
    expect(await read('[]')).toEqual([]);
  });

  it('finds the list, the text and the metadata by name', async () => {
    const text = '{"data": {"items": [{"body": "one", "id": 1, "x": 2}, {"id": 2}]}}';
    expect(await read(text, { list: 'data.items', textKey: 'body' })).toEqual([
      ['one', { ...source, id: 1, x: 2 }],
      ['{\n  "id": 2\n}', source],
    ]);
    expect(await read(text, { list: 'data.items', textKey: 'body', metadataKeys: ['x', 'constructor'] })).toEqual([
      ['one', { ...source, x: 2 }],
      ['{\n  "id": 2\n}', source],
    ]);
  });

  it('reads a value of each line', async () => {
    const documents = await read('{"t": "a"}\n\n{"t": "b"}\r\n', { textKey: 't' }, 'a.jsonl');
    expect(documents.map(([text]) => text)).toEqual(['a', 'b']);
  });

  it.each([
    ['what is no JSON', '{"a": }', {}, 'a.json', 'line 1'],
    ['a line that is no JSON', '{}\n{', {}, 'a.ndjson', 'in line 2'],
    ['a list that is not there', '{"a": {}}', { list: 'a.b' }, 'a.json', 'a.b'],
    ['a list by an inherited name', '{}', { list: 'constructor' }, 'a.json', 'constructor'],
    ['the name of the prototype', '{"__proto__": [1]}', {}, 'a.json', '__proto__'],
    ['more items than it may have', '[1, 2, 3]', { maxItems: 2 }, 'a.json', 'more than 2'],
    ['more lines than it may have', '1\n2\n3', { maxItems: 2 }, 'a.jsonl', 'more than 2'],
  ])('refuses %s', async (_what, text, options, uri, named) => {
    await expect(read(text, options, uri)).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining(named),
    });
  });
});

describe('parsers of files', () => {
  const markdown = '# Pumps\n\nOil twice a year.\n\n| Part | Price |\n|---|---|\n| valve | 7 |\n';

  it.each([
    ['pdf', pdfParser, 'Oil twice a year.'],
    ['docx', docxParser, '# Pumps'],
    ['xlsx', xlsxParser, '| valve | 7 |'],
  ] as const)('read %s, whatever its name', async (format, parser, expected) => {
    const { bytes } = await convertMarkdown(markdown, { format });
    const [document, ...more] = await parser()({ bytes, uri: 'files/download' });
    expect(more).toEqual([]);
    expect(document?.id).toBe('files/download');
    expect(document?.text).toContain(expected);
  });

  it('cut a text that is too long, and say so', async () => {
    const [document] = await fileParser({ maxCharacters: 10 })({ bytes: bytesOf('x'.repeat(50)), uri: 'a.txt' });
    expect(document?.text.startsWith('xxxxxxxxxx\n')).toBe(true);
    expect(document?.metadata.isCut).toBe(true);
  });

  it('refuse a picture, and what they cannot read', async () => {
    const png = { bytes: Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10), uri: 'a.png' };
    await expect(fileParser()(png)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    const broken = { bytes: bytesOf('%PDF-1.7 but no more'), uri: 'a.pdf' };
    await expect(pdfParser()(broken)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});
