import { expect, it, vi } from 'vitest';
import { RagflowProjection } from '../../src/canvas/ragflow-events.js';
import { ERROR_CODES } from '../../src/errors.js';
import type { NodeDelta, RunEvent, RunFailed } from '../../src/graph/events.js';
import { NO_USAGE } from '../../src/graph/state.js';
import { EventFramer, mergeFrames, storedFrame } from '../../src/hosting/event-frame.js';
import { property, type Random } from '../support/random.js';

const context = { plan: undefined, messageId: 'm"\n', sessionId: 's', startedAt: 1_500 };
const projection = new RagflowProjection(context);

const started: RunEvent = {
  type: 'run-started',
  run: 'r',
  seq: 1,
  at: 1_500,
  input: { inputs: { a: 'grüße\r\n"\\ 世界 \u2028' } },
  resumed: false,
};
const failed: RunFailed = {
  type: 'run-failed',
  run: 'r',
  seq: 2,
  at: 2_000,
  error: { code: 'INTERNAL', message: 'secret' },
  elapsedMs: 500,
  input: {},
  usage: NO_USAGE,
};

it('writes an event as JSON, in one line, knows its size, and reads it back', () => {
  const frame = new EventFramer(projection).frame(started);
  expect(JSON.parse(frame.json)).toEqual(started);
  expect(frame.json).not.toMatch(/[\r\n]/);
  expect(frame.bytes).toBe(Buffer.byteLength(frame.json));
  const read = storedFrame({ seq: 1, event: 'run-started', json: frame.json }, projection);
  expect([read.source, read.ragflow]).toEqual([started, frame.ragflow]);
});

it('writes an event in RAGFlow’s format as JSON would, once', () => {
  const frame = new EventFramer(projection).frame(started);
  expect(JSON.parse(frame.ragflow ?? '')).toEqual(projection.project(started));
  expect(frame.ragflow).not.toMatch(/[\r\n]/);
  expect(frame.wire).toMatchObject({ message_id: 'm"\n', created_at: 1, task_id: 's', session_id: 's' });
});

it('has nothing for RAGFlow’s clients where they have no event', () => {
  const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
  const event: RunEvent = { type: 'node-usage', run: 'r', seq: 2, at: 1, node: 'A', token: 1, ...usage };
  expect(new EventFramer(projection).frame(event).ragflow).toBeUndefined();
});

it('hides the message of an internal error from clients', () => {
  const { ragflow = '', engine } = new EventFramer(projection).frame(failed);
  expect(ragflow + engine).not.toContain('secret');
  expect(JSON.parse(engine)).toMatchObject({ ...failed, error: { code: 'INTERNAL', message: expect.any(String) } });
  expect(JSON.parse(ragflow)).toMatchObject({ code: 500, data: false, error: 'INTERNAL' });
});

property('writes a piece of text as JSON would write its event', 500, (random) => {
  const own = new RagflowProjection({ ...context, messageId: textOf(random), sessionId: textOf(random) });
  const framer = new EventFramer(own);
  const speakers = [
    { node: textOf(random), token: 1 },
    { node: 'Message:A', token: 2 },
    { node: 'Message:A', within: 'Parallel:P/0', token: 3 },
    { node: 'Message:A', within: textOf(random), token: 4 },
  ];
  for (let seq = 1; seq <= 20; seq += 1) {
    const port = random.pick(['content', 'thinking']);
    const event = { ...delta(seq, textOf(random)), at: 1_500 + random.int(10_000), ...random.pick(speakers), port };
    const frame = framer.frame(event);
    expect(JSON.parse(frame.json)).toEqual(event);
    expect(frame.bytes).toBe(Buffer.byteLength(frame.json));
    expect(frame.ragflow).toBe(JSON.stringify(own.project(event)));
    expect([frame.seq, frame.event]).toEqual([seq, 'node-delta']);
  }
});

property('writes pieces that were merged as JSON would write their event', 200, (random) => {
  const framer = new EventFramer(projection);
  const texts = Array.from({ length: 2 + random.int(5) }, () => textOf(random));
  const [first, ...others] = texts.map((text, at) => framer.frame({ ...delta(at + 1, text), at: 1_500 + at }));
  const merged = others.reduce((older, newer) => mergeFrames(older, newer) ?? expect.unreachable(), first as Merged);
  const event = { ...delta(texts.length, texts.join('')), at: 1_499 + texts.length };
  expect(JSON.parse(merged.json)).toEqual(event);
  expect(merged.ragflow).toBe(JSON.stringify(projection.project(event)));
  expect([merged.fromSeq, merged.seq]).toEqual([1, texts.length]);
  expect(merged.bytes).toBeGreaterThanOrEqual(Buffer.byteLength(merged.json));
});

