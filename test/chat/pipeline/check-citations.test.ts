import { describe, expect, it } from 'vitest';
import type { Evidence } from '../../../src/chat/pipeline/chat-events.js';
import { CitationCheck } from '../../../src/chat/pipeline/check-citations.js';
import { property } from '../../support/random.js';

const evidence = (n: number, text: string): Evidence => ({ n, id: `${n}`, type: 'kb', source: 'a.md', text });
const EVIDENCE = [
  evidence(1, 'A lease lasts 10 seconds and is renewed by its owner.'),
  evidence(2, '检查点是运行状态的快照，可以恢复。'),
];

function check(...pieces: readonly string[]) {
  const checked = new CitationCheck(EVIDENCE);
  const shown = [...pieces.map((piece) => checked.push(piece)), checked.end()];
  return { shown, ...checked.result };
}

describe('citations', () => {
  it.each([
    ['A lease lasts 10 seconds [1].', [{ n: 1, at: 25, supported: true }]],
    ['A lease lasts 30 seconds [1].', [{ n: 1, at: 25, supported: false }]],
    ['Butterflies migrate southward [1].', [{ n: 1, at: 30, supported: false }]],
    ['检查点是快照[2]。', [{ n: 2, at: 6, supported: true }]],
    [
      'Wrong before. The owner renewed its lease [1][1].',
      [
        { n: 1, at: 42, supported: true },
        { n: 1, at: 45, supported: true },
      ],
    ],
    ['[1] Alone.', [{ n: 1, at: 0, supported: false }]],
    ['No marks: [a], [1234], a[0x1], [ 1 ].', []],
  ])('of "%s"', (text, citations) => {
    expect(check(text)).toMatchObject({ text, citations, removed: 0 });
  });

  it('without evidence are removed and counted', () => {
    expect(check('One [9] and [1] and [3].')).toMatchObject({
      text: 'One  and [1] and .',
      removed: 2,
      citations: [{ n: 1, at: 9 }],
    });
  });

  it('may come in pieces, of which no more than a begun mark is held back', () => {
    expect(check('as [', '1', '] and [', '9', '].').shown).toEqual(['as ', '', '[1] and ', '', '.', '']);
    expect(check('open [1').shown).toEqual(['open ', '[1']);
  });

  it('name the page that fits the statement best', () => {
    const text = 'Leases last 10 seconds. Owners renew them. 检查点是快照。';
    const pages: Evidence = {
      ...evidence(1, text),
      page: 7,
      pages: [7, 8, 9],
      page_starts: [
        [7, 0],
        [8, 24],
        [9, 43],
      ],
    };
    const checked = new CitationCheck([pages, { ...evidence(2, 'One page alone.'), page: 3 }, evidence(4, 'No page.')]);
    checked.push(
      'Owners renew leases [1]. 检查点是快照[1]。Leases last 10 seconds [1]. Butterflies [1]. One page alone [2]. No page [4].',
    );
    checked.end();
    expect(checked.result.citations.map(({ page }) => page)).toEqual([8, 9, 7, 7, 3, undefined]);
  });

  property('are the same however an answer is cut into pieces', 200, (random) => {
    const parts = ['[1]', '[2]', '[9]', '[', ']', 'lease ', '10', '。', 'A'];
    const text = Array.from({ length: random.int(30) }, () => random.pick(parts)).join('');
    const pieces: string[] = [];
    for (let at = 0; at < text.length; ) {
      const length = 1 + random.int(5);
      pieces.push(text.slice(at, at + length));
      at += length;
    }
    const { shown, ...cut } = check(...pieces);
    const { shown: _, ...whole } = check(text);
    expect(cut).toEqual(whole);
    expect(shown.join('')).toBe(whole.text);
  });
});
