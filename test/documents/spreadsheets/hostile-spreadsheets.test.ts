/** Small workbooks and CSV files that mean much work: each is read, or refused by a limit, in a thread. */
import { zipSync } from 'fflate';
import { firstValueFrom } from 'rxjs';
import { afterAll, describe, expect, it } from 'vitest';
import { documentJob } from '../../../src/documents/document-jobs.js';
import { readInThread } from '../../../src/documents/reading/read-document.js';
import { parseSelection } from '../../../src/documents/spreadsheets/select-sheets.js';
import type { SpreadsheetWork } from '../../../src/documents/spreadsheets/spreadsheet-work.js';
import { EngineError } from '../../../src/errors.js';
import { createThreadPool } from '../../../src/threads/thread-pool.js';
import { failureOf } from '../../adapters/egress/support/servers.js';
import { type ZipPart, zipOf } from '../reading/zip-of.js';
import { type TestWorkbook, workbookOf } from './workbook-of.js';

/** One for each kind of job: a pool ends a thread of another kind before it starts one, which takes longer than most files. */
const readers = createThreadPool({ timeoutMs: 120_000 });
const workers = createThreadPool({ timeoutMs: 120_000 });
afterAll(() => Promise.all([readers.close(), workers.close()]));

const MIB = 1_048_576;
const bytesOf = (text: string, times = 1): Uint8Array => new Uint8Array(Buffer.from(text.repeat(times)));
const column = (letter: number): string => String.fromCharCode(65 + letter);

/** A workbook of one sheet with those rows. */
const sheetOf = (xml: string, more?: TestWorkbook): Uint8Array => workbookOf([{ name: 'A', xml }], more);
const rowsOf = (rows: number, cells: number, cell = '<c t="s"><v>0</v></c>'): string =>
  `<row>${cell.repeat(cells)}</row>`.repeat(rows);
