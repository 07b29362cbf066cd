import { describe, expect, it } from 'vitest';
import { eventOf, lineOf } from '../../src/stores/event-lines.js';

const RUN = '37066461328f489c8d21c4202e6c3d62';

describe('the line of an event', () => {
  it.each([
    ['the keys in the order of the engine', RUN, 'node-started', { type: 'node-started', run: RUN, seq: 7, at: 1 }],
    ['the number first', RUN, 'a', { seq: 7, run: RUN, type: 'a' }],
    ['the number of another event in front', RUN, 'a', { type: 'a', run: RUN, seq: 70, at: 1 }],
    ['a number that ends the object', RUN, 'a', { type: 'a', run: RUN, seq: 7 }],
    ['a longer id in front', RUN, 'a', { type: 'a', run: `${RUN}0`, seq: 7, at: 1 }],
    ['a longer name in front', RUN, 'a', { type: 'ab', run: RUN, seq: 7, at: 1 }],
    ['no such keys', RUN, 'a', { at: 1 }],
    [
      'the same keys inside another value',
      RUN,
      'a',
      { text: { run: RUN, seq: 7, type: 'a' }, run: RUN, seq: 7, at: 1 },
    ],
    ['the same text inside a text', RUN, 'a', { text: `"run":"${RUN}" "seq":7, "type":"a"`, seq: 7, type: 'a' }],
    ['control characters in a text', RUN, 'a', { text: '\u0001\u0002\u0003\n', run: RUN, seq: 7, type: 'a' }],
    ['dollar signs', '$&', "$'", { text: '$1', run: '$&', seq: 7, type: "$'", at: 1 }],
    ['an id that is escaped', 'a"b\\', 'a', { run: 'a"b\\', seq: 7, type: 'a' }],
  ])('gives the JSON back to the letter: %s', (_, run, event, value) => {
    const json = JSON.stringify(value);
    const line = lineOf(run, { seq: 7, event, json });
    expect(line).not.toContain('\n');
    expect(eventOf(run, 7, line)).toEqual({ seq: 7, event, json });
  });

  it('leaves out what its row says', () => {
    const json = `{"type":"node-started","run":"${RUN}","seq":12,"at":1,"node":"begin"}`;
    const line = lineOf(RUN, { seq: 12, event: 'node-started', json });
    expect(line.length).toBe('node-started {T,R,S"at":1,"node":"begin"}'.length);
  });

  it('reads the lines of earlier versions', () => {
    const json = `{"type":"a","run":"${RUN}","seq":1}`;
    expect(eventOf(RUN, 1, `a ${json}`)).toEqual({ seq: 1, event: 'a', json });
  });
});
