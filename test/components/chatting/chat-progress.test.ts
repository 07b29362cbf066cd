import { describe, expect, it } from 'vitest';
import { toolResult } from '../../../src/adapters/tool-event.js';
import { openProgress } from '../../../src/components/chatting/chat-progress.js';
import type { NodeEvent } from '../../../src/graph/node-events.js';
import type { Json } from '../../../src/json.js';

/** Opens the progress of a chat at a time, and reads what it stores as the next process would. */
function open(stored: Json | undefined, time: number, isTimed = false) {
  const events: NodeEvent[] = [];
  const progress = openProgress(stored, { now: () => time }, isTimed, (event) => events.push(event));
  const last = (): Json | undefined => {
    const event = events.at(-1);
    return event?.type === 'progress' ? (JSON.parse(JSON.stringify(event.nodeState)) as Json) : undefined;
  };
  return { progress, events, last };
}

const SUNNY = toolResult('sunny', { city: 'Oslo' });

describe('what a chat stores while it is at work', () => {
  it('is when it began, where a deadline counts, and nothing else', () => {
    expect(open(undefined, 1_000).events).toEqual([]);
    const first = open(undefined, 1_000, true);
    expect(first.progress.spentMs).toBe(0);
    const second = open(first.last(), 4_500, true);
    expect([second.progress.spentMs, second.events]).toEqual([3_500, []]);
  });

  it('keeps its beginning when more is stored, and takes no time back from a clock that was set back', () => {
    const first = open(undefined, 1_000, true);
    first.progress.keep('weather', { city: 'Oslo' }, SUNNY);
    expect(open(first.last(), 2_000, true).progress.spentMs).toBe(1_000);
    expect(open(first.last(), 10, true).progress.spentMs).toBe(0);
  });

  it('is what each tool gave for its arguments', () => {
    const first = open(undefined, 0);
    first.progress.keep('weather', { city: 'Oslo' }, SUNNY);
    first.progress.keep('calculator', { expression: '1+1' }, toolResult('2', {}));
    const { progress } = open(first.last(), 0);
    expect(progress.resultOf('weather', { city: 'Oslo' })).toEqual(SUNNY);
    expect(progress.resultOf('calculator', { expression: '1+1' })?.text).toBe('2');
    expect(progress.resultOf('weather', { city: 'Rome' })).toBeUndefined();
  });

  it('has a bound: a result that is too large is asked for again, and others stay', () => {
    const first = open(undefined, 0);
    first.progress.keep('weather', { city: 'Oslo' }, SUNNY);
    first.progress.keep('large', {}, toolResult('x'.repeat(300_000), {}));
    const { progress } = open(first.last(), 0);
    expect([progress.resultOf('large', {}), progress.resultOf('weather', { city: 'Oslo' })]).toEqual([
      undefined,
      SUNNY,
    ]);
  });

  it.each<[Json]>([[null], ['x'], [{ results: 1 }], [{ results: { '["weather",{}]': 7 } }], [{ begunAt: 'x' }]])(
    'that is of another form counts as nothing: %j',
    (stored) => {
      const { progress } = open(stored, 5_000);
      expect([progress.spentMs, progress.resultOf('weather', {})]).toEqual([0, undefined]);
    },
  );
});
