import { describe, expect, it } from 'vitest';
import type { NodePicture, RunPicture } from '../../../src/canvas/picture/picture.js';
import { edgeKey, MAX_ACTIVATIONS, MAX_TEXT } from '../../../src/canvas/picture/picture.js';
import { emptyPicture, PictureFold, stoppingPicture } from '../../../src/canvas/picture/picture-fold.js';
import type { RunEvent, Unstamped } from '../../../src/graph/events.js';
import { NO_USAGE } from '../../../src/graph/state.js';
import type { JsonObject } from '../../../src/json.js';
import { generatedEvents } from './generated-events.js';

const NODES = [
  { id: 'begin', type: 'Begin', name: 'Begin', downstream: ['LLM:A'], speaks: false },
  { id: 'LLM:A', type: 'LLM', name: 'Write', downstream: ['Message:M', 'Message:N'], speaks: false },
  { id: 'Message:M', type: 'Message', name: 'Reply', downstream: [], speaks: true },
  { id: 'Message:N', type: 'Message', name: 'Other', downstream: [], speaks: true },
];

const END = { elapsedMs: 50, input: {}, usage: NO_USAGE } as const;

/** Events with numbers, ten milliseconds apart. */
function stamped(events: readonly Unstamped[]): RunEvent[] {
  return events.map((event, at) => ({ run: 'r', seq: at + 1, at: 100 + 10 * at, ...event }) as RunEvent);
}

const begin: Unstamped = { type: 'run-started', input: { query: ' how? ' }, resumed: false };
const started = (node: string, token: number, more: object = {}): Unstamped => ({
  type: 'node-started',
  node,
  token,
  attempt: 1,
  ...more,
});
const settled = (node: string, token: number, more: object = {}): Unstamped => ({
  type: 'node-settled',
  node,
  token,
  outputs: {},
  elapsedMs: 10,
  ...more,
});
const text = (node: string, token: number, piece: string, port = 'content'): Unstamped => ({
  type: 'node-delta',
  node,
  token,
  port,
  text: piece,
});
const retry = (node: string, token: number): Unstamped => ({
  type: 'node-failed',
  node,
  token,
  error: { code: 'NODE_FAILED', message: 'no' },
  outputs: {},
  elapsedMs: 10,
  // biome-ignore lint/suspicious/noThenProperty: it is no promise
  then: 'retry',
});
const notice = (node: string, token: number, name: string, data: JsonObject): Unstamped => ({
  type: 'node-notice',
  node,
  token,
  name,
  data,
});

function pictureOf(events: readonly Unstamped[], nodes = NODES): RunPicture {
  const fold = new PictureFold({ nodes });
  for (const event of stamped(events)) fold.add(event);
  return fold.picture;
}

const nodeOf = (picture: RunPicture, id: string): NodePicture => picture.nodes.get(id) as NodePicture;
const statuses = (picture: RunPicture) => [...picture.nodes.values()].map(({ status }) => status);

