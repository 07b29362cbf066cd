import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { columnsOf, cutText, writable, writableLine } from '../../src/documents/characters.js';
import { columnWidths } from '../../src/documents/content.js';
import { fileName, generatedName } from '../../src/documents/file-name.js';
import { Images, readImage } from '../../src/documents/image.js';
import { findTables } from '../../src/documents/markdown-tables.js';
import { entityDecoder, readNotes, safeAddress } from '../../src/documents/read-markdown.js';
import { sheetNames } from '../../src/documents/spreadsheets/write-workbook.js';
import { cellValue } from '../../src/documents/write-xlsx.js';
import { PNG } from './samples.js';

describe('characters', () => {
  it.each([
    ['a\u0000b\u001fc\u007f', 'abc'],
    ['a\r\nb\rc', 'a\nb\nc'],
    ['\ud800x\udc00 😀', '\ufffdx\ufffd 😀'],
    ['\ufffe\uffff\t', '\t'],
  ])('of %j can be written', (text, expected) => expect(writable(text)).toBe(expected));

  it('are cut between, never within', () => {
    expect(cutText('a😀b', 2)).toBe('a');
    expect(cutText('a😀b', 3)).toBe('a😀');
    expect(writableLine('  a\n b😀', 7)).toBe('a b');
  });

  it.each([
    ['abc', 3],
    ['苹果', 4],
    ['e\u0301😀', 3],
  ])('%s takes its columns', (text, columns) => expect(columnsOf(text)).toBe(columns));
});

describe('character references', () => {
  it.each([
    ['&amp;&lt;&#65;&#x4e2d;&hellip;', '&<A中…'],
    ['&amp;lt;', '&lt;'],
    ['&unknown; &notit; & &;', '&unknown; &notit; & &;'],
    ['&semi;&#0;&#7;', ';\ufffd'],
    ['plain', 'plain'],
  ])('%s', async (text, expected) => expect((await entityDecoder(text))(text)).toBe(expected));
});

describe('links', () => {
  it.each([
    ['https://a.example/x y', 'https://a.example/x%20y'],
    ['HTTP://a.example', 'http://a.example/'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
    ['javascript:alert(1)', undefined],
    [' javascript:alert(1)', undefined],
    ['java\nscript:alert(1)', undefined],
    ['file:///etc/passwd', undefined],
    ['data:text/html,x', undefined],
    ['/relative', undefined],
    ['#anchor', undefined],
  ])('%j', (address, expected) => expect(safeAddress(address)).toBe(expected));
});

describe('comments about pages', () => {
  it.each([
    ['<!-- pagebreak -->', [{ kind: 'page-break' }]],
    ['<!--Page-Break-->\n', [{ kind: 'page-break' }]],
    ['<!-- section --><!-- header: A  b -->', [{ kind: 'section' }, { kind: 'header', text: 'A b' }]],
    ['<!-- footer: -->', [{ kind: 'footer', text: '' }]],
    ['<!-- anything else -->', []],
    ['<!-- section --> text', undefined],
    ['<!-- open', undefined],
    ['<div>', undefined],
  ])('%j', (html, expected) => expect(readNotes(html)).toEqual(expected));
});

describe('pictures', () => {
  const chunk = (name: string, data: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32BE(data.length);
    return Buffer.concat([size, Buffer.from(name, 'latin1'), data, Buffer.alloc(4)]);
  };
  const png = (width: number, height: number, pixels: Buffer, { interlace = 0, extra = [] as Buffer[] } = {}) => {
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    header.set([8, 2, 0, 0, interlace], 8);
    const signature = Buffer.from('89504e470d0a1a0a', 'hex');
    const parts = [signature, chunk('IHDR', header), ...extra, chunk('IDAT', deflateSync(pixels))];
    return Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]);
  };
  const uri = (bytes: Buffer, type = 'png') => `data:image/${type};base64,${bytes.toString('base64')}`;
  const gif = Buffer.concat([Buffer.from('GIF89a'), Buffer.from([3, 0, 2, 0, 0, 0, 0])]);
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 4, 0, 6, 1, 1, 0x11, 0]);
  const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0]), frame, Buffer.from([0xff, 0xd9])]);

  it.each([
    ['PNG', PNG, { type: 'png', width: 5, height: 5 }],
    ['JPEG', uri(jpeg, 'jpeg'), { type: 'jpg', width: 6, height: 4 }],
    ['GIF', uri(gif, 'gif'), { type: 'gif', width: 3, height: 2 }],
    ['by their bytes, whatever the address says', uri(gif, 'png'), { type: 'gif' }],
  ])('are known: %s', (_, address, expected) => expect(readImage(address)).toMatchObject(expected));

  it.each([
    ['no picture', 'data:image/png;base64,AAAA'],
    ['no Base64', 'data:image/png;base64,###'],
    ['SVG', 'data:image/svg+xml;base64,PHN2Zz48L3N2Zz4='],
    ['no data', 'https://example.com/x.png'],
    ['cut short', uri(png(5, 5, Buffer.alloc(80)).subarray(0, 60))],
    ['fewer pixels than it says', uri(png(5, 5, Buffer.alloc(79)))],
    ['more than it says: a bomb', uri(png(5, 5, Buffer.alloc(10_000_000)))],
    ['larger than can be held', uri(png(20_000, 20_000, Buffer.alloc(10)))],
    ['nothing', uri(png(0, 5, Buffer.alloc(5)))],
    ['interlaced', uri(png(5, 5, Buffer.alloc(80), { interlace: 1 }))],
    ['a JPEG without a frame', uri(Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xd9, 0, 0, 0, 0]), 'jpeg')],
  ])('are refused: %s', (_, address) => expect(readImage(address)).toBeUndefined());

  it('lose what only tells about them', () => {
    const secret = chunk('tEXt', Buffer.from('Author\0Somebody'));
    const image = readImage(uri(png(5, 5, Buffer.alloc(80), { extra: [secret] })));
    expect(Buffer.from(image?.bytes ?? []).includes('Somebody')).toBe(false);
  });

  it('are read once, and given so often as a file may hold them', () => {
    const images = new Images();
    const given = Array.from({ length: 501 }, () => images.take(PNG));
    expect(new Set(given.slice(0, 500)).size).toBe(1);
    expect(given[500]).toBeUndefined();
  });
});

