import type { Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { parseIntent } from '../../../src/chat/stages/parse-intent.js';
import { rewriteQuery } from '../../../src/chat/stages/rewrite-query.js';
import type { StageModel } from '../../../src/chat/stages/stage-result.js';
import { translateQuestion } from '../../../src/chat/stages/translate-question.js';
import type { ChatDelta } from '../../../src/models/chat-model.js';
import { everydayTools as tools } from '../../../src/tools/index.js';
import { marbles } from '../../support/scheduler.js';

const modelOf = (answer$: Observable<ChatDelta>): StageModel => ({ name: 'm', model: { chat: () => answer$ } });
const DELTAS: Record<string, ChatDelta> = {
  r: { type: 'text', text: '{"rewrites": ["a"]}' },
  i: { type: 'text', text: '{"intents": [{"kind": "KB", "confidence": 0.9}]}' },
  f: { type: 'finish', reason: 'stop' },
};

describe('stage 2 in time', () => {
  it('gives the rewrites of the model when its answer is whole', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold(' --r--f|    ', DELTAS);
      const expected = '     ------(v|) ';
      const value = {
        value: { rewrites: ['a'], expansions: [] },
        detail: { rewrites: ['a'], expansions: [], source: 'model' },
      };
      expectObservable(rewriteQuery({ message: 'x', model: modelOf(answer$) })).toBe(expected, { v: value });
      expectSubscriptions(answer$.subscriptions).toBe('^-----!');
    });
  });

  it('gives those of rules at the moment when the model fails', () => {
    marbles(({ cold, expectObservable }) => {
      const answer$ = cold<ChatDelta>('--r--#   ', DELTAS);
      const value = {
        value: { rewrites: ['x'], expansions: [] },
        detail: { rewrites: ['x'], expansions: [], source: 'rule' },
        status: 'degraded',
      };
      expectObservable(rewriteQuery({ message: 'x', model: modelOf(answer$) })).toBe('-----(v|)', { v: value });
    });
  });

  it('ends the call of the model when it is not wanted any more', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold<ChatDelta>('--r------', DELTAS);
      expectObservable(rewriteQuery({ message: 'x', model: modelOf(answer$) }), '^---!').toBe('-----');
      expectSubscriptions(answer$.subscriptions).toBe('^---!');
    });
  });
});

describe('stage 3 in time', () => {
  it('gives what rules know at once, and opens no call', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold<ChatDelta>('--i--f|', DELTAS);
      const value = {
        value: [{ kind: 'MCP', tool: 'calculator', args: { expression: '3*4' }, text: '3*4', confidence: 0.95 }],
        detail: { intents: [{ kind: 'MCP', tool: 'calculator', confidence: 0.95 }], source: 'rule' },
      };
      expectObservable(parseIntent({ message: '3*4', tools, model: modelOf(answer$) })).toBe('(v|)', { v: value });
      expectSubscriptions(answer$.subscriptions).toBe([]);
    });
  });

  it('waits for the model for what no rule knows', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold<ChatDelta>('--i--f|', DELTAS);
      const value = {
        value: [{ kind: 'KB', confidence: 0.9 }],
        detail: { intents: [{ kind: 'KB', confidence: 0.9 }], source: 'model' },
      };
      expectObservable(parseIntent({ message: 'joins', tools, model: modelOf(answer$) })).toBe('------(v|)', {
        v: value,
      });
      expectSubscriptions(answer$.subscriptions).toBe('^-----!');
    });
  });

  it('ends the call of the model when it is not wanted any more', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold<ChatDelta>('---------', DELTAS);
      expectObservable(parseIntent({ message: 'joins', tools, model: modelOf(answer$) }), '^--!').toBe('----');
      expectSubscriptions(answer$.subscriptions).toBe('^--!');
    });
  });
});

describe('the translation of a question in time', () => {
  const translation = (text: string): Record<string, ChatDelta> => ({ ...DELTAS, t: { type: 'text', text } });

  it.each([
    ['the translations, each once', '{"translations": ["pump", " pump ", "Pumpe", "", "泵"]}', ['pump', 'Pumpe']],
    ['none for an answer without any', '{"other": 1}', []],
    ['none for an answer that is no JSON', 'pump', []],
  ])('gives %s', (_, text, expected) => {
    marbles(({ cold, expectObservable }) => {
      const model = modelOf(cold('--t-f|', translation(text)));
      const translated$ = translateQuestion(model, '泵', ['English', 'German', 'French']);
      expectObservable(translated$).toBe('-----(v|)', { v: expected });
    });
  });

  it('gives none when the model fails, or is late, whose call ends then', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      expectObservable(translateQuestion(modelOf(cold<ChatDelta>('--#')), '泵', ['English'])).toBe('--(v|)', { v: [] });
      const late$ = cold<ChatDelta>('5s (tf|)', translation('{"translations": ["pump"]}'));
      expectObservable(translateQuestion(modelOf(late$), '泵', ['English'])).toBe('3s (v|)', { v: [] });
      expectSubscriptions(late$.subscriptions).toBe('^ 2999ms !');
    });
  });

  it('asks nothing without a language, or without a question', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const answer$ = cold<ChatDelta>('--t-f|', translation('{"translations": ["pump"]}'));
      expectObservable(translateQuestion(modelOf(answer$), '泵', [])).toBe('(v|)', { v: [] });
      expectObservable(translateQuestion(modelOf(answer$), '  ', ['English'])).toBe('(v|)', { v: [] });
      expectSubscriptions(answer$.subscriptions).toBe([]);
    });
  });
});
