/** Small files that take a parser minutes or gigabytes: each is refused by a limit, in a thread. */
import { zipSync, zlibSync } from 'fflate';
import { afterAll, describe, expect, it } from 'vitest';
import { readInThread } from '../../../src/documents/reading/read-document.js';
import { createThreadPool } from '../../../src/threads/thread-pool.js';
import { failureOf } from '../../adapters/egress/support/servers.js';

const threads = createThreadPool({ timeoutMs: 60_000 });
afterAll(() => threads.close());

const bytesOf = (text: string, times = 1): Uint8Array => new Uint8Array(Buffer.from(text.repeat(times)));

const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';

/** A Word document with that body. */
function docxOf(body: string): Uint8Array {
  return zipSync({
    '[Content_Types].xml': bytesOf(
      `<Types xmlns="${PACKAGE}/content-types"><Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    ),
    '_rels/.rels': bytesOf(
      `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>`,
    ),
    'word/document.xml': bytesOf(`<w:document xmlns:w="${WORD}"><w:body>${body}</w:body></w:document>`),
  });
}

/** A PDF of one page with that packed content. */
function pdfOf(content: Uint8Array, filter = '/FlateDecode', kids = '3 0 R'): Uint8Array {
  const objects = [
    [bytesOf('<< /Type /Catalog /Pages 2 0 R >>')],
    [bytesOf(`<< /Type /Pages /Kids [${kids}] /Count 1 >>`)],
    [
      bytesOf(
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
      ),
    ],
    [bytesOf(`<< /Length ${content.length} /Filter ${filter} >>\nstream\n`), content, bytesOf('\nendstream')],
    [bytesOf('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>')],
  ];
  const parts = [bytesOf('%PDF-1.4\n')];
  const offsets: number[] = [];
  const length = () => parts.reduce((sum, part) => sum + part.length, 0);
  objects.forEach((object, index) => {
    offsets.push(length());
    parts.push(bytesOf(`${index + 1} 0 obj\n`), ...object, bytesOf('\nendobj\n'));
  });
  const start = length();
  const lines = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const count = objects.length + 1;
  parts.push(
    bytesOf(`xref\n0 ${count}\n0000000000 65535 f \n${lines}trailer << /Size ${count} /Root 1 0 R >>\n`),
    bytesOf(`startxref\n${start}\n%%EOF`),
  );
  return new Uint8Array(Buffer.concat(parts));
}

const PARAGRAPH = '<w:p><w:r><w:t>a</w:t></w:r></w:p>';
const TEXT = 'BT /F1 9 Tf (a) Tj ET\n';
const blanks = (bytes: number): Uint8Array => zlibSync(new Uint8Array(bytes).fill(32));

const LIMIT = /cannot be read: it takes more than (?:60 s|64 MiB of memory)\.$/;
const UNPACKED = /cannot be read: a part of it unpacks to more than 16 MiB\.$/;
const DEEP = /nested deeper than \d+/;

describe('hostile files', () => {
  it.each<readonly [string, string, () => Uint8Array, RegExp]>([
    [
      'a Word document of 450,000 paragraphs',
      'a.docx',
      () => docxOf(PARAGRAPH.repeat(450_000)),
      /more than 250,000 elements/,
    ],
    [
      'one whose paragraph has 200,000 tabs',
      'a.docx',
      () => docxOf(`<w:p>${'<w:r><w:tab/></w:r>'.repeat(200_000)}</w:p>`),
      LIMIT,
    ],
    [
      'one that unpacks to 17 MiB',
      'a.docx',
      () => docxOf(' '.repeat(17 * 1_048_576)),
      /unpacks to 17\.1 MiB; at most 16 MiB/,
    ],
    ['one with deep elements', 'a.docx', () => docxOf('<w:sdt><w:sdtContent>'.repeat(5_000)), DEEP],
    ['a PDF with 700,000 texts', 'a.pdf', () => pdfOf(zlibSync(bytesOf(TEXT, 700_000))), LIMIT],
    [
      'a PDF with 1,000,000 texts',
      'a.pdf',
      () => pdfOf(zlibSync(bytesOf(TEXT, 1_000_000))),
      /it takes more than|unpacks to more than/,
    ],
    ['one whose content unpacks to 48 MiB', 'a.pdf', () => pdfOf(blanks(48 * 1_048_576)), UNPACKED],
    [
      'one whose content is packed twice',
      'a.pdf',
      () => pdfOf(zlibSync(blanks(48 * 1_048_576)), '[/FlateDecode /FlateDecode]'),
      UNPACKED,
    ],
    [
      'one whose content is packed in another way',
      'a.pdf',
      () =>
        pdfOf(
          zlibSync(new Uint8Array(800_000).map((_, at) => (at % 2 === 0 ? 129 : 32))),
          '[/FlateDecode /RunLengthDecode]',
        ),
      UNPACKED,
    ],
    ['one whose pages lead back', 'a.pdf', () => pdfOf(blanks(1), '/FlateDecode', '2 0 R'), /circular/],
    ['a page of 2,000,000 paragraphs', 'a.html', () => bytesOf('<p>a', 2_000_000), /more than 150,000 tags/],
    ['a page of nested elements', 'a.html', () => bytesOf('<b>a', 100_000), DEEP],
  ])(
    '%s is refused',
    async (_, name, make, message) => {
      const failure = await failureOf(
        readInThread({ id: 'f', name, mimeType: '', bytes: make() }, { maxCharacters: 1_000_000 }, threads),
      );
      expect(failure).toMatchObject({ code: 'FILE_UNREADABLE', message: expect.stringMatching(message) });
    },
    120_000,
  );

  it('leave the threads as they were', async () => {
    const file = { id: 'f', name: 'a.html', mimeType: '', bytes: bytesOf('<h1>A</h1>') };
    expect(await readInThread(file, { maxCharacters: 100 }, threads)).toBe('# A');
  }, 60_000);
});
