import { expect, it } from 'vitest';
import type { WireEvent } from '../../src/canvas/wire-events.js';
import { EventFramer, wireOf } from '../../src/transport/runs/event-frame.js';

const started: WireEvent = {
  event: 'workflow_started',
  message_id: 'm"\n',
  created_at: 1,
  task_id: 's',
  session_id: 's',
  data: { inputs: {} },
};

it.each<[string, WireEvent]>([
  ['the first', started],
  ['another of the same run', { ...started, event: 'message', data: { content: 'grüße\r\n"\\ 世界 \u2028' } }],
  ['one with another time', { ...started, created_at: 2 }],
  ['one of another session', { ...started, session_id: 't', task_id: 't' }],
  ['one of another turn', { ...started, message_id: 'n' }],
])('writes %s as JSON would, in one line, and knows its size', (_, wire) => {
  const framer = new EventFramer();
  framer.frame(1, started);
  const frame = framer.frame(2, wire);
  expect(JSON.parse(frame.json)).toEqual(wire);
  expect(frame.json).not.toMatch(/[\r\n]/);
  expect(frame.bytes).toBe(Buffer.byteLength(frame.json));
  expect(wireOf({ seq: 2, event: frame.event, json: frame.json })).toEqual(wire);
});

it('hides the message of an internal error', () => {
  const data = { code: 'INTERNAL', message: 'secret' };
  const { json } = new EventFramer().frame(1, { ...started, event: 'error', data });
  expect(json).not.toContain('secret');
  expect(JSON.parse(json)).toMatchObject({ code: 500, data: false, error: 'INTERNAL' });
});
