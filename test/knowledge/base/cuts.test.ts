import { describe, expect, it } from 'vitest';
import { builtInChunker } from '../../../src/knowledge/base/chunking/chunk-document.js';
import type { Cut } from '../../../src/knowledge/base/chunking/cut.js';
import { cutDocument } from '../../../src/knowledge/base/chunking/cuts.js';
import type { BaseDraft, DocumentText } from '../../../src/knowledge/base/ports.js';

const countWords = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

/** Cuts by words, and checks that every draft is its place in the text. */
async function cut(given: string | DocumentText, ...cuts: readonly Cut[]): Promise<readonly BaseDraft[]> {
  const document = typeof given === 'string' ? { text: given } : given;
  const drafts = await cutDocument(document, cuts, countWords);
  for (const { start, end, text } of drafts) expect(document.text.slice(start, end)).toBe(text);
  return drafts;
}

const textsOf = (drafts: readonly BaseDraft[]) => drafts.map(({ text }) => text);

const TOKENS = {
  kind: 'tokens',
  size: 4,
  overlapPercent: 0,
  delimiters: ['\n'],
  separators: [],
  childSeparators: [],
  keepsTables: true,
  tableContext: 0,
} as const;

const LEVELS = [
  ['^#[^#]', '^##[^#]', '^###[^#]'],
  ['第[一二三]+章', '第[一二三]+条'],
];
const TITLES = {
  kind: 'titles',
  method: 'hierarchy',
  levels: LEVELS,
  hierarchy: 2,
  tellsAbove: false,
  tellsRoot: false,
  size: 512,
} as const;

const BOOK = 'before\n# A\nof a\n## A1\none\n### deep\nmore\n## A2\n# B\n';