/** One with that XML for its sheet, which `sheets` of the list name. */
const partsOf = (sheet: string | Uint8Array, sheets = 1): ZipPart[] => {
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  return [
    {
      path: '_rels/.rels',
      content: `<Relationships><Relationship Id="a" Type="${type}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    },
    {
      path: 'xl/workbook.xml',
      content: `<workbook><sheets>${'<sheet name="A" r:id="r"/>'.repeat(sheets)}</sheets></workbook>`,
    },
    {
      path: 'xl/_rels/workbook.xml.rels',
      content: `<Relationships><Relationship Id="r" Type="${type}/worksheet" Target="s.xml"/></Relationships>`,
    },
    { path: 'xl/s.xml', content: sheet },
  ];
};
const worksheet = (xml: string, before = '', behind = ''): string =>
  `<worksheet>${before}<sheetData>${xml}</sheetData>${behind}</worksheet>`;

const read = (name: string, bytes: Uint8Array): Promise<string> =>
  readInThread({ id: 'f', name, mimeType: '', bytes }, { maxCharacters: 4 * MIB }, readers);

const work = (type: 'read' | 'merge', name: string, bytes: Uint8Array) => {
  const sources = [{ file: { name, mimeType: '', bytes } }];
  const options = { strategy: 'concat', joinOn: '' };
  const selection = parseSelection('all');
  const given: SpreadsheetWork = type === 'read' ? { type, sources, selection } : { type, sources, selection, options };
  const unable = (why: string) => new EngineError('LIMIT_REACHED', why);
  return firstValueFrom(documentJob('spreadsheet', given, { threads: workers, unable }));
};

const CUT = /\[The rest of "a\.xlsx" is left out after [\d,]+ characters\.\]$/;
const A1 = '<row><c><v>1</v></c></row>';
const TEXT = `<si><t>${'x'.repeat(1024)}</t></si>`;
const CHARACTERS = /more than 67,108,864 characters together/;
const CELLS = /more than 500,000 cells together/;
const LONG_CELL = /the text of a cell has more than 1,048,576 characters/;
const LIMIT = /it takes more than (?:120 s|64 MiB of memory)/;

describe('hostile workbooks', () => {
  it.each<readonly [string, () => Uint8Array]>([
    ['200,000 cells that share a text of 1 KB', () => sheetOf(rowsOf(200, 1000), { strings: TEXT })],
    [
      '60,000 cells that share a text of 32 KB',
      () => sheetOf(rowsOf(6000, 10), { strings: TEXT.replace('x', 'x'.repeat(31_000)) }),
    ],
    ['1,000,000 cells that share a text of 1 KB', () => sheetOf(rowsOf(1000, 1000), { strings: TEXT })],
  ])(
    'the text of %s is cut, and their records are refused',
    async (_, make) => {
      const bytes = make();
      expect(await read('a.xlsx', bytes)).toMatch(CUT);
      for (const type of ['read', 'merge'] as const) {
        expect(await failureOf(work(type, 'a.xlsx', bytes))).toMatchObject({
          code: 'LIMIT_REACHED',
          message: expect.stringMatching(CHARACTERS),
        });
      }
    },
    240_000,
  );

  it.each<readonly [string, () => Uint8Array, RegExp]>([
    [
      'column names of 1 MB in 100,000 rows',
      () => sheetOf(`<row><c t="str"><v>${'x'.repeat(1_000_000)}</v></c></row>${A1.repeat(100_000)}`),
      CHARACTERS,
    ],
    ['500,001 cells', () => sheetOf(rowsOf(1000, 501, '<c><v>1</v></c>')), CELLS],
    ['one cell 600,000 times', () => sheetOf(rowsOf(1, 600_000, '<c r="A1"><v>1</v></c>')), CELLS],
    [
      'cells on a diagonal',
      () =>
        sheetOf(
          Array.from(
            { length: 2000 },
            (_, at) =>
              `<row><c r="${column(Math.floor(at / 676) % 26)}${column(Math.floor(at / 26) % 26)}${column(at % 26)}1"><v>1</v></c></row>`,
          ).join(''),
        ),
      CELLS,
    ],
  ])(
    'the records of %s are refused',
    async (_, make, message) => {
      const failure = await failureOf(work('merge', 'a.xlsx', make()));
      expect(failure).toMatchObject({ code: 'LIMIT_REACHED', message: expect.stringMatching(message) });
    },
    240_000,
  );

  it.each<readonly [string, () => Uint8Array, RegExp]>([
    [
      'a shared text of 60 MiB in pieces',
      () => sheetOf(rowsOf(1, 1000), { strings: `<si>${`<r><t>${'x'.repeat(1024)}</t></r>`.repeat(60 * 1024)}</si>` }),
      LONG_CELL,
    ],
    [
      'rich text of 60 MiB in a cell',
      () =>
        sheetOf(`<row><c t="inlineStr"><is>${`<r><t>${'x'.repeat(1024)}</t></r>`.repeat(60 * 1024)}</is></c></row>`),
      LONG_CELL,
    ],
    [
      'a value of 60 MiB with comments in it',
      () => sheetOf(`<row><c t="str"><v>${`${'x'.repeat(1024)}<!-- -->`.repeat(60 * 1024)}</v></c></row>`),
      LONG_CELL,
    ],
    [
      '300,000 styles',
      () => sheetOf(A1, { styles: `<cellXfs>${'<xf/>'.repeat(300_000)}</cellXfs>` }),
      /more than 262,144 styles/,
    ],
    ['70,000 sheets of one part', () => zipOf(...partsOf(worksheet(A1), 70_000)), /more than 65,536 sheets/],
    [
      'sheets that unpack to 600 MiB together',
      () => zipOf(...partsOf(worksheet(`<!--${' '.repeat(MIB)}-->`), 600)),
      /unpacks to 600\.\d MiB; at most 512 MiB/,
    ],
    [
      'rich text of 100,000 levels',
      () => sheetOf(`<row><c t="inlineStr"><is>${'<r>'.repeat(100_000)}`),
      /nested deeper than 256/,
    ],
    [
      'entities of entities',
      () =>
        zipOf(
          ...partsOf(
            `<!DOCTYPE x [<!ENTITY a "aaa"><!ENTITY b "&a;&a;">]>${worksheet('<row><c t="str"><v>&b;</v></c></row>')}`,
          ),
        ),
      /declares a document type/,
    ],
    [
      'an external entity',
      () =>
        zipOf(
          ...partsOf(
            `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hosts">]>${worksheet('<row><c t="str"><v>&a;</v></c></row>')}`,
          ),
        ),
      /declares a document type/,
    ],
    ['entities in UTF-16', () => zipOf(...partsOf(Buffer.from('\ufeff<!DOCTYPE x []>', 'utf16le'))), /damaged/],
    ['a cell behind the last column', () => sheetOf('<row><c r="XFE1"><v>1</v></c></row>'), /behind column XFD/],
    [
      'a part that is larger than declared',
      () => zipOf(...partsOf(worksheet(A1)).map((part) => ({ ...part, declaredSize: 10 }))),
      /larger than declared/,
    ],
    [
      'a part that declares 4 GB',
      () =>
        zipOf(
          ...partsOf(worksheet(A1)).map((part) =>
            part.path === 'xl/s.xml' ? { ...part, declaredSize: 0xfffffffe } : part,
          ),
        ),
      /at most 512 MiB are read/,
    ],
  ])(
    '%s is refused',
    async (_, make, message) => {
      const bytes = make();
      expect(await failureOf(read('a.xlsx', bytes))).toMatchObject({
        code: 'FILE_UNREADABLE',
        message: expect.stringMatching(message),
      });
      // The node passes over what cannot be read, and names it.
      const { warnings } = await work('merge', 'a.xlsx', bytes);
      expect(warnings).toEqual([expect.stringMatching(message)]);
    },
    240_000,
  );

  it('10,000,000 shared texts end the thread alone', async () => {
    const bytes = sheetOf(rowsOf(1, 1), { strings: '<si/>'.repeat(10_000_000) });
    expect(await failureOf(read('a.xlsx', bytes))).toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringMatching(LIMIT),
    });
  }, 240_000);

  it.each<readonly [string, () => Uint8Array, string]>([
    [
      'a declared dimension of the whole sheet',
      () => zipOf(...partsOf(worksheet(A1, '<dimension ref="A1:XFD1048576"/>'))),
      '| 1 |\n| --- |',
    ],
    [
      'the first and the last cell',
      () => sheetOf('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'),
      '| 1 | Unnamed: 16383 |\n| --- | --- |\n|  | 2 |',
    ],
    [
      'rows out of order and repeated',
      () => sheetOf('<row r="3"><c><v>3</v></c></row><row r="1"><c><v>1</v></c></row><row r="1"><c><v>1</v></c></row>'),
      '| 3 |\n| --- |\n| 1 |\n| 1 |',
    ],
    [
      '65,000 formats',
      () =>
        sheetOf('<row><c s="64999"><v>1</v></c></row>', {
          styles: `<numFmts>${Array.from({ length: 65_000 }, (_, at) => `<numFmt numFmtId="${at + 200}" formatCode="0"/>`).join('')}</numFmts><cellXfs>${'<xf numFmtId="200"/>'.repeat(65_000)}</cellXfs>`,
        }),
      '| 1 |\n| --- |',
    ],
    [
      'merged cells that cover everything, 100,000 times',
      () =>
        zipOf(
          ...partsOf(
            worksheet(A1, '', `<mergeCells>${'<mergeCell ref="A1:XFD1048576"/>'.repeat(100_000)}</mergeCells>`),
          ),
        ),
      '| 1 |\n| --- |',
    ],
    ['a formula', () => sheetOf('<row><c><f>SUM(A1:XFD1048576)</f><v>1</v></c></row>'), '| 1 |\n| --- |'],
    [
      'names that leave the archive',
      () =>
        zipSync(
          Object.fromEntries([
            ...partsOf(worksheet(A1)).map(({ path, content }) => [path, bytesOf(String(content))] as const),
            ['../../../x', bytesOf('x')],
          ]),
        ),
      '| 1 |\n| --- |',
    ],
    [
      'a part twice, of which the last one counts',
      () => zipOf(...partsOf(worksheet('<row><c><v>2</v></c></row>')), { path: 'xl/s.xml', content: worksheet(A1) }),
      '| 1 |\n| --- |',
    ],
  ])(
    '%s is read',
    async (_, make, table) => {
      expect(await read('a.xlsx', make())).toBe(`### A\n\n${table}`);
    },
    240_000,
  );

  it('10,000 sheets are read', async () => {
    const bytes = workbookOf(Array.from({ length: 10_000 }, (_, at) => ({ name: `S${at}`, xml: A1 })));
    expect((await read('a.xlsx', bytes)).split('### ')).toHaveLength(10_001);
  }, 240_000);
});

