import { firstValueFrom, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { FoundPassage } from '../../../src/knowledge/search/after/post-processor.js';
import { windowOf } from '../../../src/knowledge/search/after/window.js';

const DOCUMENT = 'alpha beta gamma delta epsilon zeta eta theta';
/** Passages of 16 units that overlap by 4. */
const PASSAGES = [0, 12, 24, 36].map((start, index): FoundPassage => {
  const end = Math.min(start + 16, DOCUMENT.length);
  return { id: `p${index}`, documentId: 'd', text: DOCUMENT.slice(start, end), similarity: 0.5, index, start, end };
});
const load = async (_: string, first: number, last: number) => PASSAGES.slice(first, last + 1);

const widen = (hits: readonly FoundPassage[], all = load, size?: number) =>
  firstValueFrom(windowOf({ load: all, ...(size !== undefined && { size }) }).process(of(hits)));
const passage = (at: number): FoundPassage => PASSAGES[at] as FoundPassage;

describe('a window', () => {
  it('is the text of the document from the first to the last neighbour, nothing twice', async () => {
    const [hit] = await widen([passage(1)]);
    expect(hit).toMatchObject({ id: 'p1', ids: ['p0', 'p1', 'p2'], start: 0, end: 40, text: DOCUMENT.slice(0, 40) });
  });

  it('joins by letters where places are not known', async () => {
    const bare = PASSAGES.map(({ start: _, end: __, ...rest }) => rest);
    const [hit] = await widen([bare[1] as FoundPassage], async (_, first, last) => bare.slice(first, last + 1));
    expect(hit?.text).toBe(DOCUMENT.slice(0, 40));
  });

  it('leaves out hits that are in an earlier one, and doubles no neighbour', async () => {
    const hits = await widen([passage(1), passage(2), passage(3)]);
    expect(hits.map(({ id, ids }) => ids ?? [id])).toEqual([['p0', 'p1', 'p2'], ['p3']]);
  });

  it('leaves hits alone that have no place, and neighbours that are not there', async () => {
    const { index: _, ...free } = passage(0);
    expect(await widen([free])).toEqual([free]);
    expect(await widen([passage(2)], async () => [])).toEqual([passage(2)]);
    expect(await widen([passage(2)], load, 0)).toEqual([passage(2)]);
  });

  it('does not reach over a gap', async () => {
    const [hit] = await widen([passage(2)], async () => [passage(0), passage(2), passage(3)], 2);
    expect(hit?.ids).toEqual(['p2', 'p3']);
  });
});
