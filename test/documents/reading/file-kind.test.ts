import { describe, expect, it } from 'vitest';
import { fileKind, imageType, parseDataUrl } from '../../../src/documents/reading/file-kind.js';

const file = (name: string, mimeType: string, bytes: Uint8Array = Buffer.from('text')) => ({
  id: 'f',
  name,
  mimeType,
  bytes,
});
const PNG = Buffer.from('89504e470d0a1a0a00', 'hex');
const UNKNOWN = 'application/octet-stream';

describe('fileKind', () => {
  it.each<readonly [string, string, Uint8Array | undefined, string]>([
    ['a', 'image/heic', undefined, 'image'],
    ['a.pdf', 'application/pdf', undefined, 'pdf'],
    ['a', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document', undefined, 'docx'],
    ['a', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet; x=y', undefined, 'xlsx'],
    ['a.csv', 'application/vnd.ms-excel', undefined, 'text'],
    ['a.xls', 'application/vnd.ms-excel', undefined, 'old-office'],
    ['a.html', 'text/plain', undefined, 'html'],
    ['a.md', 'text/plain', undefined, 'text'],
    ['a', 'application/ld+json', undefined, 'text'],
    ['A.PDF', UNKNOWN, undefined, 'pdf'],
    ['a.py', UNKNOWN, undefined, 'text'],
    ['a.tsv', '', undefined, 'text'],
    ['a', UNKNOWN, PNG, 'image'],
    ['a', '', Buffer.from('%PDF-1.7'), 'pdf'],
    ['a', '', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'old-office'],
    ['a.xyz', '', Buffer.from('plain'), 'text'],
    ['a.xyz', '', Buffer.from([0, 1]), 'unknown'],
    ['a.mp4', 'video/mp4', Buffer.from([0, 1]), 'unknown'],
    ['a.pdf', 'constructor', undefined, 'pdf'],
    ['a.txt', '__proto__', undefined, 'text'],
  ])('reads %s of the type %j as %s', (name, mimeType, bytes, kind) => {
    expect(fileKind(file(name, mimeType, bytes))).toBe(kind);
  });
});

describe('imageType', () => {
  it.each([
    ['a', 'image/PNG', undefined, 'image/png'],
    ['a.jpg', UNKNOWN, undefined, 'image/jpeg'],
    ['a.jpg', UNKNOWN, PNG, 'image/png'],
    ['a.svg', '', undefined, 'image/svg+xml'],
    ['a.webp', '', undefined, 'image/webp'],
  ])('of %s with the type %j', (name, mimeType, bytes, type) => {
    expect(imageType(file(name, mimeType, bytes))).toBe(type);
  });
});

describe('parseDataUrl', () => {
  it.each([
    ['data:,a%20b', 'a b'],
    ['data:,%C3%BC%e2%82%ac', 'ü€'],
    ['data:,100%', '100%'],
    ['data:,%4', '%4'],
    ['data:,%zz%4g%%41', '%zz%4g%A'],
    ['data:,ü%41', 'üA'],
    ['data:text/plain;base64,YQ==', 'a'],
  ])('reads %s', (url, text) => {
    expect(Buffer.from(parseDataUrl(url)?.bytes ?? []).toString('utf8')).toBe(text);
  });
});