describe('the picture of a run', () => {
  it('shows the nodes of the document before the first event', () => {
    const picture = emptyPicture({ nodes: NODES });
    expect(picture).toMatchObject({ status: 'running', lastSeq: 0, questions: [], answer: { text: '', parts: [] } });
    expect([...picture.nodes.keys()]).toEqual(NODES.map(({ id }) => id));
    expect(statuses(picture)).toEqual(['idle', 'idle', 'idle', 'idle']);
    expect(nodeOf(picture, 'LLM:A')).toMatchObject({ type: 'LLM', name: 'Write', activations: [] });
  });

  it('shows what is queued, at work and done, and the edges that were taken', () => {
    const events = [begin, started('begin', 1), settled('begin', 1), started('LLM:A', 2)];
    const before = pictureOf(events.slice(0, 3));
    expect(statuses(before)).toEqual(['done', 'queued', 'idle', 'idle']);
    const picture = pictureOf([...events, settled('LLM:A', 2, { next: ['message_n'] })]);
    expect(statuses(picture)).toEqual(['done', 'done', 'idle', 'queued']);
    expect([...picture.edges.keys()]).toEqual([edgeKey('begin', 'LLM:A'), edgeKey('LLM:A', 'Message:N')]);
    expect(picture.edges.get(edgeKey('begin', 'LLM:A'))).toMatchObject({ count: 1, lastSeq: 3 });
    expect(nodeOf(picture, 'LLM:A').activations).toMatchObject([{ next: ['message_n'], startSeq: 4, endSeq: 5 }]);
    expect(picture).toMatchObject({ run: 'r', query: 'how?', startedAtMs: 100, lastAtMs: 140 });
  });

  it('does not queue a node that reads the text of another one while it comes', () => {
    const picture = pictureOf([begin, started('LLM:A', 1), started('Message:M', 2), settled('LLM:A', 1)]);
    expect(statuses(picture)).toEqual(['idle', 'done', 'running', 'queued']);
  });

  it('keeps the object of a node, an edge and a part that did not change', () => {
    const fold = new PictureFold({ nodes: NODES });
    const events = stamped([
      begin,
      started('begin', 1),
      settled('begin', 1),
      started('Message:M', 2),
      text('Message:M', 2, 'a'),
      notice('Message:M', 2, 'message-ended', {}),
      settled('Message:M', 2),
      started('Message:N', 3),
      text('Message:N', 3, 'b'),
    ]);
    for (const event of events.slice(0, 8)) fold.add(event);
    const before = fold.picture;
    expect(fold.picture).toBe(before);
    expect(fold.add(events[3] as RunEvent)).toBe(false);
    expect(fold.picture).toBe(before);
    fold.add(events[8] as RunEvent);
    const after = fold.picture;
    for (const id of ['begin', 'LLM:A', 'Message:M']) expect(nodeOf(after, id)).toBe(nodeOf(before, id));
    expect(nodeOf(after, 'Message:N')).not.toBe(nodeOf(before, 'Message:N'));
    expect(after.edges).toBe(before.edges);
    expect(after.answer.parts[0]).toBe(before.answer.parts[0]);
    expect(before.answer.text).toBe('a');
  });

  it('says which try of how many is at work, and why the one before failed', () => {
    const events = [begin, started('LLM:A', 1), { ...retry('LLM:A', 1), attempts: 3 } as Unstamped];
    const paused = pictureOf(events);
    expect(nodeOf(paused, 'LLM:A')).toMatchObject({ status: 'retrying', attempt: 2, attempts: 3 });
    const picture = pictureOf([...events, started('LLM:A', 1, { attempt: 2 })]);
    expect(nodeOf(picture, 'LLM:A')).toMatchObject({
      status: 'running',
      attempt: 2,
      attempts: 3,
      activations: [
        { attempt: 1, status: 'retried', error: { code: 'NODE_FAILED', message: 'no' } },
        { attempt: 2, status: 'open' },
      ],
    });
  });

  it('says which nodes a node needs that was passed over', () => {
    const picture = pictureOf([begin, { type: 'node-skipped', node: 'Message:M', token: 1, missing: ['LLM:A'] }]);
    expect(nodeOf(picture, 'Message:M')).toMatchObject({ status: 'skipped', activations: [{ missing: ['LLM:A'] }] });
  });

  it('keeps text by speaker, reasoning apart, and only of nodes that speak', () => {
    const picture = pictureOf([
      begin,
      started('LLM:A', 1),
      text('LLM:A', 1, 'unspoken'),
      started('Message:M', 2),
      started('Message:N', 3),
      { type: 'node-thinking', node: 'Message:M', token: 2, phase: 'started' },
      text('Message:M', 2, 'hm', 'thinking'),
      { type: 'node-thinking', node: 'Message:M', token: 2, phase: 'ended' },
      text('Message:M', 2, 'one '),
      text('Message:N', 3, 'two'),
      text('Message:M', 2, 'more '),
      notice('Message:M', 2, 'message-ended', { reference: { chunks: [] } }),
    ]);
    expect(picture.answer).toEqual({
      text: 'one more two',
      omittedCharacters: 0,
      parts: [
        expect.objectContaining({ kind: 'thinking', node: 'Message:M', text: 'hm', isOpen: false }),
        expect.objectContaining({
          kind: 'text',
          node: 'Message:M',
          text: 'one more ',
          isOpen: false,
          ending: { reference: { chunks: [] } },
          fromSeq: 9,
          toSeq: 11,
        }),
        expect.objectContaining({ kind: 'text', node: 'Message:N', text: 'two', isOpen: true }),
      ],
    });
    expect(nodeOf(picture, 'LLM:A').activations).toMatchObject([{ text: 'unspoken', thinking: '' }]);
    expect(nodeOf(picture, 'Message:M').activations).toMatchObject([{ text: 'one more ', thinking: 'hm' }]);
  });

  it('takes back what a node said whose process was lost', () => {
    const picture = pictureOf([
      begin,
      started('Message:N', 1),
      text('Message:N', 1, 'stays '),
      settled('Message:N', 1),
      started('Message:M', 2),
      text('Message:M', 2, 'half'),
      { type: 'run-started', input: {}, resumed: true, recovered: true },
      started('Message:M', 1_000_002, { retractFrom: 5 }),
      text('Message:M', 1_000_002, 'whole'),
    ]);
    expect(picture).toMatchObject({ recoveries: 1, query: 'how?', answer: { text: 'stays whole' } });
    expect(nodeOf(picture, 'Message:M')).toMatchObject({
      status: 'running',
      activations: [
        { status: 'retried', isRetracted: true, text: 'half' },
        { status: 'open', text: 'whole' },
      ],
    });
  });

  it('shows a form that waits, until it is answered', () => {
    const events: Unstamped[] = [
      begin,
      { type: 'node-interrupted', node: 'Form:F', token: 4, within: 'Loop:L/0', payload: { tips: 'who?' } },
    ];
    const asked = pictureOf(events);
    const question = { address: 'Form:F#4', node: 'Form:F', token: 4, within: 'Loop:L/0', payload: { tips: 'who?' } };
    expect(asked).toMatchObject({ status: 'running', questions: [{ ...question, seq: 2 }] });
    expect(nodeOf(asked, 'Form:F').status).toBe('waiting');
    const pending = [{ node: 'Form:F', token: 4, within: 'Loop:L/0', payload: { tips: 'who?' } }];
    const end: Unstamped = { type: 'run-interrupted', ...END, pending };
    expect(pictureOf([...events, end])).toMatchObject({ status: 'waiting', questions: [{ ...question, seq: 2 }] });
    const resumed: Unstamped = { type: 'run-started', input: {}, resumed: true };
    const place = { within: 'Loop:L/0' };
    const answered = pictureOf([...events, end, resumed, started('Form:F', 4, place), settled('Form:F', 4, place)]);
    expect(answered).toMatchObject({ status: 'running', questions: [] });
    expect(nodeOf(answered, 'Form:F')).toMatchObject({
      status: 'done',
      activations: [{ status: 'waiting' }, { status: 'settled' }],
    });
  });

  it('counts the rounds of a container, and stops what is in one that is cut short', () => {
    const round = (key: string): Unstamped => ({
      type: 'body-opened',
      node: 'Loop:L',
      token: 1,
      round: { key, of: 5 },
    });
    const events = [
      begin,
      started('Loop:L', 1),
      round('0'),
      { type: 'body-closed', node: 'Loop:L', token: 1, key: '0' } as Unstamped,
      round('1'),
      started('LLM:A', 2, { within: 'Loop:L/1' }),
      started('LLM:A', 3, { within: 'Loop:L/10' }),
    ];
    expect(nodeOf(pictureOf(events), 'Loop:L').rounds).toEqual({ begun: 2, ended: 1, of: 5, open: ['Loop:L/1'] });
    const cut = pictureOf([...events, { type: 'body-closed', node: 'Loop:L', token: 1, key: '1' }]);
    expect(nodeOf(cut, 'LLM:A').activations).toMatchObject([{ status: 'stopped' }, { status: 'open' }]);
    expect(nodeOf(cut, 'Loop:L').rounds).toEqual({ begun: 2, ended: 2, of: 5, open: [] });
  });

  it('shows calls with what they took, and how they ended', () => {
    const call = (report: object): Unstamped =>
      ({ type: 'node-call', node: 'LLM:A', token: 1, call: report }) as Unstamped;
    const usage = { promptTokens: 3, completionTokens: 4, totalTokens: 7 };
    const picture = pictureOf([
      begin,
      started('LLM:A', 1),
      call({ type: 'started', id: 'm', kind: 'model', name: 'large' }),
      call({ type: 'finished', id: 'm', usage }),
      { type: 'node-usage', node: 'LLM:A', token: 1, ...usage },
      call({ type: 'started', id: 't', kind: 'tool', name: 'search', parent: 'm' }),
      { type: 'run-cancelled', ...END },
    ]);
    expect(nodeOf(picture, 'LLM:A').activations).toMatchObject([
      {
        status: 'stopped',
        usage: { ...usage, calls: 1 },
        calls: [
          { key: 'm', id: 1, kind: 'model', status: 'done', usage },
          { key: 't', id: 2, kind: 'tool', status: 'stopped' },
        ],
      },
    ]);
    expect(picture).toMatchObject({
      status: 'cancelled',
      usage: { ...usage, calls: 1 },
      endedAtMs: 150,
      elapsedMs: 50,
    });
  });

  it('shows the stages and the evidence of a chat, and takes its text back', () => {
    const chat = (data: JsonObject) => notice('Message:M', 1, 'chat', data);
    const picture = pictureOf([
      begin,
      started('Message:M', 1),
      chat({ type: 'stage_start', stage: 1, name: 'intent', budget_ms: 50 }),
      chat({ type: 'stage_end', stage: 1, name: 'intent', ms: 12, status: 'ok', detail: {} }),
      chat({ type: 'stage_start', stage: 2, name: 'rewrite', budget_ms: 50 }),
      chat({ type: 'shortcut', kind: 'A', reason: 'r', skipped: [3], cancelled: [2] }),
      chat({ type: 'evidence', items: [{ n: 1, id: 'e', type: 'kb', source: 's', text: 't' }] }),
      text('Message:M', 1, 'void'),
      chat({ type: 'retract', reason: 'again' }),
      text('Message:M', 1, 'said'),
    ]);
    expect(picture.answer.text).toBe('said');
    expect(nodeOf(picture, 'Message:M').activations).toMatchObject([
      {
        text: 'said',
        notices: [],
        chat: {
          stages: [
            { stage: 1, status: 'ok', budgetMs: 50, ms: 12 },
            { stage: 2, status: 'running' },
          ],
          shortcut: { kind: 'A', cancelled: [2] },
          evidence: [{ n: 1 }],
        },
      },
    ]);
  });

  it.each<[string, Unstamped, object]>([
    ['succeeded', { type: 'run-settled', ...END, outputs: { content: 'x' } }, { outputs: { content: 'x' } }],
    ['failed', { type: 'run-failed', ...END, error: { code: 'NODE_FAILED', message: 'no', node: 'LLM:A' } }, {}],
    ['cancelled', { type: 'run-cancelled', ...END }, {}],
  ])('ends: %s', (status, end, fields) => {
    const picture = pictureOf([begin, started('Message:M', 1), text('Message:M', 1, 'x'), end]);
    expect(picture).toMatchObject({ status, ...fields, answer: { parts: [{ isOpen: false }] } });
    expect(nodeOf(picture, 'Message:M').status).toBe('stopped');
    if (status === 'failed') expect(picture.error).toMatchObject({ code: 'NODE_FAILED', node: 'LLM:A' });
    expect(stoppingPicture(picture)).toBe(picture);
  });

  it('is stopping from a request on to the last event', () => {
    expect(stoppingPicture(pictureOf([begin])).status).toBe('stopping');
  });

  it('bounds texts and lists, and counts what it leaves out', () => {
    const long = pictureOf([begin, started('LLM:A', 1), text('LLM:A', 1, 'x'.repeat(MAX_TEXT + 7))]);
    const [one] = nodeOf(long, 'LLM:A').activations;
    expect([one?.text.length, one?.omittedCharacters]).toEqual([MAX_TEXT, 7]);
    const fold = new PictureFold();
    let seq = 0;
    for (let token = 1; token <= MAX_ACTIVATIONS + 3; token += 1) {
      fold.add({ type: 'node-started', run: 'r', seq: ++seq, at: seq, node: 'a', token, attempt: 1 });
      fold.add({ type: 'node-settled', run: 'r', seq: ++seq, at: seq, node: 'a', token, outputs: {}, elapsedMs: 1 });
    }
    const { activations, sums } = nodeOf(fold.picture, 'a');
    expect(activations).toHaveLength(MAX_ACTIVATIONS + 1);
    expect(activations.at(-1)?.ordinal).toBe(MAX_ACTIVATIONS + 3);
    expect(sums.activations).toBe(MAX_ACTIVATIONS + 3);
  });

  it('goes on from a picture as if it had folded what came before', () => {
    const events = [...generatedEvents(3_000)];
    const whole = new PictureFold();
    let other = new PictureFold();
    for (const [at, event] of events.entries()) {
      whole.add(event);
      other.add(event);
      if (at % 97 === 0) other = new PictureFold({}, other.picture);
    }
    expect(other.picture).toEqual(whole.picture);
    expect(whole.picture).toMatchObject({ status: 'succeeded', recoveries: 1 });
    expect(whole.picture.answer.text).not.toContain('lost');
  });
});
