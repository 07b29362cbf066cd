import { beforeAll, describe, expect, it } from 'vitest';
import { byHeadings } from '../../../src/knowledge/chunkers/by-headings.js';
import { byPages } from '../../../src/knowledge/chunkers/by-pages.js';
import { byQuestions } from '../../../src/knowledge/chunkers/by-questions.js';
import { byTableRows } from '../../../src/knowledge/chunkers/by-table-rows.js';
import { byTokens, SENTENCES } from '../../../src/knowledge/chunkers/by-tokens.js';
import type { ChunkDraft, Chunker, ParsedDocument } from '../../../src/knowledge/chunkers/chunker.js';
import { type CountTokens, loadTokenCounter } from '../../../src/knowledge/chunkers/count-tokens.js';
import { compileHeadings, type HeadingFamily } from '../../../src/knowledge/chunkers/heading-levels.js';
import { whole } from '../../../src/knowledge/chunkers/whole.js';
import { withChildren } from '../../../src/knowledge/chunkers/with-children.js';
import { property } from '../../support/random.js';

let countTokens: CountTokens;
let families: readonly HeadingFamily[];
beforeAll(async () => {
  countTokens = await loadTokenCounter();
  families = await compileHeadings();
});

/** Words, for sizes that a reader can count. */
const countWords: CountTokens = (text) => text.match(/\S+/g)?.length ?? 0;

function textsOf(chunker: Chunker, document: ParsedDocument | string): string[] {
  return draftsOf(chunker, document).map(({ text }) => text);
}

function draftsOf(chunker: Chunker, document: ParsedDocument | string): ChunkDraft[] {
  return [...chunker(typeof document === 'string' ? { text: document } : document)];
}

describe('tokens', () => {
  it('are those of o200k, of texts with control tokens and long words too', () => {
    expect(countTokens('Hello, world!')).toBe(4);
    expect(countTokens('<|endoftext|>')).toBeGreaterThan(3);
    expect(countTokens('')).toBe(0);
    expect(countTokens('a'.repeat(100_000))).toBeGreaterThan(10_000);
    expect(countTokens('😀'.repeat(3_001))).toBe(3_001);
  });
});

describe('byTokens', () => {
  it('joins pieces between delimiters as long as they fit', () => {
    const text = 'one two\nthree four\nfive six seven\neight';
    expect(textsOf(byTokens({ countTokens: countWords, size: 4 }), text)).toEqual([
      'one two\nthree four',
      'five six seven\neight',
    ]);
  });

  it('begins a chunk with the last pieces of the one before, as far as the overlap allows', () => {
    const text = 'a a\nb b\nc c\nd d\n';
    expect(textsOf(byTokens({ countTokens: countWords, size: 4, overlap: 2 }), text)).toEqual([
      'a a\nb b',
      'b b\nc c',
      'c c\nd d',
    ]);
  });

  it('cuts a piece that is too long between words, and Chinese between characters', () => {
    expect(textsOf(byTokens({ countTokens: countWords, size: 2 }), 'one two three')).toEqual(['one two', 'three']);
    const each: CountTokens = (text) => [...text.replaceAll(/\s/g, '')].length;
    expect(textsOf(byTokens({ countTokens: each, size: 4 }), '检查点的格式说明')).toEqual(['检查点的', '格式说明']);
  });

  it('cuts sentences without cutting numbers', () => {
    const cut = byTokens({ countTokens: countWords, size: 6, delimiters: SENTENCES, isOneEach: true });
    expect(textsOf(cut, 'Pi is 3.14 about. It is a.b too! 好的。是')).toEqual([
      'Pi is 3.14 about.',
      'It is a.b too!',
      '好的。',
      '是',
    ]);
  });

  it('makes nothing of an empty text, and refuses options that are none', () => {
    expect(textsOf(byTokens({ countTokens }), ' \n\t ')).toEqual([]);
    expect(() => byTokens({ countTokens, size: 0 })).toThrow(/"size" must be a whole number of at least 1; received 0/);
    expect(() => byTokens({ countTokens, size: 8, overlap: 8 })).toThrow(/"overlap" must be less than size \(8\)/);
  });

  it('ends with LIMIT_REACHED behind the most chunks', () => {
    expect(() => textsOf(byTokens({ countTokens: countWords, size: 1, maxChunks: 3 }), 'a\nb\nc\nd')).toThrow(
      expect.objectContaining({ code: 'LIMIT_REACHED' }),
    );
  });

  it('cuts a line of ten million characters', () => {
    const long = 'word '.repeat(2_000_000);
    const count: CountTokens = (text) => text.length / 5;
    const drafts = draftsOf(byTokens({ countTokens: count, size: 1_000 }), long);
    expect(drafts.length).toBeGreaterThanOrEqual(2_000);
    expect(drafts.every(({ tokens }) => tokens <= 1_000)).toBe(true);
  });
});

