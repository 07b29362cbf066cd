import { type Observable, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { callContext } from '../../src/agents/call-context.js';
import { askModel } from '../../src/agents/chat.js';
import { answerEvents } from '../../src/components/chat/answers.js';
import { EngineError } from '../../src/errors.js';
import { callEvent, callFinished, callStarted, delta, type NodeEvent, settled } from '../../src/graph/node-events.js';
import type { ChatDelta, ChatRequest } from '../../src/models/chat-model.js';
import type { TraceSource } from '../../src/trace-context.js';
import { marbles } from '../support/scheduler.js';

const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3 };
const failure = new EngineError('MODEL_UNAVAILABLE', 'quota');
const attributes = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'ACME',
  'gen_ai.request.model': 'm',
  'gen_ai.request.temperature': 0.5,
};

const pieces: Record<string, ChatDelta> = {
  t: { type: 'text', text: 'yes' },
  u: { type: 'usage', ...usage },
  f: { type: 'finish', reason: 'stop' },
};
const events = {
  S: callStarted({ id: 'chat-1', kind: 'model', name: 'm', attributes }),
  F: callEvent({ id: 'chat-1', name: 'stream_started' }),
  t: delta('content', 'yes'),
  u: { type: 'usage', ...usage } as const,
  E: callFinished({ id: 'chat-1', usage, attributes: { 'gen_ai.response.finish_reasons': ['stop'] } }),
  X: callFinished({ id: 'chat-1', error: failure }),
  s: settled({ content: 'yes' }),
};

function ask(answer$: Observable<ChatDelta>, trace?: TraceSource, requests: ChatRequest[] = []): Observable<NodeEvent> {
  const model = {
    chat(request: ChatRequest) {
      requests.push(request);
      return answer$;
    },
  };
  const request: ChatRequest = { model: 'm', messages: [], sampling: { temperature: 0.5 }, headers: { mine: '1' } };
  return askModel(callContext({ services: trace === undefined ? {} : { trace }, token: 'run/1' }), {
    id: 'chat-1',
    model,
    provider: 'ACME',
    request,
    read: (answer$) => answerEvents(answer$, { keepThinking: false }),
  });
}

describe('askModel', () => {
  it('tells when a call starts, when its first piece comes and how it ends, before the node settles', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer = cold('        -----t----u----(f|)', pieces);
      expectObservable(ask(answer)).toBe('S----(Ft)-u----(Es|)', events);
      expectSubscriptions(answer.subscriptions).toBe('^--------------!');
    }));

  it('tells why a call failed, and fails with it', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(ask(cold('--#', {}, failure))).toBe('S-(X#)', events, failure);
    }));

  it('has no end to tell of a call that is stopped', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer = cold('        -----t------(f|)', pieces);
      expectObservable(ask(answer), '^--------!').toBe('S----(Ft)', events);
      expectSubscriptions(answer.subscriptions).toBe('^--------!');
    }));

  it('tells everything of a model that answers at once', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(ask(cold('(tuf|)', pieces))).toBe('(SFtuEs|)', events);
    }));

  it('asks where the call stands in the trace once watchers know of it, and passes that on', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const said: string[] = [];
      const requests: ChatRequest[] = [];
      const trace: TraceSource = {
        contextOf(token, call) {
          said.push(`asked for ${call} of ${token}`);
          return { traceparent: 'p', baggage: 'b' };
        },
      };
      const asked$ = ask(cold('(tuf|)', pieces), trace, requests).pipe(tap((event) => said.push(nameOf(event))));
      expectObservable(asked$).toBe('(SFtuEs|)', events);
      flush();
      expect(said.slice(0, 3)).toEqual(['started', 'asked for chat-1 of run/1', 'moment']);
      expect(requests.map(({ headers }) => headers)).toEqual([{ mine: '1', traceparent: 'p', baggage: 'b' }]);
    }));
});

function nameOf(event: NodeEvent): string {
  return event.type === 'call' ? event.call.type : event.type;
}
