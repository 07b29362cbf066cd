import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { type PartHead, readParts } from '../../../src/transport/http/multipart.js';

interface Part extends PartHead {
  readonly text: string;
}

const LIMITS = { maxBytes: 1_000_000, maxFiles: 10 };

function requestOf(chunks: Iterable<Buffer>, boundary = 'x', headers: object = {}): IncomingMessage {
  const contentType = `multipart/form-data; boundary=${boundary}`;
  const stream = Readable.from(chunks, { objectMode: false });
  return Object.assign(stream, { headers: { 'content-type': contentType, ...headers } }) as unknown as IncomingMessage;
}

async function partsOf(request: IncomingMessage, limits = LIMITS): Promise<readonly Part[]> {
  const parts: { head: PartHead; pieces: Buffer[] }[] = [];
  await readParts(request, limits, (head) => {
    const pieces: Buffer[] = [];
    parts.push({ head, pieces });
    return (piece) => void pieces.push(Buffer.from(piece));
  });
  return parts.map(({ head, pieces }) => ({ ...head, text: Buffer.concat(pieces).toString('latin1') }));
}

/** A body of parts, each a list of header lines and a content. */
function bodyOf(parts: readonly (readonly [headers: readonly string[], content: string])[], boundary = 'x'): Buffer {
  const written = parts.map(([headers, content]) => `--${boundary}\r\n${headers.join('\r\n')}\r\n\r\n${content}\r\n`);
  return Buffer.from(`${written.join('')}--${boundary}--\r\n`, 'utf8');
}

const disposition = (rest: string) => `Content-Disposition: form-data; ${rest}`;
const TRICKY = '\r\n--\r\n--y\r\r\n\r\n-';

