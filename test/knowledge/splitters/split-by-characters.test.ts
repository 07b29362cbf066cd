import { describe, expect, it } from 'vitest';
import { type KnowledgeDocument, knowledgeDocument } from '../../../src/knowledge/knowledge-document.js';
import {
  type SplitByCharactersOptions,
  splitByCharacters,
} from '../../../src/knowledge/splitters/split-by-characters.js';
import { splitByTokens } from '../../../src/knowledge/splitters/split-by-tokens.js';
import { estimateTokens } from '../../../src/models/estimate-tokens.js';
import { property } from '../../support/random.js';

const texts = (documents: readonly KnowledgeDocument[]) => documents.map(({ text }) => text);

async function split(text: string, options: SplitByCharactersOptions): Promise<string[]> {
  return texts(await splitByCharacters(options)([knowledgeDocument({ id: 'd', text })]));
}

describe('splitting by characters', () => {
  it.each<[what: string, text: string, options: SplitByCharactersOptions, chunks: string[]]>([
    ['leaves a short text whole', 'one two', { size: 10 }, ['one two']],
    ['cuts at paragraphs first', 'one two\n\nthree', { size: 9 }, ['one two', 'three']],
    ['joins paragraphs that fit together', 'a\n\nb\n\nlonger one', { size: 10 }, ['a\n\nb', 'longer one']],
    [
      'cuts a long paragraph at its sentences',
      'One is. Two is. Three.\n\nEnd',
      { size: 9 },
      ['One is.', 'Two is.', 'Three.', 'End'],
    ],
    ['cuts words when nothing else is left', 'abcdefgh', { size: 3 }, ['abc', 'def', 'gh']],
    [
      'leaves a text whole that has none of the separators',
      'abcdefgh i',
      { size: 3, separators: [' '] },
      ['abcdefgh', 'i'],
    ],
    ['gives nothing for white space', ' \n\n ', { size: 10 }, []],
    ['gives nothing for an empty text', '', { size: 10 }, []],
    ['keeps a separator at the end', 'a.b.c', { size: 2, separators: ['.'] }, ['a.', 'b.', 'c']],
    [
      'keeps a separator at the start',
      'a.b.c',
      { size: 2, separators: ['.'], separatorPlace: 'start' },
      ['a', '.b', '.c'],
    ],
    [
      'leaves a separator out at borders',
      'a.b.c',
      { size: 1, separators: ['.'], separatorPlace: 'none' },
      ['a', 'b', 'c'],
    ],
    ['keeps separators within a chunk', 'a.b.c', { size: 3, separators: ['.'], separatorPlace: 'none' }, ['a.b', 'c']],
    [
      'repeats whole pieces as overlap',
      'aa bb cc dd',
      { size: 6, overlap: 3, separators: [' '] },
      ['aa bb', 'bb cc', 'cc dd'],
    ],
    ['overlaps words that were cut', 'abcdefgh', { size: 4, overlap: 2 }, ['abcd', 'cdef', 'efgh']],
    [
      'repeats nothing that does not fit',
      'aa bbbbbb cc',
      { size: 7, overlap: 3, separators: [' '] },
      ['aa', 'bbbbbb', 'cc'],
    ],
    [
      'overlaps over the border of a paragraph',
      'aaaa bb\n\ncc dd',
      { size: 9, overlap: 5, separators: ['\n\n', ' '] },
      ['aaaa bb', 'bb\n\ncc dd'],
    ],
    ['cuts no character in two', '😀😀😀', { size: 3 }, ['😀', '😀', '😀']],
    ['cuts no character in two, however small the size', '😀a', { size: 1 }, ['😀', 'a']],
    [
      'measures as it is told',
      'aa bb cc',
      { size: 2, separators: [' '], lengthOf: (t) => t.split(' ').filter(Boolean).length },
      ['aa bb', 'cc'],
    ],
  ])('%s', async (_what, text, options, chunks) => {
    expect(await split(text, options)).toEqual(chunks);
  });

  it('gives ids by position, keeps metadata and sub-indexes, and leaves scores and vectors out', async () => {
    const document = knowledgeDocument({
      id: 'd',
      text: 'aaa bbb',
      metadata: { source: 's', n: 1 },
      subIndexes: ['x'],
      score: 1,
      denseVector: [1],
    });
    expect(await splitByCharacters({ size: 3 })([document])).toEqual([
      { id: 'd#0', text: 'aaa', metadata: { source: 's', n: 1, span: [0, 3], chunk: 0 }, subIndexes: ['x'] },
      { id: 'd#1', text: 'bbb', metadata: { source: 's', n: 1, span: [4, 7], chunk: 1 }, subIndexes: ['x'] },
    ]);
  });

  it('gives ids by a rule of ones own', async () => {
    const chunks = await splitByCharacters({ size: 3, idOf: (id, at) => `${id}/${at + 1}` })([
      knowledgeDocument({ id: 'd', text: 'aaa bbb' }),
    ]);
    expect(chunks.map(({ id }) => id)).toEqual(['d/1', 'd/2']);
  });

  it('names places in the first text when chunks are split again', async () => {
    const text = 'aaa bbb\n\nccc ddd';
    const paragraphs = await splitByCharacters({ size: 8, separators: ['\n\n'] })([
      knowledgeDocument({ id: 'd', text }),
    ]);
    const words = await splitByCharacters({ size: 3 })(paragraphs);
    expect(words.map(({ metadata }) => metadata.span)).toEqual([
      [0, 3],
      [4, 7],
      [9, 12],
      [13, 16],
    ]);
    expect(words.map(({ id }) => id)).toEqual(['d#0#0', 'd#0#1', 'd#1#0', 'd#1#1']);
  });

  it.each([
    { size: 0 },
    { size: 1.5 },
    { size: 3, overlap: 3 },
    { size: 3, overlap: -1 },
    { size: 3, separators: [] },
    { size: 3, maxChunks: 0 },
    { size: 3, separatorPlace: 'middle' as never },
  ])('refuses %o', (options) => {
    expect(() => splitByCharacters(options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });

  it('makes no more chunks than it may', async () => {
    await expect(split('a b c d', { size: 1, maxChunks: 3 })).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    expect(await split('a b c', { size: 1, maxChunks: 3 })).toEqual(['a', 'b', 'c']);
  });

  it('stops when it is told', async () => {
    const stopped = splitByCharacters({ size: 3 })([knowledgeDocument({ text: 'aaa' })], {
      signal: AbortSignal.abort(new Error('enough')),
    });
    await expect(stopped).rejects.toThrow('enough');
  });

  property('chunks are parts of the text in order, fit, and leave out white space alone', 120, async (random) => {
    const letters = ['a', 'b', ' ', ' ', '\n', '\n\n', '. ', '。', '😀', '中'];
    const text = Array.from({ length: random.int(200) }, () => random.pick(letters)).join('');
    const size = 2 + random.int(20);
    const overlap = random.int(size);
    const chunks = await splitByCharacters({ size, overlap })([knowledgeDocument({ id: 'd', text })]);
    let reached = 0;
    let before = -1;
    for (const { text: chunk, metadata } of chunks) {
      const [start, end] = metadata.span as [number, number];
      expect(text.slice(start, end)).toBe(chunk);
      expect(chunk).toBe(chunk.trim());
      expect(chunk.length).toBeGreaterThan(0);
      expect(chunk.length).toBeLessThanOrEqual(size);
      expect(/[\udc00-\udfff]/.test(chunk[0] ?? '')).toBe(false);
      expect(start).toBeGreaterThan(before);
      expect(reached - start).toBeLessThanOrEqual(overlap);
      expect(text.slice(reached, start).trim()).toBe('');
      expect(end).toBeGreaterThan(reached);
      before = start;
      reached = end;
    }
    expect(text.slice(reached).trim()).toBe('');
  });

  it('takes linear time for a text without the separators that are tried first', async () => {
    let measured = 0;
    const lengthOf = (part: string): number => {
      measured += part.length;
      return part.length;
    };
    const text = `${'x'.repeat(20)} `.repeat(5_000);
    await split(text, { size: 100, lengthOf });
    expect(measured).toBeLessThan(40 * text.length);
  });
});

describe('splitting by tokens', () => {
  it('cuts where the count of tokens says', async () => {
    const words = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;
    const documents = await splitByTokens({ size: 3, countTokens: words })([
      knowledgeDocument({ text: 'a b c d e f g' }),
    ]);
    expect(texts(documents)).toEqual(['a b c', 'd e f', 'g']);
  });

  it('estimates tokens unless it is given a count', async () => {
    const text = 'The pump needs oil twice a year. '.repeat(200);
    const chunks = texts(await splitByTokens({ size: 50, overlap: 10 })([knowledgeDocument({ text })]));
    expect(chunks.length).toBeGreaterThan(20);
    for (const chunk of chunks) expect(estimateTokens(chunk)).toBeLessThanOrEqual(50);
    expect([splitByTokens().stepName, splitByTokens().stepKind]).toEqual(['splitByTokens', 'transformer']);
  });
});
