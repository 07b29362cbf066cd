import { expect, it } from 'vitest';
import { pieceEvent, type WireEvent, type WireHeader } from '../../src/canvas/ragflow-events.js';
import { mergePieces } from '../../src/hosting/coalesce-frames.js';
import { wireOf } from '../../src/hosting/event-frame.js';
import { EventFramer } from '../../src/hosting/event-framer.js';
import { property, type Random } from '../support/random.js';

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

property('writes a piece of text as JSON would write its event', 500, (random) => {
  const framer = new EventFramer();
  const headers = [headerOf(random), headerOf(random)];
  const speakers = [
    { node: textOf(random) },
    { node: 'Message:A' },
    { node: 'Message:A', within: 'Parallel:P/0' },
    { node: 'Message:A', within: textOf(random) },
  ];
  for (let seq = 1; seq <= 20; seq += 1) {
    const header = random.pick(headers);
    const speaker = random.pick(speakers);
    const text = textOf(random);
    const frame = framer.piece(seq, header, speaker, text);
    const event = pieceEvent(header, speaker, text);
    expect(frame.json).toBe(JSON.stringify(event));
    expect(frame.bytes).toBe(Buffer.byteLength(frame.json));
    expect(frame.wire).toEqual(event);
    expect([frame.seq, frame.event]).toEqual([seq, 'message']);
  }
});

property('writes pieces that were merged as JSON would write their event', 200, (random) => {
  const framer = new EventFramer();
  const header = headerOf(random);
  const texts = Array.from({ length: 2 + random.int(5) }, () => textOf(random));
  const [first, ...others] = texts.map((text, at) => framer.piece(at + 1, header, { node: 'A' }, text));
  const merged = others.reduce((older, newer) => mergePieces(older, newer) ?? expect.unreachable(), first as Merged);
  expect(merged.json).toBe(JSON.stringify(pieceEvent(header, { node: 'A' }, texts.join(''))));
  expect(merged.wire).toEqual(pieceEvent(header, { node: 'A' }, texts.join('')));
  expect([merged.fromSeq, merged.seq]).toEqual([1, texts.length]);
});

it('never merges what one node says in two rounds of a body', () => {
  const framer = new EventFramer();
  const header = { message_id: 'm', created_at: 1, task_id: 't', session_id: 's' };
  const [one, two, more] = [0, 1, 1].map((round, at) =>
    framer.piece(at + 1, header, { node: 'A', within: `Parallel:P/${round}` }, 'text'),
  );
  expect(mergePieces(one as Merged, two as Merged)).toBeUndefined();
  expect(mergePieces(two as Merged, more as Merged)?.seq).toBe(3);
});

type Merged = Parameters<typeof mergePieces>[0];

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

function headerOf(random: Random): WireHeader {
  return {
    message_id: textOf(random),
    created_at: random.int(2 ** 31),
    task_id: textOf(random),
    session_id: textOf(random),
  };
}
