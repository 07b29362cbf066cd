import { describe, expect, it } from 'vitest';
import { knowledgeDocument } from '../../../src/knowledge/knowledge-document.js';
import { parserByExtension } from '../../../src/knowledge/parsers/parser-by-extension.js';
import type { ParseFunction } from '../../../src/knowledge/ports.js';

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** A parser that gives its name. */
const named =
  (name: string): ParseFunction =>
  async ({ uri }) => [knowledgeDocument({ id: uri, text: name })];

const textOf = async (parser: ParseFunction, uri: string, bytes: Uint8Array | string, mimeType?: string) => {
  const documents = await parser({ uri, bytes: typeof bytes === 'string' ? bytesOf(bytes) : bytes, mimeType });
  return documents.map(({ text }) => text);
};

describe('choosing a parser', () => {
  const parser = parserByExtension({
    parsers: { '.Log': named('own log'), md: named('own Markdown') },
    fallback: named('fallback'),
  });

  it.each([
    ['its own parser by ending, in any case', 'a/b.LOG', 'x', undefined, ['own log']],
    ['its own parser before a built-in one', 'a.md', '# x', undefined, ['own Markdown']],
    ['CSV by ending', 'a.csv', 'h\n1\n2', undefined, ['h: 1', 'h: 2']],
    ['CSV by media type', 'https://example.com/export', 'h\n1', 'text/csv; charset=utf-8', ['h: 1']],
    ['lines of JSON by ending', 'a.ndjson', '"x"\n"y"', undefined, ['x', 'y']],
    ['JSON by media type', 'https://example.com/api', '["x"]', 'application/json', ['x']],
    ['HTML by media type, before the ending', 'https://example.com/a.php', '<p>x</p>', 'text/html', ['x']],
    ['text by content', 'README', 'plain', undefined, ['plain']],
    ['text by ending', 'a.py', 'print(1)', undefined, ['print(1)']],
    ['the fallback for what nothing else reads', 'a.bin', Uint8Array.of(0, 1, 2), undefined, ['fallback']],
    ['the fallback for a picture', 'a.png', Uint8Array.of(1), undefined, ['fallback']],
  ])('takes %s', async (_what, uri, bytes, mimeType, expected) => {
    expect(await textOf(parser, uri, bytes, mimeType)).toEqual(expected);
  });

  it('refuses what nothing reads when there is no fallback, and says what to give', async () => {
    const reading = textOf(parserByExtension(), 'a.bin', Uint8Array.of(0, 1, 2));
    await expect(reading).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining('give an image, PDF'),
    });
  });

  it('finds the title of Markdown unless told otherwise', async () => {
    const [document] = await parserByExtension()({ uri: 'a.md', bytes: bytesOf('# Title') });
    expect(document?.metadata.title).toBe('Title');
  });

  it('names its own endings', () => {
    expect(parser.extensions).toEqual(['log', 'md']);
  });

  it('knows no ending by an inherited name', async () => {
    expect(await textOf(parserByExtension(), 'a.constructor', 'x')).toEqual(['x']);
  });

  it.each([
    { parsers: { md: 'x' as never } },
    { parsers: { md: named('1'), '.MD': named('2') } },
    { maxCharacters: 0 },
  ])('refuses %o', (options) => {
    expect(() => parserByExtension(options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});