describe('hostile CSV', () => {
  const RECORD = /a record of it has more than 4 MiB; a quote may be missing/;

  it.each<readonly [string, () => Uint8Array, RegExp]>([
    ['a line of 16 MB', () => bytesOf('x', 16 * MIB), RECORD],
    ['16 MiB of commas', () => bytesOf(',', 16 * MIB), RECORD],
    ['a quote that is open over 16 MiB', () => bytesOf(`a,"${'x'.repeat(16 * MIB)}`), RECORD],
    ['60 MiB of commas', () => bytesOf(',', 60 * MIB), RECORD],
    [
      '1,000,000 columns',
      () => bytesOf(`${'a,'.repeat(1_000_000)}\n`, 2),
      /has 1000001 fields; at most 16384 are read/,
    ],
    ['16 MiB of NUL', () => new Uint8Array(16 * MIB), RECORD],
  ])(
    '%s is refused',
    async (_, make, message) => {
      const { warnings } = await work('merge', 'a.csv', make());
      expect(warnings).toEqual([expect.stringMatching(message)]);
    },
    240_000,
  );

  it.each<readonly [string, () => Uint8Array, RegExp]>([
    [
      'a name of 1 MB over 200,000 rows',
      () => bytesOf(`${'x'.repeat(1_000_000)},b\n${'1,2\n'.repeat(200_000)}`),
      CHARACTERS,
    ],
    ['a wide record behind 200,000 short ones', () => bytesOf(`${'1\n'.repeat(200_000)}${'1,'.repeat(3000)}`), CELLS],
  ])(
    'the records of %s are refused',
    async (_, make, message) => {
      const failure = await failureOf(work('merge', 'a.csv', make()));
      expect(failure).toMatchObject({ code: 'LIMIT_REACHED', message: expect.stringMatching(message) });
    },
    240_000,
  );

  it.each<readonly [string, Uint8Array, unknown]>([
    ['NUL in fields', bytesOf('a,b\n\u0000,1'), { a: '\u0000', b: 1 }],
    ['bytes that are no UTF-8', new Uint8Array([0x61, 0x2c, 0x62, 0x0a, 0xe9, 0x2c, 0x80]), { a: 'é', b: '€' }],
    [
      'an odd byte behind UTF-16',
      Buffer.concat([Buffer.from('\ufeffa,b\n1,2\n', 'utf16le'), Buffer.from([0x61])]),
      { a: '1', b: 2 },
    ],
  ])(
    '%s is read',
    async (_, bytes, record) => {
      const { outputs } = await work('merge', 'a.csv', bytes);
      expect(outputs).toMatchObject({
        data: { merged: expect.arrayContaining([expect.objectContaining(record as object)]) },
      });
    },
    240_000,
  );

  it('60 MiB of text are cut', async () => {
    expect(await read('a.csv', bytesOf('é', 30 * MIB))).toMatch(/is left out after [\d,]+ characters/);
  }, 240_000);
});