describe('byHeadings', () => {
  it('tells the headings above each section of Markdown, and drops those with nothing below', () => {
    const text = 'Before.\n# Book\n## One\nFirst.\n## Two\nSecond.\n# End\n';
    expect(
      draftsOf(byHeadings({ countTokens: countWords }), text).map(({ text: own, headings }) => [own, headings]),
    ).toEqual([
      ['Before.', undefined],
      ['## One\nFirst.', ['Book', 'One']],
      ['## Two\nSecond.', ['Book', 'Two']],
      ['# End', ['End']],
    ]);
  });

  it.each([
    ['第一章 总则\n第一条 目的。\n内容。\n第二条 范围。\n更多。', ['第一章 总则', '第一条 目的。'], 2],
    ['Chapter I\nSection 1\nText.\nSection 2\nMore.', ['Chapter I', 'Section 1'], 2],
    ['1. First\n1.1 Inner\nText.\n2. Second\nMore.', ['1. First', '1.1 Inner'], 2],
  ])('finds headings as they are written most in the document: %s', (text, path, count) => {
    const drafts = draftsOf(byHeadings({ countTokens: countWords, families }), text);
    expect(drafts[0]?.headings).toEqual(path);
    expect(drafts).toHaveLength(count);
  });

  it('keeps headings below the depth within their section', () => {
    const text = '# A\none\n## B\ntwo\n# C\nthree';
    expect(textsOf(byHeadings({ countTokens: countWords, depth: 1 }), text)).toEqual([
      '# A\none\n## B\ntwo',
      '# C\nthree',
    ]);
  });

  it('leaves headings out of the texts when they are not kept', () => {
    expect(textsOf(byHeadings({ countTokens: countWords, keepHeadings: false }), '# A\none\n# B\ntwo')).toEqual([
      'one',
      'two',
    ]);
  });

  it('cuts sections that are too long, each part with its headings', () => {
    const drafts = draftsOf(byHeadings({ countTokens: countWords, size: 3 }), '# A\none two\nthree four');
    expect(drafts.map(({ text, headings }) => [text, headings])).toEqual(
      [
        ['# A', ['A']],
        ['one two', ['A']],
        ['three four', ['A']],
      ].slice(0, drafts.length),
    );
    expect(drafts.length).toBeGreaterThan(1);
  });

  it('takes time in proportion to the text for a pattern that keeps other engines busy for ever', async () => {
    const hostile = await compileHeadings([['(a+)+$', '(a|aa)+b']]);
    const text = `${'a'.repeat(199)}\n`.repeat(50);
    expect(draftsOf(byHeadings({ countTokens: countWords, families: hostile }), text)).not.toHaveLength(0);
  });

  it.each([['(?<=a)b'], ['(a)\\1'], ['(']])('refuses the pattern %s with what to write instead', async (pattern) => {
    await expect(compileHeadings([[pattern]])).rejects.toThrow(/cannot be read: .*syntax of RE2/s);
  });
});

