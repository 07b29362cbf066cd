import { describe, expect, it } from 'vitest';
import { MarkdownBlocks } from '../../web/parts/markdown-blocks.js';

const TEXT =
  '# Title\n\nSome *words*.\n\n- one\n- two\n\n  still two\n\n```js\nlet x;\n\nlet y;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nend';

const shapes = (blocks: ReturnType<MarkdownBlocks['read']>) =>
  blocks.filter(({ token }) => token?.type !== 'space').map(({ raw, token }) => [token?.type, raw.trim()]);

describe('MarkdownBlocks', () => {
  it('reads a text that comes piece by piece as it reads the whole', () => {
    const whole = shapes(new MarkdownBlocks().read(TEXT));
    expect(whole.map(([type]) => type)).toEqual(['heading', 'paragraph', 'list', 'code', 'table', 'paragraph']);
    for (const size of [1, 2, 7, 40]) {
      const growing = new MarkdownBlocks();
      for (let at = size; at < TEXT.length; at += size) growing.read(TEXT.slice(0, at));
      expect(shapes(growing.read(TEXT))).toEqual(whole);
    }
  });

  it('keeps blocks that are finished, and reads another text anew', () => {
    const blocks = new MarkdownBlocks();
    const before = blocks.read('one\n\ntwo\n\nthr');
    const after = blocks.read('one\n\ntwo\n\nthree');
    expect(after[0]).toBe(before[0]);
    expect(after[2]).toBe(before[2]);
    expect(after.at(-1)?.raw).toBe('three');
    expect(blocks.read('four').map(({ raw }) => raw)).toEqual(['four']);
  });

  it.each([
    ['quotations', '>'.repeat(100_000)],
    ['lists', Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth * 2)}- x`).join('\n')],
    ['lists on one line', '- '.repeat(50_000)],
  ])('shows %s that are too deep as they were written, and the paragraph behind them with its form', (_, deep) => {
    const blocks = new MarkdownBlocks().read(`${deep}\n\n*after*`);
    expect(blocks[0]).toEqual({ raw: `${deep}\n\n` });
    expect(blocks.at(-1)?.token?.type).toBe('paragraph');
  });

  it('loses nothing of a text, whatever its line ends are and however long it is', () => {
    for (const text of ['a\r\n\r\nb\r\n\r\ncd', `${'word '.repeat(60_000)}end`]) {
      const blocks = new MarkdownBlocks();
      for (const length of [1, 2, 3, 4, 5, 6, 8, 10, 11]) blocks.read(text.slice(0, length));
      const read = blocks.read(text).map(({ raw }) => raw);
      expect(read.join('')).toBe(text.replaceAll('\r', ''));
    }
  });

  it('takes many marks as text, since finding pairs takes the square of their number', () => {
    const [block] = new MarkdownBlocks().read('['.repeat(100_000));
    expect(block?.token).toMatchObject({ type: 'paragraph', tokens: [{ type: 'text' }] });
  });
});
