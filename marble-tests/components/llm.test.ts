import type { Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { llm } from '../../src/components/llm.js';
import { EngineError } from '../../src/errors.js';
import { delta, type NodeEvent, settled, warning } from '../../src/graph/node-events.js';
import type { ChatDelta } from '../../src/models/chat-model.js';
import { activationOf, chatServices, nodeOf, withoutCalls } from '../../test/components/text-activation.js';
import { marbles } from '../support/scheduler.js';

const SCHEMA = { structured: { properties: { a: { type: 'number' } } } };
const usage = { type: 'usage', promptTokens: 1, completionTokens: 2, totalTokens: 3 } as const;

const pieces: Record<string, ChatDelta> = {
  k: { type: 'thinking', text: 'hm' },
  t: { type: 'text', text: 'yes' },
  w: { type: 'text', text: 'no' },
  j: { type: 'text', text: '{"a": 1}' },
  c: { type: 'tool-call', index: 0, id: '1', name: 'n', arguments: '{}' },
  u: usage,
  f: { type: 'finish', reason: 'stop' },
  l: { type: 'finish', reason: 'length' },
};
const events = {
  k: delta('thinking', 'hm'),
  t: delta('content', 'yes'),
  u: usage,
  s: settled({ content: 'yes' }),
  m: settled({ content: '<think>hm</think>yes' }),
};

/** A node over one answer after the other. */
function ask(answers: Observable<ChatDelta>[], params: object = {}, isStreamed = false): Observable<NodeEvent> {
  let next = 0;
  const chat = () => answers[next++] as Observable<ChatDelta>;
  const { services } = chatServices({ chat });
  const node = nodeOf(llm, { llm_id: 'm', prompts: 'q', ...params }, { isStreamed });
  return (node(activationOf({ services })) as Observable<NodeEvent>).pipe(withoutCalls());
}

describe('LLM', () => {
  it('says what the model says as it comes, and settles at its end', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer = cold('      --k-t-c-u(f|)', pieces);
      expectObservable(ask([answer])).toBe('--k-t---u(s|)', events);
      expectSubscriptions(answer.subscriptions).toBe('^--------!');
      const streamed = cold('    --k-t---u(f|)', pieces);
      expectObservable(ask([streamed], {}, true)).toBe('--k-t---u(m|)', events);
    }));

  it('warns when the answer was cut off', () =>
    marbles(({ cold, expectObservable }) => {
      const answer = cold('  -t-(l|)', pieces);
      const cut = warning('The answer was cut off at its token limit; raise max_tokens or ask for less.');
      expectObservable(ask([answer])).toBe('-t-(ws|)', { ...events, w: cut });
    }));

  it('fails with the model', () =>
    marbles(({ cold, expectObservable }) => {
      const failure = new EngineError('MODEL_UNAVAILABLE', 'quota');
      const answer = cold('  -t-#', pieces, failure);
      expectObservable(ask([answer])).toBe('-t-#', events, failure);
    }));

  it('closes the call when it is stopped', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer = cold('  -t----t-(f|)', pieces);
      expectObservable(ask([answer]), '^---!').toBe('-t---', events);
      expectSubscriptions(answer.subscriptions).toBe('^---!');
    }));

  it('settles at once with a model that answers at once', () =>
    marbles(({ cold, expectObservable }) => {
      const answer = cold('  (tuf|)', pieces);
      expectObservable(ask([answer])).toBe('(tus|)', events);
    }));

  it('asks again when an answer is no object, one call after the other', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('   --w-u(f|)', pieces);
      const second = cold('       ---j-(f|)', pieces);
      const values = { u: usage, s: settled({ structured: { a: 1 } }) };
      expectObservable(ask([first, second], { outputs: SCHEMA })).toBe('-----u----(s|)', values);
      expectSubscriptions(first.subscriptions).toBe('^----!');
      expectSubscriptions(second.subscriptions).toBe('-----^----!');
    }));

  it('does not ask again when the model fails, whose adapter has tried already', () =>
    marbles(({ cold, expectObservable }) => {
      const failure = new EngineError('MODEL_UNAVAILABLE', 'down', { retryable: true });
      const answers = [cold<ChatDelta>('--#', {}, failure)];
      expectObservable(ask(answers, { outputs: SCHEMA })).toBe('--#', {}, failure);
    }));

  it('stops between two attempts', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('   --(wf|)', pieces);
      const second = cold('    ----(jf|)', pieces);
      expectObservable(ask([first, second], { outputs: SCHEMA }), '^---!').toBe('----');
      expectSubscriptions(second.subscriptions).toBe('--^-!');
    }));
});
