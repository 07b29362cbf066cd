import { concat, defer, NEVER, type Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ActionOutcome, BrowserAction, PageView } from '../../src/adapters/browser/action.js';
import type { BrowserSession, Browsers, OpenOptions } from '../../src/adapters/browser/browsers.js';
import { browser } from '../../src/components/browser.js';
import { EngineError } from '../../src/errors.js';
import { settled, warning } from '../../src/graph/node-events.js';
import type { ChatDelta, ChatRequest } from '../../src/models/chat-model.js';
import { withoutCalls } from '../../test/components/text-activation.js';
import { createNode, fakeActivation, perform } from '../support/activation.js';
import { marbles } from '../support/scheduler.js';

const VIEW: PageView = {
  url: 'http://shop.example/',
  title: 'Shop',
  tabs: 1,
  snapshot: '- button "Buy" [ref=e1]',
  notes: [],
};
const USAGE = { type: 'usage', promptTokens: 5, completionTokens: 5, totalTokens: 10 } as const;
const BROKEN = new EngineError('BROWSER_FAILED', 'The browser ended by itself (SIGSEGV).');
const STALE: ActionOutcome = { isDone: false, text: 'There is no element "e9".' };
const CLICKED: ActionOutcome = { isDone: true, text: 'Clicked e1.' };

const call = (name: string, values: object, index = 0): ChatDelta => {
  return { type: 'tool-call', index, id: `c${index}`, name, arguments: JSON.stringify(values) };
};

/** Pieces of answers, for marbles. */
const said: Record<string, ChatDelta> = {
  c: call('click', { ref: 'e1' }),
  x: call('click', { ref: 'e9' }),
  d: call('done', { answer: 'Bought.' }, 1),
  r: call('extract', { instruction: 'prices', schema: { type: 'object' } }),
  e: call('done', { use_extracted: true }),
  n: call('fly', {}),
  j: { type: 'text', text: '{"price": 3}' },
  w: { type: 'text', text: 'Let me think.' },
  t: { type: 'text', text: '{"action": "done", "answer": "Written."}' },
  u: USAGE,
  f: { type: 'finish', reason: 'stop' },
};
const result = (content: string) => settled({ content, downloaded_files: [] });
const shown = { u: USAGE, b: result('Bought.'), p: result('{"price":3}'), w: result('Written.') };

/** A browser whose looks and actions take the time that a test says. */
interface FakeBrowser {
  readonly looks?: Observable<PageView>;
  readonly acts?: readonly Observable<ActionOutcome>[];
  /** Before the session is there. */
  readonly opens?: Observable<never>;
  /** Ends the browser by itself. */
  readonly fails?: Observable<never>;
}

function play(answers: readonly Observable<ChatDelta>[], fake: FakeBrowser = {}, params: object = {}) {
  const { looks = of(VIEW), acts = [], opens, fails = NEVER } = fake;
  const requests: ChatRequest[] = [];
  const performed: BrowserAction[] = [];
  const opened: OpenOptions[] = [];
  let [nextAnswer, nextAct] = [0, 0];
  const session: BrowserSession = {
    look: () => looks,
    perform: (action) =>
      defer(() => {
        performed.push(action);
        return acts[nextAct++] ?? of(CLICKED);
      }),
    files: () => of([]),
    remember: () => of(undefined),
  };
  const open$ = concat(opens ?? [], of(session), fails);
  const browsers: Browsers = {
    open: (options = {}) => {
      opened.push(options);
      return open$;
    },
    close: async () => {},
  };
  const chat = (request: ChatRequest) => {
    requests.push(request);
    return answers[nextAnswer++] as Observable<ChatDelta>;
  };
  const models = {
    chat: (name: string) => ({ name, supportsImages: false, contextLength: undefined, model: { chat } }),
  };
  const node = createNode(browser, { llm_id: 'm', prompts: 'Buy it', ...params });
  const events$ = perform(node, fakeActivation({ services: { models, browsers } })).pipe(withoutCalls());
  return { events$, requests, performed, opened };
}

