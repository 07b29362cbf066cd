import { describe, it } from 'vitest';
import { EngineError } from '../../src/errors.js';
import type { ChatDelta } from '../../src/models/chat-model.js';
import type { ScriptInput } from '../../src/models/scripted.js';
import { createScriptedModel } from '../../src/models/scripted.js';
import { marbles } from '../support/scheduler.js';

const request = { model: 'scripted', messages: [{ role: 'user' as const, content: 'hi' }] };
const answer = (script: ScriptInput) => createScriptedModel(script).chat(request);

const values: Record<string, ChatDelta> = {
  a: { type: 'text', text: 'one' },
  b: { type: 'text', text: 'two' },
  c: { type: 'tool-call', index: 0, id: 'call_0', name: 'add', arguments: '{}' },
  u: { type: 'usage', promptTokens: 1, completionTokens: 2, totalTokens: 3 },
  f: { type: 'finish', reason: 'stop' },
  g: { type: 'finish', reason: 'tool_calls' },
};

describe('createScriptedModel in time', () => {
  it('answers at once without a delay', () =>
    marbles(({ expectObservable }) => {
      expectObservable(answer({ rules: [{ reply_stream: ['one', 'two'] }] })).toBe('(abuf|)', values);
    }));

  it('waits before each piece, and not after the last', () =>
    marbles(({ expectObservable }) => {
      const answer$ = answer({ rules: [{ reply_stream: ['one', 'two'], delay_ms: 3 }] });
      const expected = '---a--(buf|)';
      expectObservable(answer$).toBe(expected, values);
    }));

  it('takes the pace of the script where a rule has none of its own', () =>
    marbles(({ expectObservable }) => {
      const rules = [
        { reply_stream: ['one', 'two'], times: 1 },
        { reply_stream: ['one', 'two'], delay_ms: 0 },
      ];
      const model = createScriptedModel({ rules, delay_ms: 2 });
      expectObservable(model.chat(request)).toBe('--a-(buf|)', values);
      expectObservable(model.chat(request)).toBe('(abuf|)', values);
    }));

  it('waits before tool calls and errors too', () =>
    marbles(({ expectObservable }) => {
      const called$ = answer({ rules: [{ reply: 'one', tool_calls: [{ name: 'add' }], delay_ms: 2 }] });
      const failed$ = answer({ rules: [{ error: 'down', delay_ms: 2 }] });
      expectObservable(called$).toBe('--a-(cug|)', values);
      const error = new EngineError('MODEL_UNAVAILABLE', 'Model "scripted" reported an error: down');
      expectObservable(failed$).toBe('--#', {}, error);
    }));

  it('stops when unsubscribed', () =>
    marbles(({ expectObservable }) => {
      const answer$ = answer({ rules: [{ reply_stream: ['one', 'two', 'three'], delay_ms: 3 }] });
      const unsub = '   -----!';
      const expected = '---a  ';
      expectObservable(answer$, unsub).toBe(expected, values);
    }));
});