describe('tables of a spreadsheet', () => {
  it('are found with their titles', () => {
    const markdown = `# Sales\n\n| a | b |\n|---|:-:|\n| 1 | x \\| y |\n\ntext\n| c |\n|---|\n| \`d\` |\nTable 3\nmore: things:\n| **e** |f\n| 1 | 2 | 3 |\n| only`;
    expect(findTables(markdown)).toEqual([
      {
        title: 'Sales',
        rows: [
          ['a', 'b'],
          ['1', 'x | y'],
        ],
      },
      { title: undefined, rows: [['c'], ['d']] },
      {
        title: 'more: things',
        rows: [
          ['e', 'f'],
          ['1', '2'],
          ['only', ''],
        ],
      },
    ]);
    expect(findTables('no table\n')).toEqual([]);
  });

  it.each<[string, string | number]>([
    ['12', 12],
    ['-1.5', -1.5],
    ['1e3', 1000],
    ['.5', 0.5],
    ['1,234.5', 1234.5],
    ['-1,234,567', -1234567],
    ['12,34', '12,34'],
    ['007', '007'],
    ['0,123', '0,123'],
    ['0', 0],
    ['0.5', 0.5],
    ['', ''],
    ['-', '-'],
    ['1e999', '1e999'],
    ['1234567890123456', '1234567890123456'],
    ['=1+1', '=1+1'],
    ['0x10', '0x10'],
    ['Infinity', 'Infinity'],
  ])('have the cell %j', (text, value) => expect(cellValue(text)).toBe(value));

  it('have names that Excel takes', () => {
    expect(
      sheetNames([
        'Sales',
        'sales',
        undefined,
        'a/b\\c',
        '*?[]:',
        'x'.repeat(40),
        'x'.repeat(31),
        "'quoted'",
        'History',
      ]),
    ).toEqual([
      'Sales',
      'sales_1',
      'Table_3',
      'a_b_c',
      'Table_5',
      'x'.repeat(31),
      `${'x'.repeat(29)}_1`,
      'quoted',
      'History_',
    ]);
  });
});

describe('widths of columns', () => {
  it.each([
    [
      'lines, when they fit',
      [
        { word: 5, line: 20 },
        { word: 5, line: 30 },
      ],
      100,
      [20, 30],
    ],
    [
      'words and a share, when they do not',
      [
        { word: 10, line: 110 },
        { word: 10, line: 60 },
      ],
      80,
      [50, 30],
    ],
    [
      'a share of the words, when not even they fit',
      [
        { word: 60, line: 60 },
        { word: 20, line: 90 },
      ],
      40,
      [30, 10],
    ],
  ])('are %s', (_, needs, available, expected) => expect(columnWidths(needs, available)).toEqual(expected));
});

describe('names of files', () => {
  it.each([
    ['report', 'report.pdf'],
    ['report.docx', 'report.pdf'],
    ['version 1.2', 'version 1.2.pdf'],
    ['../../etc/passwd', 'etc passwd.pdf'],
    ['a\\b:c*d?"<>|#%\u0000e', 'a b c d e.pdf'],
    ['  .hidden. ', 'hidden.pdf'],
    ['...', 'file.pdf'],
    ['', 'file.pdf'],
    ['x'.repeat(300), `${'x'.repeat(180)}.pdf`],
    ['报告 2026', '报告 2026.pdf'],
  ])('%j', (wanted, expected) => expect(fileName(wanted, 'pdf')).toBe(expected));

  it('are made up', () => {
    const date = new Date(2026, 10, 1, 9, 3, 5);
    expect(generatedName(date, 0, 'md')).toBe('document_20261101_090305_00000000.md');
    expect(generatedName(date, 0.99999999999, 'md')).toBe('document_20261101_090305_ffffffff.md');
  });
});
