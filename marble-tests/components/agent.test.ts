import { filter, map, NEVER, type Observable } from 'rxjs';
import { describe, it } from 'vitest';
import { z } from 'zod';
import { agentComponent } from '../../src/components/agent.js';
import { EngineError } from '../../src/errors.js';
import type { Activation } from '../../src/graph/node.js';
import type { NodeEvent } from '../../src/graph/node-events.js';
import type { Json } from '../../src/json.js';
import type { ChatDelta } from '../../src/models/chat-model.js';
import { defineTool, type ToolEvent, toolResult } from '../../src/tools/tool.js';
import { activationOf, chatServices, nodeOf } from '../../test/components/text-activation.js';
import { marbles } from '../support/scheduler.js';

const pieces: Record<string, ChatDelta> = {
  t: { type: 'text', text: 'yes' },
  c: { type: 'tool-call', index: 0, id: 'c', name: 'look_up_0', arguments: '{}' },
  f: { type: 'finish', reason: 'stop' },
};
const found: Record<string, ToolEvent> = {
  p: { type: 'progress', message: 'half' },
  r: toolResult('found', { found: 'found' }),
};

/** What a node says, one letter each: text, progress kept for later, interrupt, settled. */
const LETTERS: Partial<Record<NodeEvent['type'], string>> = { delta: 't', progress: 'm', interrupt: 'i', settled: 's' };
const letters = { t: 't', m: 'm', i: 'i', s: 's', p: 'p' };

interface World {
  readonly answers: readonly Observable<ChatDelta>[];
  readonly found$?: Observable<ToolEvent>;
  readonly params?: object;
  readonly nodeState?: Json;
}

function play({ answers, found$ = NEVER, params = {}, nodeState }: World): Observable<string> {
  const lookUp = defineTool({
    component: 'LookUp',
    name: 'look_up',
    summary: 'Looks something up.',
    arguments: { words: z.string().default('').describe('What.') },
    params: {},
    outputs: { found: { type: 'string', description: 'What was found.' } },
    timeoutSeconds: 1,
    call: () => found$,
  });
  let next = 0;
  const { services } = chatServices({ chat: () => answers[next++] ?? NEVER });
  const node = nodeOf(agentComponent([lookUp]), { llm_id: 'm', prompts: 'q', tools: ['LookUp'], ...params });
  const activation: Activation = { ...activationOf({ services }), nodeState };
  const letterOf = (event: NodeEvent) =>
    event.type === 'notice' && event.name === 'tool-progress' ? 'p' : LETTERS[event.type];
  return (node(activation) as Observable<NodeEvent>).pipe(
    map(letterOf),
    filter((letter) => letter !== undefined),
  );
}

describe('Agent', () => {
  it('speaks while tools are at work, keeps where it stands, and settles with the answer', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first$ = cold('  -t-(cf|)          ', pieces);
      const found$ = cold('     --p--(r|)      ', found);
      const second$ = cold('         -t-(f|)   ', pieces);
      expectObservable(play({ answers: [first$, second$], found$ })).toBe('-t---p--mt-(s|)', letters);
      expectSubscriptions(first$.subscriptions).toBe('^--!');
      expectSubscriptions(found$.subscriptions).toBe('---^----!');
      expectSubscriptions(second$.subscriptions).toBe('--------^--!');
    }));

  it('tells the model of a tool that takes too long, and ends its call', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first$ = cold('  (cf|)', pieces);
      const found$ = cold<ToolEvent>('----------');
      const second$ = cold('(tf|)', pieces);
      expectObservable(play({ answers: [first$, second$], found$ })).toBe('1s (mts|)', letters);
      expectSubscriptions(found$.subscriptions).toBe('^ 999ms !');
    }));

  it('ends its model and its tools when nobody listens any more', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const first$ = cold('    -t-(cf|)', pieces);
      const found$ = cold('       --p------(r|)', found);
      const unsubscribe = '    -------!';
      expectObservable(play({ answers: [first$], found$ }), unsubscribe).toBe('-t---p--', letters);
      expectSubscriptions(found$.subscriptions).toBe('---^---!');
      const silent$ = cold('   -t------', pieces);
      expectObservable(play({ answers: [silent$] }), '---!').toBe('-t--', letters);
      expectSubscriptions(silent$.subscriptions).toBe('^--!');
    }));

  it('fails with its model, not with its tools', () =>
    marbles(({ cold, expectObservable }) => {
      const failure = new EngineError('MODEL_UNAVAILABLE', 'quota');
      const failing$ = cold('  -t-#', pieces, failure);
      expectObservable(play({ answers: [failing$] })).toBe('-t-#', letters, failure);
      const broken$ = cold<ToolEvent>('--#', undefined, new Error('no luck'));
      const answers = [cold('(cf|)', pieces), cold('-t(f|)', pieces)];
      expectObservable(play({ answers, found$: broken$ })).toBe('--mt(s|)', letters);
    }));

  it('waits for approval without calling anything', () =>
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const found$ = cold('(r|)', found);
      const asking$ = cold('--(cf|)', pieces);
      const params = { require_approval: '*' };
      expectObservable(play({ answers: [asking$], found$, params })).toBe('--(mi|)', letters);
      expectSubscriptions(found$.subscriptions).toBe([]);
    }));
});
