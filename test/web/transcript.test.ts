import { describe, expect, it } from 'vitest';
import { PictureFold } from '../../src/canvas/picture/picture-fold.js';
import type { RunEvent } from '../../src/graph/events.js';
import type { CallReport } from '../../src/graph/node-events.js';
import type { JsonObject } from '../../src/json.js';
import { chunksOf, citedOf } from '../../web/chat/evidence.js';
import { spokenText, transcriptOf } from '../../web/chat/transcript.js';

/** The picture of a run in which one agent did something. */
function pictureOf(...did: readonly object[]) {
  const fold = new PictureFold();
  const events = [
    { type: 'run-started', input: {}, resumed: false },
    { type: 'node-started', node: 'Agent:A', token: 1, attempt: 1 },
    ...did,
  ];
  events.forEach((event, index) => {
    fold.add({
      node: 'Agent:A',
      token: 1,
      run: 'r',
      seq: index + 1,
      at: 1_000 + index * 10,
      ...event,
    } as unknown as RunEvent);
  });
  return fold.picture;
}

const says = (text: string, port = 'content') => ({ type: 'node-delta', port, text });
const calls = (call: CallReport) => ({ type: 'node-call', call });
const called = (name: string, more: JsonObject = {}) => ({
  type: 'node-notice',
  name: 'tool-called',
  data: { tool_name: name, path: 'A', arguments: { q: 1 }, result: 'found', elapsed_time: 0.02, ...more },
});

describe('the transcript of a run', () => {
  it('has what was said and called in the order in which it began', () => {
    const picture = pictureOf(
      says('I will look. '),
      calls({ type: 'started', id: 'm', kind: 'model', name: 'gpt' }),
      calls({ type: 'started', id: 't', kind: 'tool', name: 'search' }),
      calls({ type: 'finished', id: 't' }),
      called('search'),
      calls({ type: 'started', id: 'u', kind: 'tool', name: 'search' }),
    );
    const items = transcriptOf(picture);
    expect(items.map(({ kind }) => kind)).toEqual(['text', 'call', 'call']);
    expect(items[1]).toMatchObject({ name: 'search', logged: { arguments: { q: 1 }, result: 'found', elapsedMs: 20 } });
    expect(items[1]).toMatchObject({ call: { status: 'done' } });
    expect(items[2]).toMatchObject({ name: 'search', logged: undefined, call: { status: 'open' } });
    expect(new Set(items.map(({ key }) => key)).size).toBe(3);
  });

  it('has the reasoning of all nodes, and the text of those that speak', () => {
    const picture = pictureOf(says('I wonder. ', 'thinking'), says('A draft.'));
    expect(transcriptOf(picture).map(({ kind }) => kind)).toEqual(['thinking', 'text']);
    const silent = (node: string) => node !== 'Agent:A';
    expect(transcriptOf(picture, silent).map(({ kind }) => kind)).toEqual(['thinking']);
    expect([spokenText(picture), spokenText(picture, silent)]).toEqual(['A draft.', '']);
  });

  it('has calls that only the log of tools knows', () => {
    const [item] = transcriptOf(pictureOf(called('search')));
    expect(item).toMatchObject({ kind: 'call', name: 'search', call: undefined, logged: { path: 'A' } });
  });
});

describe('what an answer cites', () => {
  const chunk = { content: 'It opened in 1937.', document_name: 'bridges.txt', similarity: 0.8, url: '' };

  it('is found by number, in a list and by name', () => {
    const source = { source: 'bridges.txt', text: 'It opened in 1937.', kind: 'kb', score: 0.8 };
    expect(chunksOf({ chunks: [chunk] })).toEqual([['0', source]]);
    expect(chunksOf({ chunks: { 7: chunk, 8: 'broken' } })).toEqual([['7', source]]);
    expect(chunksOf(undefined)).toEqual([]);
  });

  it('comes with the end of a message', () => {
    const picture = pictureOf(says('In 1937 [0].'), {
      type: 'node-notice',
      name: 'message-ended',
      data: { reference: { chunks: [chunk] } },
    });
    expect([...citedOf(picture).keys()]).toEqual(['0']);
  });
});
