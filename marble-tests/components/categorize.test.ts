import type { Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { categorize } from '../../src/components/categorize.js';
import { EngineError } from '../../src/errors.js';
import { type NodeEvent, settled } from '../../src/graph/node-events.js';
import type { ChatDelta } from '../../src/models/chat-model.js';
import { activationOf, chatServices, nodeOf, withoutCalls } from '../../test/components/text-activation.js';
import { marbles } from '../support/scheduler.js';

const usage = { type: 'usage', promptTokens: 1, completionTokens: 2, totalTokens: 3 } as const;
const pieces: Record<string, ChatDelta> = {
  k: { type: 'thinking', text: 'left?' },
  r: { type: 'text', text: 'rig' },
  t: { type: 'text', text: 'ht' },
  u: usage,
  f: { type: 'finish', reason: 'stop' },
};
const right = settled({ category_name: 'right', _next: ['r'] }, { next: ['r'] });

function sort(answer: Observable<ChatDelta>): Observable<NodeEvent> {
  const category_description = { left: { to: ['l'] }, right: { to: ['r'] }, rest: { to: ['x'] } };
  const { services } = chatServices({ chat: () => answer });
  const node = nodeOf(categorize, { llm_id: 'm', category_description });
  return (node(activationOf({ services, variables: { 'sys.query': 'q' } })) as Observable<NodeEvent>).pipe(
    withoutCalls(),
  );
}

describe('Categorize', () => {
  it('decides when the answer is whole, and says nothing of it', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer = cold('      -k-r-t-u(f|)', pieces);
      expectObservable(sort(answer)).toBe('--------(us|)', { u: usage, s: right });
      expectSubscriptions(answer.subscriptions).toBe('^-------!');
    }));

  it('decides at once with a model that answers at once', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(sort(cold('(rtf|)', pieces))).toBe('(s|)', { s: right });
    }));

  it('fails with the model', () =>
    marbles(({ cold, expectObservable }) => {
      const failure = new EngineError('MODEL_UNAVAILABLE', 'down');
      expectObservable(sort(cold('-r-#', pieces, failure))).toBe('---#', {}, failure);
    }));

  it('closes the call when it is stopped', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer = cold('      -r--t-(f|)', pieces);
      expectObservable(sort(answer), '^--!').toBe('---');
      expectSubscriptions(answer.subscriptions).toBe('^--!');
    }));
});
