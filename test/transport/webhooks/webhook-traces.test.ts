import { expect, it } from 'vitest';
import { WebhookTraces } from '../../../src/transport/webhooks/webhook-traces.js';

const LARGE = { event: 'message', text: 'x'.repeat(3 * 1024 * 1024) };

function tracesOfEvents(calls: number, eventsOfEach: number) {
  const traces = new WebhookTraces(() => 1_000_000);
  const since = traces.poll('me', undefined, undefined).next_since_ts;
  const opened = Array.from({ length: calls }, () => traces.begin('me'));
  for (const call of opened) {
    for (let count = 0; count < eventsOfEach; count += 1) call.add(LARGE);
    call.end(true);
  }
  const first = traces.poll('me', since, undefined);
  return { traces, first, seen: traces.poll('me', since, first.webhook_id ?? '') };
}

it('keeps the beginning of a call that says too much, and its end', () => {
  const { seen } = tracesOfEvents(1, 10);
  expect(seen.events.map(({ event }) => event)).toEqual(['message', 'message', 'finished']);
  expect(seen.finished).toBe(true);
});

it('forgets the oldest calls when all of them say too much', () => {
  const { traces, first } = tracesOfEvents(20, 2);
  let kept = 0;
  for (let { webhook_id, next_since_ts } = first; webhook_id !== null; kept += 1) {
    ({ webhook_id, next_since_ts } = traces.poll('me', next_since_ts, undefined));
  }
  expect(kept).toBe(10);
});