it('never merges what one node says in two rounds of a body', () => {
  const framer = new EventFramer(projection);
  const [one, two, more] = [0, 1, 1].map((round, at) =>
    framer.frame({ ...delta(at + 1, 'text'), within: `Parallel:P/${round}`, token: round + 1 }),
  );
  expect(mergeFrames(one as Merged, two as Merged)).toBeUndefined();
  expect(mergeFrames(two as Merged, more as Merged)?.seq).toBe(3);
});

property('gives each of several clients the text of the frame that it reads, whatever others read', 100, (random) => {
  const runs = ['one', 'two'].map((run) => {
    const own = new RagflowProjection({ ...context, messageId: run, sessionId: run });
    const framer = new EventFramer(own);
    const events = Array.from({ length: 12 }, (_, at) => ({
      ...delta(at + 1, textOf(random)),
      run,
      token: 1 + random.int(2),
    }));
    return events.map((event) => ({ own, event, frame: framer.frame(event) }));
  });
  for (let read = 0; read < 60; read += 1) {
    const frames = random.pick(runs);
    const at = random.int(frames.length);
    const { own, event, frame } = frames[at] as (typeof frames)[number];
    const next = frames[at + 1];
    const merged = next !== undefined && random.chance(0.3) ? mergeFrames(frame, next.frame) : undefined;
    const text = event.text + (merged === undefined ? '' : next?.event.text);
    expect((merged ?? frame).ragflow).toBe(JSON.stringify(own.project({ ...event, text })));
  }
});

it('writes a piece in RAGFlow’s format once for all clients, and again for one that comes late', () => {
  const own = new RagflowProjection(context);
  const writeText = vi.spyOn(own, 'writeText');
  const framer = new EventFramer(own);
  const [one, two] = [framer.frame(delta(1, 'a')), framer.frame(delta(2, 'b'))];
  const clients = [1, 2, 3];
  for (const frame of [one, two]) expect(new Set(clients.map(() => frame.ragflow)).size).toBe(1);
  expect(writeText.mock.calls.map(([, text]) => text)).toEqual(['a', 'b']);
  expect(one.ragflow).toBe(JSON.stringify(own.project(delta(1, 'a'))));
  expect(writeText).toHaveBeenCalledTimes(3);
});

it('leaves out an event of a log that does not fit its format, and reports the same failure for a live one', () => {
  const own = new RagflowProjection(context);
  const mistake = new TypeError('a mistake of the projection');
  for (const method of ['write', 'project'] as const) {
    vi.spyOn(own, method).mockImplementation(() => {
      throw mistake;
    });
  }
  const live = new EventFramer(own).frame(started);
  expect(() => live.ragflow).toThrow(mistake);
  expect(() => live.wire).toThrow(mistake);
  const stored = storedFrame({ seq: 1, event: live.event, json: live.json }, own);
  expect([stored.ragflow, stored.wire]).toEqual([undefined, undefined]);
});

it('reports what is no TypeError also for an event of a log', () => {
  const own = new RagflowProjection(context);
  vi.spyOn(own, 'write').mockImplementation(() => {
    throw new RangeError('nested too deep');
  });
  const stored = storedFrame({ seq: 1, event: started.type, json: JSON.stringify(started) }, own);
  expect(() => stored.ragflow).toThrow('nested too deep');
});

it.each(['constructor', '__proto__', 'toString', 'NO_SUCH_CODE', '', 7, null])(
  'hides the message of an error whose code is %j, which no run gave',
  (code) => {
    const json = JSON.stringify({ ...failed, error: { code, message: 'secret' } });
    const { engine, ragflow = '' } = storedFrame({ seq: 2, event: 'run-failed', json }, projection);
    const { summary } = ERROR_CODES.INTERNAL;
    expect(JSON.parse(engine).error).toEqual({ code, message: summary });
    expect(JSON.parse(ragflow)).toMatchObject({ code: 500, message: summary, error: code });
  },
);

type Merged = Parameters<typeof mergeFrames>[0];

function delta(seq: number, text: string): NodeDelta {
  return { type: 'node-delta', run: 'r', seq, at: 1_500, node: 'A', token: 1, port: 'content', text };
}

/** Everything that JSON writes in a way of its own, and everything that UTF-8 does: halves of pairs stand alone or meet. */
const CHARACTERS = [
  ...['a', 'Z', ' ', '/', '"', '\\', '\n', '\r', '\t', '\b', '\f', '\0', '\x1f', '\x7f', '\x80', '\x85', 'é', '\u07ff'],
  ...['\u0800', '世', '\u2028', '\u2029', '\ud7ff', '\ue000', '\ufeff', '\uffff', '😀', '\ud83d', '\ude00'],
];

function textOf(random: Random): string {
  const length = random.chance(0.1) ? 120 + random.int(20) : random.int(12);
  const alphabet = random.chance(0.5) ? CHARACTERS.slice(0, 4) : CHARACTERS;
  return Array.from({ length }, () => random.pick(alphabet)).join('');
}
