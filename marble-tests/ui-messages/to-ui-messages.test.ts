import { concat, of, Subject, takeUntil, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import type { UiMessageChunk } from '../../src/ui-messages/protocol.js';
import { toUiMessages } from '../../src/ui-messages/ui-message-stream.js';
import { marbles } from '../support/scheduler.js';

const header = { run: 'r', at: 0 };
const node = { node: 'A', token: 1 };
const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 };
const EVENTS: Readonly<Record<string, RunEvent>> = {
  S: { ...header, seq: 1, type: 'run-started', input: null, resumed: false },
  s: { ...header, seq: 2, type: 'node-started', ...node, attempt: 1 },
  d: { ...header, seq: 3, type: 'node-delta', ...node, port: 'content', text: 'a' },
  e: { ...header, seq: 4, type: 'node-settled', ...node, outputs: {}, elapsedMs: 0 },
  E: { ...header, seq: 5, type: 'run-settled', outputs: null, elapsedMs: 0, input: null, usage },
};

const providerMetadata = { runnel: { part: 'r-3', node: 'A' } };
const CHUNKS: Readonly<Record<string, UiMessageChunk>> = {
  a: { type: 'start', messageId: 'r', messageMetadata: { run: 'r' } },
  b: { type: 'start-step' },
  c: { type: 'text-start', id: 'r-3', providerMetadata },
  d: { type: 'text-delta', id: 'r-3', delta: 'a' },
  e: { type: 'text-end', id: 'r-3' },
  f: { type: 'finish-step' },
  g: { type: 'finish', finishReason: 'stop', messageMetadata: { usage, elapsedMs: 0 } },
};

describe('toUiMessages', () => {
  it('gives the chunks of each event at once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-S--s--d----e--E---|', EVENTS);
      const sourceSubs = '  ^------------------!';
      const expected = '    -a-----(bcd)e--(fg)|';

      expectObservable(source$.pipe(toUiMessages())).toBe(expected, CHUNKS);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('passes on an error of the source', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-S--#', EVENTS);
      const sourceSubs = '  ^---!';
      const expected = '    -a--#';

      expectObservable(source$.pipe(toUiMessages())).toBe(expected, CHUNKS);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('leaves the source when it is left', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('-S-----d----e', EVENTS);
      const sourceSubs = '  ^---!';
      const unsubscribe = ' ----!';
      const expected = '    -a---';

      expectObservable(source$.pipe(toUiMessages()), unsubscribe).toBe(expected, CHUNKS);
      expectSubscriptions(source$.subscriptions).toBe(sourceSubs);
    }));

  it('is stopped between the chunks of one event', () => {
    const enough$ = new Subject<void>();
    const seen: UiMessageChunk[] = [];
    of(EVENTS.S as RunEvent, EVENTS.d as RunEvent)
      .pipe(toUiMessages(), takeUntil(enough$))
      .subscribe((chunk) => {
        seen.push(chunk);
        if (chunk.type === 'start-step') enough$.next();
      });
    expect(seen).toEqual([CHUNKS.a, CHUNKS.b]);
  });

  it('projects a source that emits at once, anew for each subscriber', () => {
    const failed = new Error('the source');
    const chunks$ = concat(
      of(EVENTS.S as RunEvent, EVENTS.d as RunEvent),
      throwError(() => failed),
    ).pipe(toUiMessages());
    for (const _ of [1, 2]) {
      const seen: unknown[] = [];
      chunks$.subscribe({ next: (chunk) => seen.push(chunk), error: (error: unknown) => seen.push(error) });
      expect(seen).toEqual([CHUNKS.a, CHUNKS.b, CHUNKS.c, CHUNKS.d, failed]);
    }
  });

  it('refuses options that there are not', () => {
    expect(() => toUiMessages({ speak: true } as never)).toThrow(/no option "speak".*Did you mean "speaks"/);
  });
});
