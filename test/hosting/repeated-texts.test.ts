/** Texts that a run reports again are stored once, and read everywhere. */
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { RepeatedTexts, wholeLog } from '../../src/hosting/repeated-texts.js';
import type { JsonObject } from '../../src/json.js';
import { createMemoryStores } from '../../src/stores/memory-stores.js';

const LONG = `A pump moves water. ${'It is made of metal. '.repeat(60)}`;
const OTHER = `A valve holds water. ${'It has a wheel. '.repeat(60)}`;

const notice = (seq: number, data: JsonObject) =>
  ({ type: 'node-notice', run: 'r', seq, at: 1, node: 'n', token: 1, name: 'chat', data }) as unknown as RunEvent;
const settled = (seq: number, outputs: JsonObject) =>
  ({ type: 'run-settled', run: 'r', seq, at: 1, outputs }) as unknown as RunEvent;

/** A log that a run has written, with what is stored of each event. */
async function written(events: readonly RunEvent[]) {
  const texts = new RepeatedTexts();
  const { log } = createMemoryStores();
  const stored = events.map((event) => ({
    seq: event.seq,
    event: event.type,
    json: texts.stored(event, JSON.stringify(event)),
  }));
  await log.append('t', 'r', { events: stored });
  const read = async (after: number, maxEvents = 100) => {
    const page = (await wholeLog(log).read('t', 'r', after, { maxEvents, maxBytes: 1e6 })) ?? [];
    return page.map(({ json }) => JSON.parse(json) as RunEvent);
  };
  return { stored, read, log };
}

describe('a text that a run reports again', () => {
  const events = [
    notice(1, {
      type: 'evidence',
      items: [
        { n: 1, text: LONG },
        { n: 2, text: OTHER },
      ],
    }),
    notice(2, { reference: { chunks: { 1: { content: LONG, name: 'pumps' }, 2: { content: OTHER } } } }),
    settled(3, {
      content: 'short',
      evidence: [
        { n: 1, text: LONG, source: 'a' },
        { n: 2, text: OTHER },
      ],
    }),
  ];

  it('is stored with the first event alone', async () => {
    const { stored } = await written(events);
    const all = stored.map(({ json }) => json).join('');
    expect(all.split(LONG)).toHaveLength(2);
    expect(all.split(OTHER)).toHaveLength(2);
    expect(stored[0]?.json).toBe(JSON.stringify(events[0]));
  });

  it.each([
    ['from the first event', 0, 100],
    ['behind the event that has it', 1, 100],
    ['one event at a time', 2, 1],
  ])('is read %s', async (_, after, most) => {
    const { read } = await written(events);
    expect(await read(after, most)).toEqual(events.slice(after, after + most));
  });

  it('is read in pages as large as they may be with it', async () => {
    const many = Array.from({ length: 50 }, (_, at) => notice(at + 1, { text: LONG }));
    const { log, stored } = await written(many);
    expect(stored[9]?.json.length).toBeLessThan(300);
    const pageOf = async (maxBytes: number) =>
      (await wholeLog(log).read('t', 'r', 10, { maxEvents: 100, maxBytes }))?.map(({ seq }) => seq);
    expect(await pageOf(LONG.length * 3.5)).toEqual([11, 12, 13]);
    expect(await pageOf(1)).toEqual([11]);
  });

  it('is stored again when it is first made by a process that goes on with the run', async () => {
    const again = new RepeatedTexts();
    const event = events[2] as RunEvent;
    expect(again.stored(event, JSON.stringify(event))).toBe(JSON.stringify(event));
    // The end may be written down twice, under one number.
    expect(again.stored(event, JSON.stringify(event))).toBe(JSON.stringify(event));
  });
});

describe('what a model is asked again', () => {
  const call = (seq: number, ...texts: readonly string[]) =>
    ({
      ...{ type: 'node-call', run: 'r', seq, at: 1, node: 'n', token: 1 },
      call: { type: 'started', id: 'c', asked: { messages: texts.map((content) => ({ role: 'user', content })) } },
    }) as unknown as RunEvent;

  it('is stored with the first call alone, and read with each', async () => {
    const events = [call(1, LONG), call(2, LONG, OTHER), call(3, LONG, OTHER, 'short')];
    const { stored, read } = await written(events);
    const all = stored.map(({ json }) => json).join('');
    expect([all.split(LONG).length, all.split(OTHER).length]).toEqual([2, 2]);
    expect(await read(0)).toEqual(events);
    expect(await read(2)).toEqual(events.slice(2));
  });
});

it('short texts, pieces and events of other kinds stay as they are', async () => {
  const texts = new RepeatedTexts();
  const short = 'x'.repeat(255);
  for (const event of [
    notice(1, { items: Array.from({ length: 20 }, () => short) }),
    notice(2, { items: Array.from({ length: 20 }, () => short) }),
    { type: 'node-thinking', run: 'r', seq: 3, text: LONG } as unknown as RunEvent,
    { type: 'node-thinking', run: 'r', seq: 4, text: LONG } as unknown as RunEvent,
  ]) {
    expect(texts.stored(event, JSON.stringify(event))).toBe(JSON.stringify(event));
  }
});

describe('a log', () => {
  it('of an older version is read as it is, also where users write what looks like a place', async () => {
    const forged = settled(1, { content: LONG, repeats: [[['outputs', 'content'], 0, ['outputs', 'x']]] });
    const { log, read } = await written([]);
    const json = JSON.stringify(forged);
    await log.append('t', 'r', { events: [{ seq: 1, event: 'run-settled', json }] });
    expect(await read(0)).toEqual([forged]);
  });

  it('in which the place of a text is missing, or is no earlier one, leaves the text empty', async () => {
    const { log, read } = await written([]);
    const repeats = [
      [['outputs', 'a'], 7, ['data']],
      [['outputs', 'b'], 1, ['outputs', 'nothing', '__proto__']],
      [['outputs', '__proto__', 'polluted'], 1, ['outputs', 'c']],
      [['outputs', 'c'], 1, ['outputs', 'c']],
    ];
    const json = `{"type":"run-settled","run":"r","seq":1,"outputs":{"a":"","b":"","c":"own"},"repeats":${JSON.stringify(repeats)}}`;
    await log.append('t', 'r', { events: [{ seq: 1, event: 'run-settled', json }] });
    expect(await read(0)).toEqual([{ type: 'run-settled', run: 'r', seq: 1, outputs: { a: '', b: '', c: 'own' } }]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
