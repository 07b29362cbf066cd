import { map } from 'rxjs';
import { describe, it } from 'vitest';
import type { WireEvent, WireEventName } from '../../src/canvas/ragflow-events.js';
import { EngineError } from '../../src/errors.js';
import { coalesceFrames } from '../../src/hosting/coalesce-frames.js';
import type { EventFrame } from '../../src/hosting/event-frame.js';
import { EventFramer } from '../../src/hosting/event-framer.js';
import { marbles } from '../support/scheduler.js';

function wire(event: WireEventName, data: WireEvent['data']): WireEvent {
  return { event, message_id: 'm', created_at: 0, task_id: 's', session_id: 's', data };
}
const { event: _, data: __, ...HEADER } = wire('message', {});
const framer = new EventFramer();
const piece = (seq: number, text: string, component = 'A') => framer.piece(seq, HEADER, { node: component }, text);

/** What a client reads of a frame. */
const shown = ({ seq, fromSeq, json }: EventFrame) => {
  const { event, data } = JSON.parse(json);
  return `${fromSeq === undefined ? '' : `${fromSeq}-`}${seq} ${event} ${data?.component_id ?? ''} ${data?.content ?? ''}`;
};

const FRAMES = {
  a: piece(1, 'He'),
  b: piece(2, 'llo'),
  c: piece(3, ' world'),
  d: piece(4, 'other', 'B'),
  e: framer.frame(4, wire('message_end', { component_id: 'A' })),
  f: piece(5, '!'),
  t: framer.frame(2, wire('message', { content: '', start_to_think: true, component_id: 'A' })),
  s: framer.frame(2, wire('message', { content: '', audio_binary: 'ff', component_id: 'A' })),
  // As it comes from the log: without the event.
  l: { seq: 2, event: 'message', json: piece(2, 'llo').json },
};
const READY = { t: true, f: false };
const options = { maxBytes: 10_000 };

describe('coalesceFrames', () => {
  it('passes frames through while the client takes them', () =>
    marbles(({ cold, expectObservable }) => {
      const source$ = cold('-a-b-c-e|', FRAMES);
      const ready$ = cold(' t--------', READY);
      const expected = '    -a-b-c-e|';

      expectObservable(source$.pipe(coalesceFrames({ ...options, ready$ }), map(shown))).toBe(expected, {
        a: '1 message A He',
        b: '2 message A llo',
        c: '3 message A  world',
        e: '4 message_end A ',
      });
    }));

  it('makes one frame of pieces that wait, numbered as the last, and crosses no other event', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-a-bcef|', FRAMES);
      const sourceSubs = '  ^------!';
      const ready$ = cold(' t-f------t', READY);
      const expected = '    -a-------(mef|)';

      expectObservable(source$.pipe(coalesceFrames({ ...options, ready$ }), map(shown))).toBe(expected, {
        a: '1 message A He',
        m: '2-3 message A llo world',
        e: '4 message_end A ',
        f: '5 message A !',
      });
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it.each([
    ['of two messages', 'd', '4 message B other'],
    ['around a mark of reasoning', 't', '2 message A '],
    ['and sound', 's', '2 message A '],
    ['that came from the log', 'l', '2 message A llo'],
  ] as const)('keeps pieces %s apart', (_, second, text) =>
    marbles(({ cold, expectObservable }) => {
      const source$ = cold(`a${second}|`, FRAMES);
      const ready$ = cold('f--t', READY);
      const expected = '   ---(ax|)';

      expectObservable(source$.pipe(coalesceFrames({ ...options, ready$ }), map(shown))).toBe(expected, {
        a: '1 message A He',
        x: text,
      });
    }),
  );

  it('gives a client up for whom too much would wait', () =>
    marbles(({ cold, expectObservable }) => {
      const source$ = cold('-a-b-----', FRAMES);
      const ready$ = cold(' f--------', READY);
      const expected = '    ---#';
      const maxBytes = FRAMES.a.json.length + 2;

      expectObservable(source$.pipe(coalesceFrames({ maxBytes, ready$ }))).toBe(
        expected,
        undefined,
        new EngineError(
          'LIMIT_REACHED',
          `The client reads too slowly: ${maxBytes + 1} bytes would wait for it, at most ${maxBytes} may.`,
        ),
      );
    }));
});
