/** A node that waits for one beside it, in processes that are lost at any write. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Activation } from '../../src/graph/node.js';
import { settled } from '../../src/graph/node-events.js';
import type { Start } from '../../src/graph/run-options.js';
import { property } from '../support/random.js';
import { MemoryLog } from './support/memory-log.js';
import { SlowNodes } from './support/slow-nodes.js';
import { draw, readValue } from './support/specs.js';
import { watch } from './support/watch.js';

property('waits for it in every process, and reads what it gave', 200, async (random) => {
  const slow = new SlowNodes();
  const activate = slow.node(() => [settled({ value: 'given' })]);
  const reads = slow.node((at: Activation) => [settled({ read: readValue(at, 'a@value') })]);
  const plan = draw('s -> a x y; x -> z', { a: { activate }, x: { activate: reads, needs: ['a'] }, y: { activate } });
  const log = new MemoryLog();
  let start: Start = { input: null };
  for (let processes = 0; processes < 100; processes += 1) {
    const writer = random.chance(0.8) ? log.open(random.int(6)) : log.open();
    const options = {
      log: writer,
      durability: 'sync',
      seq: log.seq,
      historyBytes: random.int(200),
      concurrency: 1 + random.int(4),
    };
    const watched = watch(plan, start, options as Parameters<typeof watch>[2]);
    for (let turns = 0; !watched.isOver && !writer.isDead; turns += 1) {
      if (turns === 10_000) throw new Error('The run is stuck.');
      if (!slow.step(random)) await setImmediate();
    }
    writer.kill();
    watched.unsubscribe();
    const checkpoint = log.rebuild(plan);
    if (watched.isOver) {
      expect(watched.outcome?.status).toBe('succeeded');
      const given = log.history.flatMap((event) => (event.type === 'node-settled' ? [event.outputs] : []));
      expect(given.filter((outputs) => 'read' in outputs)).toEqual([{ read: 'given' }]);
      expect(given).toHaveLength(5);
      return;
    }
    if (checkpoint !== undefined) start = { checkpoint, recovery: { starts: new Map() } };
  }
  throw new Error('The run never ends.');
});
