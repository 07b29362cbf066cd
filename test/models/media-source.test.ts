import { describe, expect, it } from 'vitest';
import { inlineMedia, mediaUrl } from '../../src/models/media-source.js';

describe('inlineMedia', () => {
  it.each([
    ['data', { data: 'QQ==', mimeType: 'image/png' }, { data: 'QQ==', mimeType: 'image/png' }],
    ['a data URL', { url: 'data:image/png;base64,QQ==' }, { data: 'QQ==', mimeType: 'image/png' }],
    [
      'a data URL with parameters',
      { url: 'data:text/plain;charset=utf-8;base64,QQ==' },
      { data: 'QQ==', mimeType: 'text/plain' },
    ],
  ])('takes the bytes of %s', (_, source, expected) => {
    expect(inlineMedia(source)).toEqual(expected);
  });

  it.each([
    ['a URL', { url: 'https://pictures.test/1.png' }],
    ['an id', { fileId: 'f' }],
    ['a data URL that is not in base64', { url: 'data:text/plain,QQ==' }],
    ['a data URL without a type', { url: 'data:;base64,QQ==' }],
    ['a data URL without a comma', { url: 'data:image/png;base64' }],
    ['a data URL with an endless type', { url: `data:image/${'x'.repeat(1_000)};base64,QQ==` }],
  ])('takes no bytes of %s', (_, source) => {
    expect(inlineMedia(source)).toBeUndefined();
  });
});

describe('mediaUrl', () => {
  it.each([
    [{ url: 'https://pictures.test/1.png' }, 'https://pictures.test/1.png'],
    [{ data: 'QQ==', mimeType: 'image/png' }, 'data:image/png;base64,QQ=='],
    [{ fileId: 'f' }, undefined],
  ])('of %j is %s', (source, expected) => {
    expect(mediaUrl(source)).toBe(expected);
  });
});
