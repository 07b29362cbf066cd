import { describe, expect, it } from 'vitest';
import { createTurns } from '../../src/ingestion/fair-turns.js';
import type { WaitingDataset } from '../../src/records/knowledge-store.js';

const waits = (tenant: string, datasetId: string, active = 0): WaitingDataset => ({
  tenant,
  datasetId,
  waiting: 9,
  active,
});

describe('turns', () => {
  it('go to the tenant with the fewest documents at work, then to its dataset with the fewest', () => {
    const turns = createTurns();
    const waiting = [waits('a', '1'), waits('a', '2'), waits('b', '3')];
    const chosen = Array.from({ length: 4 }, () => turns.choose(waiting)?.datasetId);
    expect(chosen).toEqual(['1', '3', '2', '3']);
  });

  it('go round when nothing is at work', () => {
    const turns = createTurns();
    const waiting = [waits('a', '1'), waits('a', '2'), waits('b', '3')];
    const chosen = Array.from({ length: 6 }, () => {
      const place = turns.choose(waiting);
      if (place !== undefined) turns.end(place);
      return place?.datasetId;
    });
    expect(chosen).toEqual(['1', '3', '2', '3', '1', '3']);
  });

  it('count what other processes work on', () => {
    const waiting = [waits('a', '1', 2), waits('b', '2', 1)];
    expect(createTurns().choose(waiting)).toEqual({ tenant: 'b', datasetId: '2' });
  });

  it('go to none when nothing waits', () => {
    expect(createTurns().choose([])).toBeUndefined();
  });

  it('are chosen one behind the other, also behind one that failed', async () => {
    const turns = createTurns();
    const order: number[] = [];
    const first = turns.inTurn(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(1);
      throw new Error('lost');
    });
    const second = turns.inTurn(async () => order.push(2));
    await expect(first).rejects.toThrow('lost');
    await second;
    expect(order).toEqual([1, 2]);
  });
});
