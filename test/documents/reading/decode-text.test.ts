import { describe, expect, it } from 'vitest';
import { decodeText, looksLikeText } from '../../../src/documents/reading/decode-text.js';
import { parseDataUrl } from '../../../src/documents/reading/file-kind.js';

const bytes = (...values: readonly number[]) => new Uint8Array(values);

describe('decodeText', () => {
  it.each<readonly [string, Uint8Array, string, string]>([
    ['UTF-8', Buffer.from('Müller 中文'), '', 'Müller 中文'],
    ['UTF-8 with a byte order mark', Buffer.from('\uFEFFa'), '', 'a'],
    ['UTF-16 little endian', bytes(0xff, 0xfe, 0x2d, 0x4e), '', '中'],
    ['UTF-16 big endian', bytes(0xfe, 0xff, 0x4e, 0x2d), '', '中'],
    ['GB 18030, guessed', bytes(0xd6, 0xd0, 0xce, 0xc4, 0x2c, 0x61), '', '中文,a'],
    ['windows-1252, guessed', bytes(0x4d, 0xfc, 0x6c, 0x6c, 0x65, 0x72, 0x20, 0x80), '', 'Müller €'],
    ['what its media type says', bytes(0x93, 0xfa), 'text/csv; charset=shift_jis', '日'],
    [
      'what the page says',
      Buffer.concat([Buffer.from('<meta charset="big5">'), bytes(0xa4, 0xa4)]),
      '',
      '<meta charset="big5">中',
    ],
    ['UTF-8 before a wrong charset', Buffer.from('é'), 'text/plain; charset=latin1', 'é'],
    ['an unknown charset', bytes(0x61, 0xff), 'text/plain; charset=nonsense', 'a\uFFFD'],
  ])('reads %s', (_name, given, mimeType, text) => {
    expect(decodeText(given, mimeType)).toBe(text);
  });
});

describe('looksLikeText', () => {
  it.each<readonly [string, Uint8Array, boolean]>([
    ['nothing', bytes(), true],
    ['text', Buffer.from('a\tb\r\né'), true],
    ['UTF-16', bytes(0xff, 0xfe, 0x00, 0x61), true],
    ['a zero byte', bytes(0x61, 0x00), false],
    ['broken UTF-8', bytes(0x61, 0xff), false],
    ['a character cut by the sample', Buffer.from(`${'a'.repeat(65_535)}é…`), true],
  ])('judges %s', (_name, given, isText) => {
    expect(looksLikeText(given)).toBe(isText);
  });
});

describe('parseDataUrl', () => {
  it.each([
    ['data:text/csv;base64,YSxi', 'text/csv', 'a,b'],
    ['data:text/plain;charset=UTF-8;base64,w6k=', 'text/plain', 'é'],
    ['data:TEXT/HTML,<b>', 'text/html', '<b>'],
    ['data:,a%2Cb%C3%A9é%zz', 'text/plain', 'a,béé%zz'],
  ])('reads %s', (url, mimeType, text) => {
    const read = parseDataUrl(url);
    expect(read?.mimeType).toBe(mimeType);
    expect(new TextDecoder().decode(read?.bytes)).toBe(text);
  });

  it.each(['', 'text', 'data:', 'http://a,b', `data:${'x'.repeat(2000)},y`])('takes %.20j for another text', (text) => {
    expect(parseDataUrl(text)).toBeUndefined();
  });
});
