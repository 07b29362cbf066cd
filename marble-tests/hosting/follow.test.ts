import { map } from 'rxjs';
import { describe, it } from 'vitest';
import { RagflowProjection } from '../../src/canvas/ragflow-events.js';
import { EngineError } from '../../src/errors.js';
import { type EventFrame, EventFramer, storedFrame } from '../../src/hosting/event-frame.js';
import { coalesceFrames } from '../../src/hosting/follow.js';
import { marbles } from '../support/scheduler.js';

const PROJECTION = new RagflowProjection({ plan: undefined, messageId: 'm', sessionId: 's', startedAt: 0 });
const framer = new EventFramer(PROJECTION);
const header = (seq: number) => ({ run: 'r', seq, at: 0, node: 'A', token: 1 });
const piece = (seq: number, text: string, of = { node: 'A', token: 1 }) =>
  framer.frame({ ...header(seq), type: 'node-delta', ...of, port: 'content', text });

/** What a client reads of a frame. */
const shown = ({ seq, fromSeq, ragflow = '{}' }: EventFrame) => {
  const { event, data } = JSON.parse(ragflow);
  return `${fromSeq === undefined ? '' : `${fromSeq}-`}${seq} ${event} ${data?.component_id ?? ''} ${data?.content ?? ''}`;
};

const FRAMES = {
  a: piece(1, 'He'),
  b: piece(2, 'llo'),
  c: piece(3, ' world'),
  f: piece(5, '!'),
  d: piece(4, 'other', { node: 'B', token: 2 }),
  e: framer.frame({ ...header(4), type: 'node-notice', name: 'message-ended', data: {} }),
  t: framer.frame({ ...header(2), type: 'node-thinking', phase: 'started' }),
  s: framer.frame({ ...header(2), type: 'node-notice', name: 'audio', data: { audio_binary: 'ff' } }),
  // As it comes from the log.
  l: storedFrame(piece(2, 'llo'), PROJECTION),
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

  it('keeps pieces apart for a client that gets every event by itself', () =>
    marbles(({ cold, expectObservable }) => {
      const source$ = cold('ab|', FRAMES);
      const ready$ = cold('f--t', READY);
      const expected = '   ---(ab|)';

      expectObservable(source$.pipe(coalesceFrames({ ...options, isExact: true, ready$ }))).toBe(expected, FRAMES);
    }));

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
