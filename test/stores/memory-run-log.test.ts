import { describe, expect, it } from 'vitest';
import { createMemoryRunLog } from '../../src/stores/memory-run-log.js';

const event = (seq: number, bytes: number) => [{ seq, event: 'message', json: 'x'.repeat(bytes) }];

describe('events in memory', () => {
  it('leave room for other runs when some never end', async () => {
    const log = createMemoryRunLog({ maxBytes: 800 });
    for (const run of ['a', 'b']) {
      await log.append('t', run, { events: event(1, 100) });
      expect(() => log.append('t', run, { events: event(2, 1) })).toThrow(
        expect.objectContaining({ code: 'RUN_LOG_FULL', message: expect.stringContaining(`run "${run}"`) }),
      );
    }
    await log.append('t', 'innocent', { events: event(1, 50) });
    expect(await log.read('t', 'innocent', 0, { maxEvents: 9, maxBytes: 999 })).toHaveLength(1);
  });
});
