import { filter, from, map, NEVER, type Observable, of, reduce, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/agents/agent-events.js';
import { type AgentState, newAgentState } from '../../src/agents/agent-events.js';
import type { AgentSetup } from '../../src/agents/agent-setup.js';
import type { AgentTool, AgentToolEvent } from '../../src/agents/agent-tool.js';
import { callContext } from '../../src/agents/call-context.js';
import { openChat } from '../../src/agents/chat.js';
import { SAME_CALL } from '../../src/agents/repeated-calls.js';
import { runAgent } from '../../src/agents/run-agent.js';
import { EngineError } from '../../src/errors.js';
import type { CallReport } from '../../src/graph/node-events.js';
import type { ChatDelta } from '../../src/models/chat-model.js';
import { toolResult } from '../../src/tools/tool.js';
import { chatServices } from '../../test/components/text-activation.js';
import { marbles } from '../support/scheduler.js';

const pieces: Record<string, ChatDelta> = {
  t: { type: 'text', text: 'yes' },
  k: { type: 'thinking', text: 'hm' },
  a: { type: 'tool-call', index: 0, id: 'a', name: 'find_0', arguments: '{"q":1}' },
  b: { type: 'tool-call', index: 1, id: 'b', name: 'slow_1', arguments: '{}' },
  x: { type: 'tool-call', index: 0, id: 'x', name: 'ghost_9', arguments: '{}' },
  y: { type: 'tool-call', index: 0, id: 'y', name: 'find_0', arguments: 'nonsense [' },
  u: { type: 'usage', promptTokens: 40, completionTokens: 10, totalTokens: 50 },
  f: { type: 'finish', reason: 'stop' },
};
const results: Record<string, AgentToolEvent> = {
  p: { type: 'progress', message: 'half' },
  r: toolResult('found it', {}),
  s: toolResult('slow but sure', {}),
};

/** Events in one letter: text, thinking, usage, began, moment, progress, ended, logged, input delivered, state, approval, Answer. */
const LETTERS: Record<Exclude<AgentEvent['type'], 'call'>, string> = {
  text: 't',
  thinking: 'k',
  usage: 'u',
  'call-progress': 'p',
  'tool-log': 'l',
  'input-delivered': 'i',
  state: 'M',
  approval: 'w',
  answer: 'A',
};
const CALL_LETTERS: Record<CallReport['type'], string> = { started: 'b', moment: 'm', finished: 'e' };
const letterOf = (event: AgentEvent): string =>
  event.type === 'call' ? CALL_LETTERS[event.call.type] : LETTERS[event.type];
const letters = Object.fromEntries(
  [...Object.values(LETTERS), ...Object.values(CALL_LETTERS)].map((letter) => [letter, letter]),
);

interface World {
  readonly answers: readonly Observable<ChatDelta>[];
  readonly tools?: readonly AgentTool[];
  readonly setup?: Partial<AgentSetup>;
  readonly state?: AgentState;
}

/** An agent over one answer after the other; what the model was asked and what the agent said are kept. */
function agentOf({ answers, tools = [], setup = {}, state }: World) {
  const { services, requests: asked } = chatServices({ chat: () => answers[asked.length - 1] ?? NEVER });
  const said: AgentEvent[] = [];
  const whole: AgentSetup = {
    chat: openChat(callContext({ services }), { model: 'm' }),
    tools,
    maxRounds: 3,
    idPrefix: '',
    keyPrefix: 'run/1/',
    path: 'Boss',
    now: () => 0,
    ...setup,
  };
  const events$ = runAgent(whole, state ?? newAgentState([{ role: 'user', content: 'q' }])).pipe(
    tap((event) => said.push(event)),
  );
  return { events$, asked, said };
}

function toolOf(name: string, call: AgentTool['call'], more: Partial<AgentTool> = {}): AgentTool {
  const definition = { name, description: '', parameters: {} };
  return { kind: 'tool', definition, title: name, needsApproval: false, mayCite: false, call, ...more };
}

type Watched = ReturnType<typeof agentOf>;

/** Every event as a letter, when it comes; but for the one at the beginning of each answer. */
const live = ({ events$ }: Watched): Observable<string> =>
  events$.pipe(
    map(letterOf),
    filter((letter) => letter !== 'm'),
  );

/** All events as one word, at the end. */
const word = (agent: Watched): Observable<string> => live(agent).pipe(reduce((all, letter) => all + letter, ''));

/** What the model was shown as results of tools in its n-th call. */
const shown = ({ asked }: Watched, call: number): unknown[] =>
  (asked[call]?.messages ?? []).flatMap((message) => (message.role === 'tool' ? [message.content] : []));

const answerOf = ({ said }: Watched) => said.find((event) => event.type === 'answer');

const call: AgentState = {
  ...newAgentState([{ role: 'user', content: 'q' }]),
  tokens: 7,
  pending: { text: '', calls: [{ id: 'a', name: 'find_0', arguments: '{"q":1}' }] },
};

describe('runAgent', () => {
  it.each([
    ['-k----t-u-(f|)', 'b(mk)-t-u-(eA|)', 'thoughts first'],
    ['---a-----(uf|)', 'b--m-----(uebelMb)', 'a call of a tool'],
    ['--u-(f|)', 'b-u-(eb)', 'no piece at all'],
  ])('tells the moment of the first piece of an answer, once: %s', (answer, expected) =>
    marbles(({ cold, expectObservable }) => {
      const find = toolOf('find_0', () => of(results.r as AgentToolEvent));
      const { events$ } = agentOf({ answers: [cold(answer, pieces)], tools: [find] });
      expectObservable(events$.pipe(map(letterOf))).toBe(expected, letters);
    }),
  );

  it('says what the model says as it comes, and answers at its end', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const model$ = cold('        -k-t-u(f|)', pieces);
      const agent = agentOf({ answers: [model$] });
      expectObservable(live(agent)).toBe('bk-t-u(eA|)', letters);
      expectSubscriptions(model$.subscriptions).toBe('^-----!');
      flush();
      expect(answerOf(agent)).toMatchObject({ text: 'yes', finishReason: 'stop', state: { tokens: 50, round: 0 } });
    }));

  it('makes the calls of a round at once, and shows their results in the order of the calls', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const first$ = cold('  --(abf|)              ', pieces);
      const find$ = cold('     ------(r|)          ', results);
      const slow$ = cold('     -p-(s|)             ', results);
      const last$ = cold('           --t-(f|)      ', pieces);
      const agent = agentOf({
        answers: [first$, last$],
        tools: [toolOf('find_0', () => find$), toolOf('slow_1', () => slow$)],
      });
      // The faster call ends first; the model still sees the results in its own order.
      expectObservable(word(agent)).toBe('------------(w|)', { w: 'bebbpelelMbteA' });
      expectSubscriptions(first$.subscriptions).toBe('^-!');
      expectSubscriptions(find$.subscriptions).toBe('--^-----!');
      expectSubscriptions(slow$.subscriptions).toBe('--^--!');
      expectSubscriptions(last$.subscriptions).toBe('--------^---!');
      flush();
      expect(shown(agent, 1)).toEqual(['found it', 'slow but sure']);
      expect(agent.asked[1]?.messages.at(-3)).toMatchObject({
        role: 'assistant',
        toolCalls: [{ id: 'a' }, { id: 'b' }],
      });
    }));

  it('tells the model what failed, and goes on', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const failing$ = cold<AgentToolEvent>('--#', undefined, new EngineError('TOOL_FAILED', 'Find error: no luck'));
      const agent = agentOf({
        answers: [cold('(af|)', pieces), cold('(tf|)', pieces)],
        tools: [toolOf('find_0', () => failing$)],
      });
      expectObservable(word(agent)).toBe('--(w|)', { w: 'bebelMbteA' });
      flush();
      expect(shown(agent, 1)).toEqual(['Find error: no luck']);
      expect(agent.said.find(({ type }) => type === 'tool-log')).toMatchObject({ result: 'Find error: no luck' });
    }));

  it.each([
    ['a tool that throws', 'a', /broken/],
    ['a name that nobody has', 'x', /no tool "ghost_9".*find_0/],
    ['arguments that are no object', 'y', /must be one JSON object/],
  ])('tells the model about %s', (_, piece, message) =>
    marbles(({ cold, expectObservable, flush }) => {
      const broken = () => {
        throw new Error('broken');
      };
      const agent = agentOf({
        answers: [cold(`(${piece}f|)`, pieces), cold('(tf|)', pieces)],
        tools: [toolOf('find_0', broken)],
      });
      expectObservable(word(agent)).toBe('(w|)', { w: 'bebelMbteA' });
      flush();
      expect(shown(agent, 1)).toEqual([expect.stringMatching(message)]);
    }),
  );

  it('answers a call that is repeated unchanged from what it knows, unless it failed', () =>
    marbles(({ cold, expectObservable, flush }) => {
      let made = 0;
      const find = () => {
        made += 1;
        return made === 1 ? cold<AgentToolEvent>('#') : of(results.r as AgentToolEvent);
      };
      const again = () => cold('(af|)', pieces);
      const agent = agentOf({
        answers: [again(), again(), again(), cold('(tf|)', pieces)],
        tools: [toolOf('find_0', find)],
      });
      expectObservable(word(agent)).toBe('(w|)', { w: 'bebelMbebelMbelMbteA' });
      flush();
      expect(made).toBe(2);
      expect(shown(agent, 3)).toEqual(['error', 'found it', `found it\n${SAME_CALL}`]);
    }));

  it('asks once more without tools when its rounds are used up', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const calls = () => cold('(af|)', pieces);
      const agent = agentOf({
        answers: [calls(), calls(), cold('(tf|)', pieces)],
        tools: [toolOf('find_0', () => of(results.r as AgentToolEvent))],
        setup: { maxRounds: 1 },
      });
      expectObservable(word(agent)).toBe('(w|)', { w: 'bebelMbelMbteA' });
      flush();
      expect(agent.asked.map(({ tools = [] }) => tools.length)).toEqual([1, 1, 0]);
      expect(agent.asked[2]?.messages.at(-1)).toMatchObject({
        role: 'user',
        content: expect.stringContaining('Exceed max rounds: 1'),
      });
      expect(answerOf(agent)?.state.messages.at(-1)).toMatchObject({ role: 'tool' });
    }));

  it.each([
    ['tokens', { tokens: 50 }],
    ['time', { ms: 3_000 }],
  ])('stops calling tools when its budget of %s is spent', (_, budget) =>
    marbles(({ cold, expectObservable, flush }) => {
      let now = 0;
      const agent = agentOf({
        answers: [cold('(auf|)', pieces), cold('(tf|)', pieces)],
        tools: [toolOf('find_0', () => of(results.r as AgentToolEvent))],
        setup: {
          budget,
          now: () => {
            now += 1_000;
            return now;
          },
        },
      });
      expectObservable(word(agent)).toBe('(w|)', { w: 'buebelMbteA' });
      flush();
      expect(agent.asked[1]).not.toHaveProperty('tools');
    }),
  );

  it('bounds what one result and all of them may be', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const huge = toolResult('x'.repeat(500_000), {});
      const calls = (index: number) => [{ ...(pieces.a as object), arguments: `{"q":${index}}` }, pieces.f];
      const answers = Array.from({ length: 10 }, (_, index) => from(calls(index) as ChatDelta[]));
      const agent = agentOf({
        answers: [...answers, cold('(tf|)', pieces)],
        tools: [toolOf('find_0', () => of(huge))],
        setup: { maxRounds: 100 },
      });
      expectObservable(word(agent)).toBe('(w|)', { w: `${'bebelM'.repeat(10)}bteA` });
      flush();
      const [first] = shown(agent, 1);
      expect(String(first)).toMatch(/x\n\(The result is longer; this is its beginning\.\)$/);
      expect(String(first).length).toBeLessThan(401_000);
      expect(agent.asked).toHaveLength(11);
      expect(agent.asked[10]).not.toHaveProperty('tools');
    }));

  it('asks again when the answer is empty, and then takes it as it is', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const empty = () => cold('(f|)', pieces);
      const agent = agentOf({ answers: [empty(), empty(), cold('(tf|)', pieces)] });
      expectObservable(word(agent)).toBe('(w|)', { w: 'bebeA' });
      flush();
      expect(answerOf(agent)).toMatchObject({ text: '' });
    }));

  it('fails with the model, also in a later round', () =>
    marbles(({ cold, expectObservable }) => {
      const failure = new EngineError('MODEL_UNAVAILABLE', 'quota');
      const agent = agentOf({
        answers: [cold('(af|)', pieces), cold('---------t-#', pieces, failure)],
        tools: [toolOf('find_0', () => of(results.r as AgentToolEvent))],
      });
      expectObservable(live(agent)).toBe('(bebelMb)t-(e#)', letters, failure);
    }));

  it('stops the model when nobody listens any more', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const model$ = cold('  -t-----t-(f|)', pieces);
      const unsubscribe = '  ----!        ';
      const expected = '     bt---        ';
      expectObservable(live(agentOf({ answers: [model$] })), unsubscribe).toBe(expected, letters);
      expectSubscriptions(model$.subscriptions).toBe('^---!');
    }));

  it('stops every call of a round when nobody listens any more', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const find$ = cold<AgentToolEvent>('---------(r|)', results);
      const slow$ = cold<AgentToolEvent>('-------------(s|)', results);
      const agent = agentOf({
        answers: [cold('(abf|)', pieces)],
        tools: [toolOf('find_0', () => find$), toolOf('slow_1', () => slow$)],
      });
      expectObservable(live(agent), '------!').toBe('(bebb)', letters);
      expectSubscriptions(find$.subscriptions).toBe('^-----!');
      expectSubscriptions(slow$.subscriptions).toBe('^-----!');
    }));

  it('keeps to its bound of calls at once', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const find$ = cold<AgentToolEvent>('--(r|)', results);
      const slow$ = cold<AgentToolEvent>('--(s|)', results);
      const agent = agentOf({
        answers: [cold('(abf|)', pieces), cold('(tf|)', pieces)],
        tools: [toolOf('find_0', () => find$), toolOf('slow_1', () => slow$)],
        setup: { concurrency: 1 },
      });
      expectObservable(word(agent)).toBe('----(w|)', { w: 'bebelbelMbteA' });
      expectSubscriptions(find$.subscriptions).toBe('^-!');
      expectSubscriptions(slow$.subscriptions).toBe('--^-!');
    }));

  it('ends with the text of a terminal tool', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const agent = agentOf({
        answers: [cold('(af|)', pieces)],
        tools: [toolOf('find_0', () => of(results.r as AgentToolEvent), { isTerminal: true })],
      });
      expectObservable(word(agent)).toBe('(w|)', { w: 'bebeltA' });
      flush();
      expect(answerOf(agent)).toMatchObject({ text: 'found it' });
    }));

  it('pauses before a call that somebody must allow', () =>
    marbles(({ cold, expectObservable, expectSubscriptions, flush }) => {
      const find$ = cold<AgentToolEvent>('(r|)', results);
      const agent = agentOf({
        answers: [cold('(abf|)', pieces)],
        tools: [toolOf('find_0', () => find$, { needsApproval: true }), toolOf('slow_1', () => find$)],
      });
      expectObservable(word(agent)).toBe('(w|)', { w: 'bew' });
      expectSubscriptions(find$.subscriptions).toBe([]);
      flush();
      expect(agent.said.at(-1)).toMatchObject({
        type: 'approval',
        calls: [{ name: 'find_0' }],
        state: { pending: { calls: [{ id: 'a' }, { id: 'b' }] } },
      });
    }));

  it.each([
    ['goes on with a call that was allowed', true, 'found it', 'belMbteA', 1],
    ['tells the model about a call that was declined', false, 'The user declined this call: too dear', 'lMbteA', 0],
  ])('%s', (_, isAllowed, text, events, made) =>
    marbles(({ cold, expectObservable, flush }) => {
      let calls = 0;
      const find = () => {
        calls += 1;
        return of(results.r as AgentToolEvent);
      };
      const agent = agentOf({
        answers: [cold('(tf|)', pieces)],
        tools: [toolOf('find_0', find, { needsApproval: true })],
        setup: { approvals: new Map([['a', { isAllowed, reason: 'too dear' }]]) },
        state: call,
      });
      expectObservable(word(agent)).toBe('(w|)', { w: events });
      flush();
      expect(calls).toBe(made);
      expect(shown(agent, 0)).toEqual([text]);
      expect(answerOf(agent)).toMatchObject({ state: { tokens: 7, round: 1 } });
    }),
  );

  it('makes a call that was declined, when it is asked for again and allowed', () =>
    marbles(({ cold, expectObservable, flush }) => {
      let calls = 0;
      const find = () => {
        calls += 1;
        return of(results.r as AgentToolEvent);
      };
      const tools = [toolOf('find_0', find, { needsApproval: true })];
      const play = (state: AgentState, isAllowed: boolean, answer: string) => {
        const approvals = new Map([['a', { isAllowed, reason: '' }]]);
        return agentOf({ answers: [cold(answer, pieces)], tools, setup: { approvals }, state });
      };
      const first = play(call, false, '(af|)');
      expectObservable(word(first)).toBe('(w|)', { w: 'lMbew' });
      flush();
      const again = first.said.find((event) => event.type === 'approval');
      const second = play(again?.state as AgentState, true, '(tf|)');
      expectObservable(word(second)).toBe('(w|)', { w: 'belMbteA' });
      flush();
      expect(calls).toBe(1);
      expect(shown(second, 0).at(-1)).toBe('found it');
    }));

  it('continues from a stored state without calling the model again', () =>
    marbles(({ cold, expectObservable, flush }) => {
      const tools = [toolOf('find_0', () => of(results.r as AgentToolEvent))];
      const lost = agentOf({ answers: [cold('(auf|)', pieces), NEVER], tools });
      expectObservable(live(lost), '--!').toBe('(buebelMb)', letters);
      flush();
      const stored = lost.said.find((event) => event.type === 'state');
      const state = JSON.parse(JSON.stringify(stored?.state)) as AgentState;
      const agent = agentOf({ answers: [cold('(tf|)', pieces)], tools, state });
      expectObservable(word(agent)).toBe('--(w|)', { w: 'bteA' });
      flush();
      expect(agent.asked[0]?.messages).toEqual(lost.asked[1]?.messages);
      expect(answerOf(agent)?.state.tokens).toBe(50);
    }));

  it('tells the model what a person says meanwhile, before its next call, and once', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions, flush }) => {
      const said = { n: [], x: [{ id: 'x', content: 'In short.' }] };
      const inputs$ = hot('-n-x---x--   ', said);
      const agent = agentOf({
        answers: [cold('   -----(af|)', pieces), cold('--(tf|)', pieces)],
        tools: [toolOf('find_0', () => of(results.r as AgentToolEvent))],
        setup: { inputs$ },
      });
      expectObservable(word(agent)).toBe('--------(w|)', { w: 'bebelMibteA' });
      expectSubscriptions(inputs$.subscriptions).toBe('^-------!');
      flush();
      expect(agent.asked[1]?.messages.at(-1)).toEqual({ role: 'user', content: 'In short.', id: 'x' });
      expect(agent.said.filter(({ type }) => type === 'input-delivered')).toEqual([
        { type: 'input-delivered', id: 'x', content: 'In short.', round: 2 },
      ]);
    }));

  it('answers once more when something was said while it answered', () =>
    marbles(({ cold, hot, expectObservable, flush }) => {
      const inputs$ = hot('(n)--x', { n: [], x: [{ id: 'x', content: 'In short.' }] });
      const answers = [cold('-----(tf|)', pieces), cold('(kf|)', pieces), cold('(tf|)', pieces)];
      const agent = agentOf({ answers, setup: { inputs$ } });
      expectObservable(live(agent)).toBe('b----(teibkebteA|)', letters);
      flush();
      expect(answerOf(agent)?.state.messages.map(({ content }) => content)).toEqual(['q', 'yes', 'In short.']);
    }));

  it('leaves inputs and model when nobody listens any more', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions }) => {
      const inputs$ = hot('(n)------x', { n: [], x: [{ id: 'x', content: 'In short.' }] });
      const model$ = cold('-----(tf|)', pieces);
      expectObservable(live(agentOf({ answers: [model$], setup: { inputs$ } })), '---!').toBe('b---', letters);
      expectSubscriptions(inputs$.subscriptions).toBe('^--!');
      expectSubscriptions(model$.subscriptions).toBe('^--!');
    }));

  it('puts nothing in front of an answer that waited for an approval', () =>
    marbles(({ cold, hot, expectObservable, flush }) => {
      const inputs$ = hot('(n)', { n: [{ id: 'x', content: 'In short.' }] });
      const agent = agentOf({
        answers: [cold('(tf|)', pieces)],
        tools: [toolOf('find_0', () => of(results.r as AgentToolEvent), { needsApproval: true })],
        setup: { inputs$, approvals: new Map([['a', { isAllowed: true, reason: '' }]]) },
        state: call,
      });
      expectObservable(word(agent)).toBe('(w|)', { w: 'belMibteA' });
      flush();
      expect(agent.asked[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    }));

  it('does not tell again what its conversation has, and ends its subscription', () =>
    marbles(({ cold, hot, expectObservable, expectSubscriptions, flush }) => {
      const inputs$ = hot('(n)', { n: [{ id: 'x', content: 'In short.' }] });
      const agent = agentOf({
        answers: [cold('---(tf|)', pieces)],
        setup: { inputs$ },
        state: newAgentState([
          { role: 'user', content: 'q' },
          { role: 'user', content: 'In short.', id: 'x' },
        ]),
      });
      expectObservable(live(agent)).toBe('b--(teA|)', letters);
      expectSubscriptions(inputs$.subscriptions).toBe('^--!');
      flush();
      expect(agent.asked[0]?.messages).toHaveLength(2);
    }));
});