describe('byTableRows', () => {
  const table = 'Prices\n| name | price |\n|---|---|\n| pear | 2 |\n| plum | 3 |\nBehind.';

  it('makes a chunk of each row, with the header as context, and cuts the text around', () => {
    const drafts = draftsOf(byTableRows({ countTokens: countWords }), table);
    expect(drafts.map(({ text, context }) => [text, context])).toEqual([
      ['Prices', undefined],
      ['| pear | 2 |', '| name | price |'],
      ['| plum | 3 |', '| name | price |'],
      ['Behind.', undefined],
    ]);
  });

  it('joins rows as many as are wanted', () => {
    expect(textsOf(byTableRows({ countTokens: countWords, rows: 2 }), table)).toContain('| pear | 2 |\n| plum | 3 |');
  });

  it('takes the tables that a parser found', () => {
    const text = 'h1;h2\n1;2\n3;4\n';
    const tables = [
      {
        start: 0,
        end: text.length,
        header: { start: 0, end: 6 },
        rows: [
          { start: 6, end: 10 },
          { start: 10, end: 14 },
        ],
      },
    ];
    expect(
      draftsOf(byTableRows({ countTokens: countWords }), { text, tables }).map(({ text: row, context }) => [
        row,
        context,
      ]),
    ).toEqual([
      ['1;2', 'h1;h2'],
      ['3;4', 'h1;h2'],
    ]);
  });
});

describe('byQuestions', () => {
  it.each([
    ['Q: What is it?\nA: A stream.\nQ: Why?\nA: It flows.\nOn and on.', ['What is it?', 'Why?']],
    ['问：是什么？\n答：流。\n问：为什么？\n答：会动。', ['是什么？', '为什么？']],
    ['What is it?\tA stream.\nWhy?\tIt flows.', ['What is it?', 'Why?']],
    ['# Notes\nText\n## What is it?\nA stream.\n## Why?\nIt flows.', ['What is it?', 'Why?']],
  ])('finds the pairs of %s', (text, questions) => {
    const drafts = draftsOf(byQuestions({ countTokens: countWords }), text).filter(
      ({ question }) => question !== undefined,
    );
    expect(drafts.map(({ question }) => question)).toEqual(questions);
  });

  it('cuts by tokens what has no pairs', () => {
    expect(textsOf(byQuestions({ countTokens: countWords, size: 2 }), 'one two\nthree')).toEqual(['one two', 'three']);
  });

  it('does not take a question without an answer', () => {
    const drafts = draftsOf(byQuestions({ countTokens: countWords }), 'Q: alone\nQ: one?\nA: yes');
    expect(drafts.map(({ text, question }) => [text, question])).toEqual([
      ['Q: alone', undefined],
      ['Q: one?\nA: yes', 'one?'],
    ]);
  });
});

describe('whole, byPages, withChildren', () => {
  const pages = [
    { start: 0, end: 8, page: 1 },
    { start: 8, end: 20, page: 2 },
  ];
  const text = 'page one\npage two is';

  it('keep a document in one piece', () => {
    expect(textsOf(whole({ countTokens: countWords }), ' a\n\nb ')).toEqual(['a\n\nb']);
    expect(textsOf(whole({ countTokens: countWords }), ' ')).toEqual([]);
  });

  it('make a chunk of each page, and tell the page of each chunk', () => {
    const drafts = draftsOf(byPages({ countTokens: countWords }), { text, pages });
    expect(drafts.map(({ text: own, page }) => [own, page])).toEqual([
      ['page one', 1],
      ['page two is', 2],
    ]);
  });

  it('tell all pages of a chunk that stands on several', () => {
    const many = [...pages, { start: 20, end: 24, page: 5 }];
    const drafts = (size: number) =>
      draftsOf(byTokens({ countTokens: countWords, size }), { text: `${text}\nend`, pages: many }).map(
        ({ text: own, page, pages: all, pageStarts }) => [own, page, all, pageStarts],
      );
    const starts = [
      [1, 0],
      [2, 8],
      [5, 20],
    ];
    expect(drafts(20)).toEqual([[`${text}\nend`, 1, [1, 2, 5], starts]]);
    expect(drafts(3)).toEqual([
      ['page one', 1, undefined, undefined],
      ['page two is', 2, undefined, undefined],
      ['end', 5, undefined, undefined],
    ]);
  });

  it('begin the first page of a chunk where the chunk begins', () => {
    const [, second] = draftsOf(byTokens({ countTokens: countWords, size: 2 }), {
      text: 'a b c d',
      pages: [
        { start: 0, end: 6, page: 1 },
        { start: 6, end: 7, page: 2 },
      ],
    });
    expect(second).toMatchObject({
      text: 'c d',
      pageStarts: [
        [1, 4],
        [2, 6],
      ],
    });
  });

  it('put the children behind their parents', () => {
    const chunker = withChildren(byTokens({ countTokens: countWords, size: 4 }), { countTokens: countWords, size: 2 });
    expect(draftsOf(chunker, 'a b\nc d\ne').map(({ text: own, parent }) => [own, parent])).toEqual([
      ['a b\nc d', undefined],
      ['a b', 0],
      ['c d', 0],
      ['e', undefined],
    ]);
  });
});

