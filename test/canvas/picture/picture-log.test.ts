import { describe, expect, it } from 'vitest';
import { PictureFold } from '../../../src/canvas/picture/picture-fold.js';
import { PictureLog } from '../../../src/canvas/picture/picture-log.js';
import type { RunEvent } from '../../../src/graph/events.js';
import { generatedEvents, randomOf } from './generated-events.js';

function pictureAfter(events: readonly RunEvent[], count: number) {
  const fold = new PictureFold();
  for (const event of events.slice(0, count)) fold.add(event);
  return fold.picture;
}

describe('the pictures of a run', () => {
  it('are at each event what the events up to it give', () => {
    const events = [...generatedEvents(10_000)];
    const log = new PictureLog();
    for (const event of events) log.add(event);
    expect(log.at(0)).toMatchObject({ lastSeq: 0 });
    expect(log.at(events.length)).toBe(log.picture);
    expect(log.at(events.length + 5)).toBe(log.picture);
    const random = randomOf(7);
    const some = Array.from({ length: 40 }, () => 1 + Math.floor(random() * events.length));
    for (const seq of [1, 499, 500, 501, 1_000, ...some]) {
      const picture = log.at(seq);
      expect(picture.lastSeq).toBe(seq);
      expect(picture).toEqual(pictureAfter(events, seq));
    }
  });

  it('pass events over that came before', () => {
    const events = [...generatedEvents(2_000)];
    const log = new PictureLog({ every: 100 });
    const random = randomOf(3);
    for (let at = 0; at < events.length; at += 1) {
      log.add(events[at] as RunEvent);
      if (random() < 0.01) at = Math.max(0, at - Math.floor(random() * 300));
    }
    expect(log.events).toEqual(events);
    expect(log.picture).toEqual(pictureAfter(events, events.length));
  });

  it('stay in steps where the events are let go', () => {
    const events = [...generatedEvents(5_000)];
    const log = new PictureLog({ maxEvents: 1_000, every: 100 });
    for (const event of events) log.add(event);
    expect(log.events.length).toBeLessThanOrEqual(1_100);
    expect(log.exactFrom).toBe((log.events[0] as RunEvent).seq - 1);
    expect(log.at(250)).toEqual(pictureAfter(events, 200));
    expect(log.at(log.exactFrom + 57)).toEqual(pictureAfter(events, log.exactFrom + 57));
    expect(log.at(log.exactFrom)).toEqual(pictureAfter(events, log.exactFrom));
  });

  it.each([{ maxEvents: 0 }, { every: 1.5 }])('refuse bounds that are none: %j', (options) => {
    expect(() => new PictureLog(options)).toThrow(/must be a whole number of at least 1/);
  });
});