describe('Browser', () => {
  it('looks, asks and acts, one round after the other, and settles when the model is done', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const looks = cold('-(v|)', { v: VIEW });
      const first = cold(' --c-u(f|)      ', said);
      const act = cold('       ---(o|)', { o: CLICKED });
      const second = cold('          -(df|)', said);
      const expected = '  ------u----(b|)';
      const { events$ } = play([first, second], { looks, acts: [act] });

      expectObservable(events$).toBe(expected, shown);
      expectSubscriptions(looks.subscriptions).toBe(['^!', '---------^!']);
      expectSubscriptions(first.subscriptions).toBe('-^----!');
      expectSubscriptions(act.subscriptions).toBe('------^--!');
      expectSubscriptions(second.subscriptions).toBe('----------^!');
    }));

  it('does several calls of one answer in order', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const answer = cold('  -(cdf|)', said);
      const act = cold('      --(o|)', { o: CLICKED });
      const { events$, performed } = play([answer], { acts: [act] });

      expectObservable(events$).toBe('---(b|)', shown);
      flush();
      expect(performed).toEqual([{ action: 'click', ref: 'e1' }]);
    }));

  it('tells the model what did not work, and leaves the calls behind it undone', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const first = cold('  -(xdf|)', said);
      const act = cold('     -(o|)', { o: STALE });
      const second = cold('   -(df|)', said);
      const { events$, requests } = play([first, second], { acts: [act] });

      expectObservable(events$).toBe('---(b|)', shown);
      flush();
      expect(requests[1]?.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
        'There is no element "e9".',
        'Not done, as the call before did not work.',
      ]);
    }));

  it('keeps of earlier rounds what was done, and shows one page alone', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const { events$, requests } = play([cold('(cf|)', said), cold('(df|)', said)]);

      expectObservable(events$).toBe('(b|)', shown);
      flush();
      expect(requests[1]?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'user']);
      expect(requests[1]?.messages.at(-1)?.content).toContain('<page>\n- button "Buy" [ref=e1]\n</page>');
    }));

  it('reads data with a call of its own, and answers with it', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold('   -(rf|)   ', said);
      const reading = cold('  --j-u(f|)', said);
      const second = cold('        -(ef|)', said);
      const { events$ } = play([first, reading, second]);

      expectObservable(events$).toBe('------u(p|)', shown);
      expectSubscriptions(reading.subscriptions).toBe('-^----!');
    }));

  it('understands a call that is written as text', () =>
    marbles(({ cold, expectObservable }) => {
      expectObservable(play([cold('--(tf|)', said)]).events$).toBe('--(w|)', shown);
    }));

  it('gives up when nothing that can be done is chosen three times', () =>
    marbles(({ cold, expectObservable }) => {
      const answers = [cold('-(wf|)', said), cold('-(nf|)', said), cold('-(wf|)', said)];
      const failure = new EngineError(
        'NODE_FAILED',
        'The model of node "node" chose nothing that can be done in 3 answers; it may not support tools.',
      );
      expectObservable(play(answers).events$).toBe('---#', {}, failure);
    }));

  it.each([
    ['rounds', { max_steps: 2 }, 'The browser came to no end within 2 rounds; there is no answer.'],
    ['tokens', { token_limit: 20 }, 'The browser came to no end within 20 tokens; there is no answer.'],
  ])('ends without an answer when its %s are used up', (_what, params, message) =>
    marbles(({ cold, expectObservable }) => {
      const answers = [cold('-(cuf|)', said), cold('-(cuf|)', said)];
      const { events$ } = play(answers, {}, params);

      expectObservable(events$).toBe('-u(uwe|)', {
        u: USAGE,
        w: warning(message),
        e: result(''),
      });
    }),
  );

  it('leaves the browser when it is stopped before that is open', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const opens = cold<never>('-----');
      const { events$, requests } = play([], { opens });

      expectObservable(events$, '--!').toBe('');
      expectSubscriptions(opens.subscriptions).toBe('^-!');
      expect(requests).toEqual([]);
    }));

  it('leaves the browser when it is stopped while the page is read', () =>
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const life = hot<never>('----------');
      const looks = cold<PageView>('-----');

      expectObservable(play([], { looks, fails: life }).events$, '---!').toBe('');
      expectSubscriptions(life.subscriptions).toBe('^--!');
      expectSubscriptions(looks.subscriptions).toBe('^--!');
    }));

  it('leaves the browser when it is stopped during an action', () =>
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const life = hot<never>('----------');
      const act = cold<ActionOutcome>('  ------');

      expectObservable(play([cold('-(cf|)', said)], { acts: [act], fails: life }).events$, '---!').toBe('');
      expectSubscriptions(life.subscriptions).toBe('^--!');
      expectSubscriptions(act.subscriptions).toBe('-^-!');
    }));

  it('leaves model and browser when it is stopped while the model answers', () =>
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const life = hot<never>('----------');
      const answer = cold('---(df|)', said);
      const { events$ } = play([answer], { fails: life });

      expectObservable(events$, '--!').toBe('');
      expectSubscriptions(life.subscriptions).toBe('^-!');
      expectSubscriptions(answer.subscriptions).toBe('^-!');
    }));

  it('leaves the browser when it is done', () =>
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const life = hot<never>('----------');
      const { events$ } = play([cold('--(df|)', said)], { fails: life });

      expectObservable(events$).toBe('--(b|)', shown);
      expectSubscriptions(life.subscriptions).toBe('^-!');
    }));

  it('fails when the browser ends by itself, whatever it was doing', () =>
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const life = hot<never>('---#', {}, BROKEN);
      const act = cold<ActionOutcome>('------');
      const { events$ } = play([cold('-(cf|)', said)], { acts: [act], fails: life });

      expectObservable(events$).toBe('---#', {}, BROKEN);
      expectSubscriptions(act.subscriptions).toBe('-^-!');
    }));

  it('fails with the model, and leaves the browser', () =>
    marbles(({ hot, cold, expectObservable, expectSubscriptions }) => {
      const failure = new EngineError('MODEL_UNAVAILABLE', 'quota');
      const life = hot<never>('------');
      const { events$ } = play([cold<ChatDelta>('--#', {}, failure)], { fails: life });

      expectObservable(events$).toBe('--#', {}, failure);
      expectSubscriptions(life.subscriptions).toBe('^-!');
    }));
});