describe('a multipart body', () => {
  const body = bodyOf([
    [[disposition('name="a"')], 'text'],
    [[disposition('name="file"; filename="b.bin"'), 'Content-Type: Application/PDF'], TRICKY],
    [[disposition('name="file"; filename=""'), 'X-Other: 1'], ''],
  ]);
  const parts = [
    { field: 'a', mimeType: 'text/plain', text: 'text' },
    { field: 'file', mimeType: 'application/pdf', fileName: 'b.bin', text: TRICKY },
    { field: 'file', mimeType: 'text/plain', fileName: '', text: '' },
  ];

  it('is the same wherever its chunks end', async () => {
    for (let at = 0; at <= body.length; at += 1) {
      expect(
        await partsOf(requestOf([body.subarray(0, at), body.subarray(at)].filter(({ length }) => length > 0))),
      ).toEqual(parts);
    }
    expect(await partsOf(requestOf([...body].map((byte) => Buffer.from([byte]))))).toEqual(parts);
  });

  it('has what browsers send, as their own form of it says', async () => {
    const form = new FormData();
    form.append('a b', 'x'.repeat(200_000));
    form.append('file', new Blob(['ü\r\n'], { type: 'text/csv' }), 'Grüße "1"\n.csv');
    const written = new Response(form);
    const boundary = written.headers.get('content-type')?.split('boundary=')[1] as string;
    const sent = Buffer.from(await written.arrayBuffer());
    const [text, file] = await partsOf(requestOf([sent], boundary));
    expect(text).toEqual({ field: 'a b', mimeType: 'text/plain', text: 'x'.repeat(200_000) });
    expect(file).toMatchObject({ fileName: 'Grüße "1"\n.csv', mimeType: 'text/csv' });
    expect(Buffer.from(file?.text ?? '', 'latin1').toString('utf8')).toBe('ü\r\n');
  });

  it.each([
    ['a path of another system', 'filename="C:\\dir\\a.txt"', 'a.txt'],
    ['a path', 'filename="../../a.txt"', 'a.txt'],
    ['escaped quotation marks', 'filename="a\\"b.txt"', 'a"b.txt'],
    ['a name beyond ASCII as RFC 5987 writes it', "filename*=utf-8''%C3%BC.txt", 'ü.txt'],
    ['no quotation marks', 'filename=a.txt', 'a.txt'],
  ])('names files with %s', async (_name, rest, fileName) => {
    const [part] = await partsOf(requestOf([bodyOf([[[disposition(`name="file"; ${rest}`)], 'x']])]));
    expect(part?.fileName).toBe(fileName);
  });

  it('has preamble, blanks and epilogue that say nothing', async () => {
    const text = `before\r\n--x  \r\n${disposition('name="a"')}\r\n\r\n1\r\n--x--after\r\n--x\r\n`;
    expect(await partsOf(requestOf([Buffer.from(text)]))).toEqual([{ field: 'a', mimeType: 'text/plain', text: '1' }]);
  });

  it('may be base64, whatever its chunks', async () => {
    const headers = [disposition('name="file"; filename="a"'), 'Content-Transfer-Encoding: base64'];
    const coded = bodyOf([[headers, `${Buffer.from('hello, world').toString('base64')}\r\n`]]);
    for (const size of [1, 7, 1_000]) {
      const chunks = Array.from({ length: Math.ceil(coded.length / size) }, (_, at) =>
        coded.subarray(at * size, (at + 1) * size),
      );
      expect((await partsOf(requestOf(chunks)))[0]?.text).toBe('hello, world');
    }
  });

  it.each([
    ['nothing', ''],
    ['no boundary', 'hello'],
    ['an end that is missing', `--x\r\n${disposition('name="a"')}\r\n\r\n1`],
    ['a head without an end', `--x\r\n${'X: '.padEnd(40_000, 'y')}`],
    ['a head that is no header', '--x\r\nhello\r\n\r\n1\r\n--x--'],
    ['a part without a name', '--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--'],
    ['a line behind its boundary', `--x${'y'.repeat(400)}\r\n`],
  ])('of %s is refused', async (_name, text) => {
    await expect(partsOf(requestOf([Buffer.from(text)]))).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: 'The body is not valid multipart/form-data.',
    });
  });

  it('without a boundary in its header is refused', async () => {
    const request = requestOf([body], 'x', { 'content-type': 'multipart/form-data' });
    await expect(partsOf(request)).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  });

  it('of too many files, fields or bytes is refused where it has too many', async () => {
    const many = (count: number, name: string): Iterable<Buffer> => {
      let sent = 0;
      return (function* () {
        for (; sent < count; sent += 1) yield Buffer.from(`--x\r\n${disposition(name)}\r\n\r\n1\r\n`);
        yield Buffer.from('--x--');
      })();
    };
    await expect(partsOf(requestOf(many(20_000, 'name="file"; filename="a"')))).rejects.toMatchObject({
      message: 'At most 10 files are taken at once.',
    });
    await expect(partsOf(requestOf(many(20_000, 'name="a"')))).rejects.toMatchObject({
      message: expect.stringMatching(/fields/),
    });
    const short = { ...LIMITS, maxBytes: body.length - 1 };
    await expect(partsOf(requestOf([body]), short)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    const announced = requestOf([], 'x', { 'content-length': String(body.length) });
    await expect(partsOf(announced, short)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
  });

  it('is read no faster than it is taken', async () => {
    const large = bodyOf([[[disposition('name="file"; filename="a"')], 'x'.repeat(500_000)]]);
    let [taking, most, pieces] = [0, 0, 0];
    const chunks = Array.from({ length: 100 }, (_, at) => large.subarray(at * 5_100, (at + 1) * 5_100));
    await readParts(requestOf(chunks.filter(({ length }) => length > 0)), LIMITS, () => async ({ length }) => {
      taking += 1;
      most = Math.max(most, taking);
      await new Promise(setImmediate);
      taking -= 1;
      pieces += length;
    });
    expect(most).toBe(1);
    expect(pieces).toBe(500_000);
  });
});
