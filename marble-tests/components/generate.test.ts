import type { Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { generate } from '../../src/components/generate.js';
import { EngineError } from '../../src/errors.js';
import { delta, type NodeEvent, settled, type Write } from '../../src/graph/node-events.js';
import type { ChatDelta } from '../../src/models/chat-model.js';
import { activationOf, chatServices, nodeOf, withoutCalls } from '../../test/components/text-activation.js';
import { marbles } from '../support/scheduler.js';

const PIECES: Record<string, ChatDelta> = {
  k: { type: 'thinking', text: 'hm' },
  t: { type: 'text', text: 'yes' },
  f: { type: 'finish', reason: 'stop' },
};
const EVENTS = {
  k: delta('thinking', 'hm'),
  t: delta('content', 'yes'),
  s: settled({ content: 'yes' }, { writes: [leave('yes')] }),
  m: settled({ content: '<think>hm</think>yes' }, { writes: [leave('')] }),
};

/** What a node writes for the Answer behind it. */
function leave(text: string): Write {
  return { to: { kind: 'variable', key: 'reply' }, value: { turn: 'run/', text, node: 'x' } };
}

/** A node over one answer of a model. */
function write(answer$: Observable<ChatDelta>, isStreamed = false): Observable<NodeEvent> {
  const { services } = chatServices({ chat: () => answer$ });
  const node = nodeOf(generate, { llm_id: 'm', prompt: 'Be kind.' }, { isStreamed });
  return (node(activationOf({ services, variables: { 'sys.query': 'hi' } })) as Observable<NodeEvent>).pipe(
    withoutCalls(),
  );
}

describe('Generate', () => {
  it('says what the model says as it comes, and leaves the whole to an Answer', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(write(cold('--k-t-(f|)', PIECES))).toBe('--k-t-(s|)', EVENTS);
    }));

  it('leaves nothing when a Message says it meanwhile', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(write(cold('--k-t-(f|)', PIECES), true)).toBe('--k-t-(m|)', EVENTS);
    }));

  it('settles at once with a model that answers at once', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(write(cold('(tf|)', PIECES))).toBe('(ts|)', EVENTS);
    }));

  it('fails with the model', () =>
    marbles(({ cold, expectObservable }) => {
      const failure = new EngineError('MODEL_UNAVAILABLE', 'quota');
      expectObservable(write(cold('-t-#', PIECES, failure))).toBe('-t-#', EVENTS, failure);
    }));

  it('closes the call when it is stopped', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold('-t----(f|)', PIECES);
      expectObservable(write(answer$), '^--!').toBe('-t-', EVENTS);
      expectSubscriptions(answer$.subscriptions).toBe('^--!');
    }));
});