describe('cuts', () => {
  it('are the whole document where there are none', async () => {
    expect(textsOf(await cut(' a\n\nb '))).toEqual(['a\n\nb']);
  });

  it('by tokens join pieces, with an overlap of whole pieces', async () => {
    expect(textsOf(await cut('a b\nc d\ne f', TOKENS))).toEqual(['a b\nc d', 'e f']);
    expect(textsOf(await cut('a b\nc d\ne f', { ...TOKENS, overlapPercent: 50 }))).toEqual(['a b\nc d', 'c d\ne f']);
  });

  it('by tokens part at separators alone where there are some, which no chunk has', async () => {
    const separated = { ...TOKENS, separators: ['##', '##!'] };
    expect(textsOf(await cut('a b c d e\nf## g ##!h', separated))).toEqual(['a b c d e\nf', 'g', 'h']);
  });

  it('by tokens put the parts of a chunk behind it; tables have none, and a later cut takes the parts', async () => {
    const families = { ...TOKENS, childSeparators: [';'] } as const;
    const drafts = await cut('x y z w\na; b\nc d\ne; f', families);
    expect(drafts.map(({ text, parent }) => [text, parent])).toEqual([
      ['x y z w', undefined],
      ['a; b\nc d', undefined],
      ['a', 1],
      ['b\nc d', 1],
      ['e; f', undefined],
      ['e', 4],
      ['f', 4],
    ]);
    const table = '| a; |\n| - |\n| b; |';
    expect(await cut(`one\n\n${table}`, families)).toMatchObject([{ text: 'one' }, { text: table }]);
    expect(textsOf(await cut('a; b\nc d\ne f', families, { kind: 'whole' }))).toEqual(['a', 'b\nc d', 'e f']);
    const later = await cut('x\ny\na; b', { ...TOKENS, size: 2 }, families);
    expect(later.map(({ text, parent }) => [text, parent])).toEqual([
      ['x\ny', undefined],
      ['a; b', undefined],
      ['a', 1],
      ['b', 1],
    ]);
  });

  it('of the method "naive" part chunks at the signs of children_delimiter, where children are wanted', async () => {
    const text = '# Head\none. two.\n\nthree';
    const config = (settings: object) => ({ method: 'naive', settings: { chunk_token_num: 64, ...settings } }) as const;
    const drafts = async (settings: object) => [...(await builtInChunker.chunk({ text }, config(settings)))];
    expect(await drafts({ children_delimiter: '\\n' })).toMatchObject([
      { text },
      { text: '# Head', parent: 0 },
      { text: 'one. two.', parent: 0 },
      { text: 'three', parent: 0 },
    ]);
    expect(textsOf(await drafts({ children_delimiter: '`. `' }))).toEqual([text, '# Head\none', 'two.\n\nthree']);
    for (const off of [{}, { children_delimiter: '\n', parent_child: { use_parent_child: false } }]) {
      expect(textsOf(await drafts(off))).toEqual([text]);
    }
  });

  it('by tokens keep tables whole, with the sentences beside them', async () => {
    const text = 'one two. three four.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nfive six. seven.';
    const drafts = await cut(text, { ...TOKENS, tableContext: 2 });
    expect(drafts.map(({ text: own, context = '' }) => [own, context])).toEqual([
      ['one two. three four.', ''],
      ['| a | b |\n| - | - |\n| 1 | 2 |', 'three four.\nfive six.'],
      ['five six. seven.', ''],
    ]);
  });

  it('at titles tell the titles above, down to the level that is wanted', async () => {
    const drafts = await cut(BOOK, TITLES);
    expect(drafts.map(({ text, headings = [] }) => [text, headings.join('/')])).toEqual([
      ['before', ''],
      ['# A\nof a', 'A'],
      ['## A1\none\n### deep\nmore', 'A/A1'],
      ['## A2', 'A/A2'],
      ['# B', 'B'],
    ]);
    expect(textsOf(await cut(BOOK, { ...TITLES, hierarchy: 1 }))).toHaveLength(3);
    expect(textsOf(await cut(BOOK, { ...TITLES, hierarchy: 9 }))).toHaveLength(6);
  });

  it('at titles tell what stands below those above, and before all', async () => {
    const drafts = await cut(BOOK, { ...TITLES, tellsAbove: true, tellsRoot: true });
    expect(drafts.map(({ text, context = '' }) => [text.split('\n')[0], context])).toEqual([
      ['# A', 'before'],
      ['## A1', 'before\nof a'],
      ['## A2', 'before\nof a'],
      ['# B', 'before'],
    ]);
  });

  it('at titles join very small sections with the next, and cut long ones at sentences', async () => {
    const words = (count: number) => `${'word '.repeat(count)}end. `;
    const text = `# A\ntiny\n# B\n${words(40)}${words(40)}\n# C\nlast`;
    const group: Cut = { ...TITLES, method: 'group', hierarchy: 0, size: 60 };
    const drafts = await cut(text, group);
    expect(drafts.map(({ text: own, headings }) => [own.slice(0, 3), headings?.[0]])).toEqual([
      ['# A', 'A'],
      ['wor', 'A'],
      ['# C', 'C'],
    ]);
  });

  it('at titles read Chinese laws, and leave out what only looks like a title', async () => {
    const law = '第一章 总则\n第一条 甲\n第二条 乙\n';
    expect(textsOf(await cut(law, TITLES))).toEqual(['第一条 甲', '第二条 乙']);
    const numbers = { ...TITLES, levels: [['[0-9]+']] };
    expect(textsOf(await cut('1 One\na\n2....7\n0 x', numbers))).toEqual(['1 One\na\n2....7\n0 x']);
  });

  it('work on what the one before made, and add what they know', async () => {
    const pages = [
      { start: 0, end: 15, page: 1 },
      { start: 15, end: 40, page: 2 },
    ];
    const text = '# A\na b c\nd e f\n# B\ng h i j k';
    const drafts = await cut({ text, pages }, TITLES, { ...TOKENS, size: 3 });
    expect(drafts.map(({ text: own, headings, page }) => [own, headings?.join('/'), page])).toEqual([
      ['# A', 'A', 1],
      ['a b c', 'A', 1],
      ['d e f', 'A', 1],
      ['# B\ng', 'B', 2],
      ['h i j', 'B', 2],
      ['k', 'B', 2],
    ]);
  });

  it('tell where pages begin in the whole document, also behind a cut before', async () => {
    const pages = [
      { start: 0, end: 8, page: 1 },
      { start: 8, end: 30, page: 2 },
    ];
    const drafts = await cut({ text: '# A\na b\nc\n# B\nd', pages }, TITLES, { ...TOKENS, size: 20 });
    expect(drafts.map(({ text: own, pageStarts }) => [own, pageStarts])).toEqual([
      [
        '# A\na b\nc',
        [
          [1, 0],
          [2, 8],
        ],
      ],
      ['# B\nd', undefined],
    ]);
  });

  it('of questions and rows read workbooks, and headings', async () => {
    const book = '### Sheet1\n\n| Question | Answer |\n| --- | --- |\n| Who? | Ada |\n| When? | 1843 |';
    const pairs = await cut(book, { kind: 'questions' });
    expect(pairs.map(({ text, question }) => [text, question])).toEqual([
      ['| Who? | Ada |', 'Who?'],
      ['| When? | 1843 |', 'When?'],
    ]);
    const headed = await cut('# Pumps\n## Start\nTurn it on.\n## Stop\nTurn it off.', { kind: 'questions' });
    expect(headed.map(({ question }) => question)).toEqual([undefined, 'Pumps\nStart', 'Pumps\nStop']);
    const rows = await cut(book, { kind: 'rows' });
    expect(rows.map(({ text, context }) => [text, context])).toEqual([
      ['### Sheet1', undefined],
      ['| Who? | Ada |', '| Question | Answer |'],
      ['| When? | 1843 |', '| Question | Answer |'],
    ]);
  });

  it('are linear in hostile texts', async () => {
    const text = `${'#'.repeat(100_000)}\n${'|'.repeat(100_000)}\n${'1.'.repeat(100_000)}\n${'`'.repeat(100_000)}`;
    const all: readonly Cut[] = [
      { kind: 'questions' },
      { kind: 'rows' },
      TITLES,
      { ...TOKENS, size: 1_000, separators: Array.from({ length: 200 }, (_, at) => `mark ${at}`) },
    ];
    for (const one of all) expect((await cut(text, one)).length).toBeGreaterThan(0);
  });
});

describe('the built-in methods', () => {
  const chunk = async (method: 'naive' | 'tag' | 'qa', text: string, settings = {}) => [
    ...(await builtInChunker.chunk({ text }, { method, settings })),
  ];

  it('part at delimiters in backticks alone', async () => {
    const drafts = await chunk('naive', 'one!\ntwo---three', { delimiter: '\n!`---`' });
    expect(drafts.map(({ text }) => text)).toEqual(['one!\ntwo', 'three']);
  });

  it('read tags and questions of workbooks', async () => {
    const [tagged] = await chunk('tag', '### S\n\n| content | tags |\n| - | - |\n| a cat sleeps | animal, pet |');
    expect(tagged).toMatchObject({ text: '| a cat sleeps | animal, pet |', tags: ['animal', 'pet'] });
    expect(await chunk('qa', '### S\n\n| Who? | Ada |\n| - | - |\n| When? | 1843 |')).toMatchObject([
      { question: 'Who?' },
      { question: 'When?' },
    ]);
  });
});
