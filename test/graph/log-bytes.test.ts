/** What a log costs: a bounded number of bytes a step to write. */
import { describe, expect, it } from 'vitest';
import { createNode } from '../../marble-tests/support/activation.js';
import { iteration } from '../../src/components/iteration.js';
import { parallel } from '../../src/components/parallel.js';
import type { RunEvent } from '../../src/graph/events.js';
import { link } from '../../src/graph/link.js';
import { LogWriter } from '../../src/graph/log.js';
import { settled } from '../../src/graph/node-events.js';
import type { Plan } from '../../src/graph/plan.js';
import { execute } from '../../src/graph/run.js';
import type { Checkpoint } from '../../src/graph/state.js';
import type { JsonObject } from '../../src/json.js';
import { MemoryLog } from './support/memory-log.js';
import { planOfSpecs, readValue, spec } from './support/specs.js';
import { written } from './support/watch.js';

const DURABILITIES = ['sync', 'async'] as const;

/** Runs a plan to its end; gives the bytes that its log has written: of all, of its snapshots, and of the last state. */
async function measure(plan: Plan, durability: (typeof DURABILITIES)[number]) {
  const log = new MemoryLog();
  const { status, state } = await execute(plan, { input: null }, { run: 'r', log: log.open(), durability });
  expect(status).toBe('succeeded');
  const final = written(plan, state);
  expect(log.rebuild(plan)?.state).toEqual(final.state);
  const snapshots = log.snapshots.map((snapshot) => JSON.stringify(snapshot).length);
  const [first = 0] = snapshots;
  const events = log.bytesWritten - snapshots.reduce((sum, bytes) => sum + bytes, 0);
  return { events, snapshots, first, final: JSON.stringify(final).length };
}

describe.each(DURABILITIES)('a log with durability %s', (durability) => {
  it('takes no second snapshot of 1 MB for 1,000 small settlements', async () => {
    const { snapshots } = await measure(chain(1_000, 10), durability);
    expect(snapshots).toHaveLength(1);
  });

  it.each([
    { what: 'a chain of nodes', planOf: (steps: number) => chain(steps, 500) },
    { what: 'a loop that leaves the state as large as it was', planOf: (steps: number) => circle(steps, 500) },
    { what: 'an Iteration', planOf: (steps: number) => container('Iteration', steps, {}) },
    { what: 'a Parallel', planOf: (steps: number) => container('Parallel', steps, { max_concurrency: 4 }) },
  ])('writes as many bytes a step for $what, however many there are', async ({ planOf }) => {
    const few = await measure(planOf(2_000), durability);
    const many = await measure(planOf(8_000), durability);
    // Numbers have a digit more among the many.
    expect(many.events / few.events).toBeLessThanOrEqual(4 * 1.05);
    // A snapshot is taken when the events since the last one outgrow that, and holds no more than those and it.
    for (const { events, snapshots, first } of [few, many]) {
      const total = snapshots.reduce((sum, bytes) => sum + bytes, 0);
      expect(total).toBeLessThanOrEqual(2 * first + 3 * events);
    }
  });
});