describe('every chunker', () => {
  const chunkers = (): readonly (readonly [string, Chunker, number])[] => [
    ['byTokens', byTokens({ countTokens, size: 12, overlap: 4 }), 12],
    ['sentences', byTokens({ countTokens, size: 12, delimiters: SENTENCES, isOneEach: true }), 12],
    ['byHeadings', byHeadings({ countTokens, size: 12, families }), 12],
    ['byTableRows', byTableRows({ countTokens, size: 12, rows: 2 }), 12],
    ['byQuestions', byQuestions({ countTokens, size: 12 }), 12],
    ['byPages', byPages({ countTokens, size: 12 }), 12],
    ['whole', whole({ countTokens }), Infinity],
    ['withChildren', withChildren(byTokens({ countTokens, size: 12 }), { countTokens, size: 5 }), 12],
  ];

  const parts = [
    '# Kopf\n',
    '## Q?\n',
    '| a | b |\n',
    '|---|---|\n',
    '第一章 总则\n',
    'Q: why?\n',
    'A: so.\n',
    'word ',
    '检查点。',
    '😀',
    '\n',
    '\t',
    'e\u0301',
    '\r\n',
    'x'.repeat(90),
    ' ',
  ];

  property('gives ranges of the document, in its order, within the size, and loses no word', 60, (random) => {
    const text = Array.from({ length: random.int(60) }, () => random.pick(parts)).join('');
    const middle = Math.floor(text.length / 2);
    const pages = [
      { start: 0, end: middle, page: 1 },
      { start: middle, end: text.length, page: 2 },
    ];
    for (const [name, chunker, size] of chunkers()) {
      const drafts = draftsOf(chunker, { text, pages });
      for (const draft of drafts) {
        expect(draft.text, name).toBe(text.slice(draft.start, draft.end));
        expect(draft.text.trim(), name).toBe(draft.text);
        expect(draft.tokens, name).toBeLessThanOrEqual(size);
      }
      const starts = drafts.filter(({ parent }) => parent === undefined).map(({ start }) => start);
      expect(starts, name).toEqual(starts.toSorted((left, right) => left - right));
      expect(lostWords(name, text, drafts), name).toEqual([]);
    }
  });
});

/** Places of letters in no chunk, but for headers of tables and headings with nothing below, which chunks tell beside their text. */
function lostWords(name: string, text: string, drafts: readonly ChunkDraft[]): number[] {
  const covered = new Uint8Array(text.length);
  for (const { start, end } of drafts) covered.fill(1, start, end);
  const told = drafts.flatMap(({ context = '', headings = [] }) => [...context.split('\n'), ...headings]);
  return [...text.matchAll(/\S/g)].flatMap(({ index }) => {
    if (covered[index] === 1) return [];
    const start = text.lastIndexOf('\n', index - 1) + 1;
    const newline = text.indexOf('\n', start);
    const line = text.slice(start, newline === -1 ? text.length : newline).trim();
    const isTold =
      told.some((words) => line.includes(words.trim())) || (name === 'byTableRows' && /^[|\s:-]+$/.test(line));
    return isTold ? [] : [index];
  });
}
