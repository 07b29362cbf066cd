/** A page fills in what the server sends once. */
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { RepeatedTexts } from '../../src/hosting/repeated-texts.js';
import type { JsonObject } from '../../src/json.js';
import { EarlierTexts, UnknownText } from '../../web/api/earlier-texts.js';

const LONG = 'A pump moves water uphill. '.repeat(60);

const settled = (seq: number, outputs: JsonObject) =>
  ({ type: 'node-settled', run: 'r', seq, at: 1, node: 'n', token: 1, outputs, elapsedMs: 1 }) as unknown as RunEvent;

/** Events as a server stores and sends them. */
function sent(events: readonly RunEvent[]): readonly RunEvent[] {
  const texts = new RepeatedTexts();
  return events.map((event) => JSON.parse(texts.stored(event, JSON.stringify(event))) as RunEvent);
}

describe('events without the texts of earlier ones', () => {
  const events = [
    settled(1, { a: LONG, b: 'short' }),
    settled(2, { list: ['x', LONG] }),
    settled(3, { list: [LONG], deep: { text: LONG } }),
  ];

  it('come to what they were', () => {
    const texts = new EarlierTexts();
    expect(JSON.stringify(sent(events)).split(LONG)).toHaveLength(2);
    expect(sent(events).map((event) => texts.whole(event))).toEqual(events);
  });

  it('come again', () => {
    const texts = new EarlierTexts();
    const all = sent(events);
    for (const event of all) texts.whole(event);
    expect(texts.whole(all[2] as RunEvent)).toEqual(events[2]);
  });

  it('are refused when the earlier ones did not come', () => {
    const texts = new EarlierTexts();
    expect(() => texts.whole(sent(events)[1] as RunEvent)).toThrow(UnknownText);
  });

  it('set nothing outside of the event', () => {
    const texts = new EarlierTexts();
    texts.whole(events[0] as RunEvent);
    const repeats = [[['outputs', '__proto__', 'polluted'], 1, ['outputs', 'a']]];
    const forged = { ...settled(2, { own: 'x' }), repeats } as unknown as RunEvent;
    expect(texts.whole(forged)).toEqual(settled(2, { own: 'x' }));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