describe('a snapshot is due', () => {
  const KIB = 1024;
  const header = { run: 'r', at: 0, node: 'n', token: 1 };
  const settledWith = (text: string): RunEvent => ({
    ...{ ...header, type: 'node-settled', seq: 1 },
    ...{ outputs: { text }, elapsedMs: 0 },
  });
  const piece: RunEvent = { ...header, type: 'node-delta', seq: 1, port: 'content', text: 'x' };

  /** Appends an event again and again, one in each go; gives after how many of them there were snapshots. */
  async function snapshotsOf(
    event: RunEvent,
    count: number,
    {
      bytes,
      eventBytes,
      minBytes,
      state = 'x',
    }: { bytes?: number[]; eventBytes?: number; minBytes?: number; state?: string },
  ): Promise<readonly number[]> {
    let appended = 0;
    const taken: number[] = [];
    const writer = new LogWriter({
      durability: 'sync',
      minBytes,
      checkpoint: () => ({ state: { text: state } }) as unknown as Checkpoint,
      whenBroken: (error) => expect.unreachable(String(error)),
      log: {
        append: () => eventBytes,
        snapshot: () => {
          taken.push(appended);
          return bytes?.[Math.min(taken.length, bytes.length) - 1];
        },
        flush: async () => {},
      },
    });
    writer.begin();
    for (; appended < count; ) {
      appended += 1;
      writer.append(event);
      await new Promise<void>((resolve) => writer.afterCommit(resolve));
    }
    return taken;
  }

  it('by the bytes that the log gives, when the events outgrow the last one', async () => {
    const event = settledWith('');
    // 40 events of 10 KiB are more than a snapshot of 390 KiB, and 50 more than one of 490 KiB.
    const given = { bytes: [390 * KIB, 490 * KIB], eventBytes: 10 * KIB };
    expect(await snapshotsOf(event, 100, given)).toEqual([0, 40, 90]);
  });

  it('after 96 KiB of events at the least', async () => {
    expect(await snapshotsOf(settledWith(''), 25, { bytes: [1], eventBytes: 10 * KIB })).toEqual([0, 10, 20]);
  });

  it('by the JSON of state and events when the log gives no bytes', async () => {
    const event = settledWith('x'.repeat(10 * KIB));
    // The first one is measured when the events are as many as the least.
    expect(await snapshotsOf(event, 50, { state: 'x'.repeat(200 * KIB) })).toEqual([0, 20, 40]);
    expect(await snapshotsOf(event, 25, {})).toEqual([0, 10, 20]);
  });

  it('after many events for observers too, which count for something where the log gives no bytes', async () => {
    const pieces = (96 * KIB) / 256;
    expect(await snapshotsOf(piece, pieces, {})).toEqual([0]);
    expect(await snapshotsOf(piece, pieces + 1, {})).toEqual([0, pieces + 1]);
  });

  it('earlier where less is required, and not before the events outgrow the last one', async () => {
    expect(await snapshotsOf(settledWith(''), 10, { minBytes: 4, eventBytes: 1, bytes: [1, 1] })).toEqual([0, 5, 10]);
    expect(await snapshotsOf(settledWith(''), 10, { minBytes: 4, eventBytes: 1, bytes: [7, 1] })).toEqual([0, 8]);
  });
});

const STATIC = 'x'.repeat(1_000_000);

function chain(steps: number, bytes: number): Plan {
  const value = 'y'.repeat(bytes);
  const specs = Array.from({ length: steps }, (_, at) =>
    spec(`n${at}`, { downstream: at + 1 < steps ? [`n${at + 1}`] : [], activate: () => ({ value }) }),
  );
  return link(specs, { variables: { 'env.static': STATIC } });
}

function circle(steps: number, bytes: number): Plan {
  const value = 'y'.repeat(bytes);
  const activate = (at: Parameters<typeof readValue>[0]) => {
    const round = ((readValue(at, 'n@round') as number | null) ?? 0) + 1;
    return settled({ round, value }, { next: round < steps ? ['n'] : [] });
  };
  return link([spec('n', { downstream: ['n'], join: 'any', isEntry: true, activate })], {
    variables: { 'env.static': STATIC },
  });
}

function container(type: 'Iteration' | 'Parallel', items: number, params: JsonObject): Plan {
  const list = Array.from({ length: items }, (_, at) => at);
  const given = { items_ref: 'begin@list', outputs: { all: { ref: 'x@value' } }, ...params };
  const activate = createNode<never>((type === 'Iteration' ? iteration : parallel) as never, given, { body: ['x'] });
  return planOfSpecs({
    begin: { downstream: ['each'], activate: () => ({ list }) },
    each: { isContainer: true, activate },
    x: { parent: 'each', activate: (at) => ({ value: `item ${readValue(at, 'item')}` }) },
  });
}
