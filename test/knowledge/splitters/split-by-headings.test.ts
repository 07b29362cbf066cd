import { describe, expect, it } from 'vitest';
import { knowledgeDocument } from '../../../src/knowledge/knowledge-document.js';
import { type SplitByHeadingsOptions, splitByHeadings } from '../../../src/knowledge/splitters/split-by-headings.js';

async function split(text: string, options: SplitByHeadingsOptions = {}): Promise<[text: string, headings: unknown][]> {
  const chunks = await splitByHeadings(options)([knowledgeDocument({ id: 'd', text })]);
  return chunks.map(({ text: chunk, metadata }) => [chunk, metadata.headings]);
}

describe('splitting Markdown by headings', () => {
  it('gives each section with the headings above it', async () => {
    expect(await split('Before.\n# One\nText.\n## Deep\nMore.\n# Two\nEnd.')).toEqual([
      ['Before.', []],
      ['# One\nText.', ['One']],
      ['## Deep\nMore.', ['One', 'Deep']],
      ['# Two\nEnd.', ['Two']],
    ]);
  });

  it('forgets deeper headings at the next one of a higher level, and of the same', async () => {
    const text = '# A\na\n### B\nb\n## C\nc\n## D\nd';
    expect((await split(text)).map(([, headings]) => headings)).toEqual([['A'], ['A', 'B'], ['A', 'C'], ['A', 'D']]);
  });

  it('cuts at some levels alone, and leaves headings out where that is wanted', async () => {
    expect(await split('# A\na\n## B\nb', { levels: [1], keepHeadings: false })).toEqual([['a\n## B\nb', ['A']]]);
  });

  it('makes no chunk of a heading that has nothing but a deeper one below it', async () => {
    expect(await split('# A\n\n## B\nb\n## Empty')).toEqual([
      ['## B\nb', ['A', 'B']],
      ['## Empty', ['A', 'Empty']],
    ]);
    expect(await split('## Empty', { keepHeadings: false })).toEqual([]);
  });

  it.each([
    ['fenced code', '# A\n```\n# no\n```\nb'],
    ['fenced code with tildes and more backticks inside', '# A\n~~~sh\n```\n# no\n~~~\nb'],
    ['a fence that a shorter one does not close', '# A\n````\n```\n# no\n````\nb'],
    ['a fence that is never closed', '# A\n```\n# no\nb'],
    ['indented code', '# A\n\n    # no\nb'],
    ['a number sign without a blank', '# A\n#no\nb'],
    ['seven number signs', '# A\n####### no\nb'],
  ])('sees no heading in %s', async (_what, text) => {
    expect(await split(text)).toEqual([[text, ['A']]]);
  });

  it.each([
    ['closing marks', '## Title ##\nx', ['Title']],
    ['a number sign in the title', '# C# and F#\nx', ['C# and F#']],
    ['three blanks before it', '   # Title\nx', ['Title']],
    ['line ends of Windows', '# Title\r\nx\r\n', ['Title']],
    ['a title underlined with equal signs', 'Title\n=====\nx', ['Title']],
    ['a title underlined with dashes', 'x\n\nTitle\n---\ny', ['Title']],
    ['a heading without a title', '#\nx', ['']],
  ])('reads %s', async (_what, text, headings) => {
    expect((await split(text)).at(-1)?.[1]).toEqual(headings);
  });

  it.each([
    ['a rule below a paragraph of two lines', 'one\ntwo\n---\nx'],
    ['a rule below a list', '- one\n---\nx'],
    ['a rule behind an empty line', 'one\n\n---\nx'],
  ])('takes %s for no title', async (_what, text) => {
    expect(await split(text)).toEqual([[text, []]]);
  });

  it('keeps indents and empty lines, so that a chunk is a part of the text', async () => {
    const text = '# A\n\n```py\ndef f():\n\n    return 1\n```\n\n## B\n  b';
    const chunks = await splitByHeadings()([knowledgeDocument({ id: 'd', text })]);
    for (const { text: chunk, metadata } of chunks) {
      const [start, end] = metadata.span as [number, number];
      expect(text.slice(start, end)).toBe(chunk);
    }
    expect(chunks[0]?.text).toContain('\n\n    return 1\n');
  });

  it('puts the headings of a level under a name', async () => {
    const chunks = await splitByHeadings({ names: { 1: 'chapter', 2: 'section' } })([
      knowledgeDocument({ text: '# A\na\n## B\nb\n# C\nc', metadata: { chapter: 'old', source: 's' } }),
    ]);
    expect(chunks.map(({ metadata: { chapter, section, source } }) => [chapter, section, source])).toEqual([
      ['A', undefined, 's'],
      ['A', 'B', 's'],
      ['C', undefined, 's'],
    ]);
  });

  it('puts the headings of the document first when a chunk is split again', async () => {
    const chapters = await splitByHeadings({ levels: [1] })([knowledgeDocument({ id: 'd', text: '# A\na\n## B\nb' })]);
    const sections = await splitByHeadings()(chapters);
    expect(sections.map(({ metadata }) => metadata.headings)).toEqual([['A'], ['A', 'B']]);
  });

  it('gives a text without headings whole', async () => {
    expect(await split('just text')).toEqual([['just text', []]]);
  });

  it.each([{ levels: [0] }, { levels: [1.5] }, { names: { 7: 'x' } }, { format: 'pdf' as never }])(
    'refuses %o',
    (options) => {
      expect(() => splitByHeadings(options)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }));
    },
  );

  it('takes linear time for very many lines that could be titles', async () => {
    const text = 'Title\n\n'.repeat(100_000);
    expect(await split(text)).toHaveLength(1);
  });
});

describe('splitting HTML by headings', () => {
  it('makes Markdown of it first, and names no places', async () => {
    const text = '<h1>One</h1><p>First <b>text</b>.</p><h2>Deep</h2><ul><li>a</li></ul>';
    const chunks = await splitByHeadings({ format: 'html' })([knowledgeDocument({ id: 'd', text })]);
    expect(chunks.map(({ text: chunk, metadata }) => [chunk, metadata.headings, metadata.span])).toEqual([
      ['# One\n\nFirst text.', ['One'], undefined],
      ['## Deep\n\n- a', ['One', 'Deep'], undefined],
    ]);
  });
});
