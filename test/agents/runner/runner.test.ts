/** Conversations: history, questions, inputs while an agent works, stops at safe points. */
import { concat, EMPTY, lastValueFrom, NEVER, Observable, of, Subject, take, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  type AnyAgent,
  agent,
  agentTool,
  type CancelMode,
  type CancelRequest,
  createRunner,
  defineMiddleware,
  type LiveOptions,
  type LiveStop,
  loopAgents,
  memorySessions,
  type RunnerEvent,
  sequentialAgents,
  summarise,
  type UserInput,
} from '../../../src/entries/agents.js';
import { type ChatDelta, defineTool } from '../../../src/index.js';
import { echo, type Reply, replies, say, talk } from '../loop/support.js';

const all = (events$: Observable<RunnerEvent>): Promise<RunnerEvent[]> => lastValueFrom(events$.pipe(toArray()));

type Members = readonly [AnyAgent, AnyAgent];

/** The events of the runner itself, short. */
function told(events: readonly RunnerEvent[]): string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case 'turn-started':
        return ['turn'];
      case 'input-accepted':
      case 'input-dropped':
        return [`${event.type} ${event.id}`];
      case 'input-delivered':
        return [`delivered ${event.id} to ${event.agent} in round ${event.round}`];
      case 'turn-ended':
        return [
          event.status === 'succeeded'
            ? `ended: ${event.text}`
            : event.status === 'cancelled'
              ? `cancelled ${event.mode}`
              : event.status,
        ];
      default:
        return [];
    }
  });
}

/** A tool during whose call a test says something; it gives its result when the test says so. */
function gate() {
  const entered$ = new Subject<void>();
  const open$ = new Subject<string>();
  const tool = defineTool({
    name: 'gate',
    description: 'Waits.',
    run: () =>
      new Observable<string>((subscriber) => {
        const subscription = open$.subscribe((text) => {
          subscriber.next(text);
          subscriber.complete();
        });
        entered$.next();
        return subscription;
      }),
  });
  return { tool, entered$, open$ };
}

describe('a session', () => {
  it('has the history of its turns, values that agents keep, and goes back', async () => {
    const model = replies('One.', 'Two.', 'Three.');
    const runner = createRunner({
      agent: agent({
        name: 'guide',
        model,
        outputKey: 'last',
        instructions: ({ session }) => `Last: ${session.values.last ?? 'none'}`,
      }),
    });
    const first = (await all(runner.run('first', { session: 's' }))).at(-1) as { readonly turn: string };
    await all(runner.run('second', { session: 's' }));
    expect(talk(model.requests[1]?.messages ?? [])).toEqual([
      'system: Last: One.',
      'user: first',
      'assistant: One.',
      'user: second',
    ]);
    expect((await runner.session('s')).values).toEqual({ last: 'Two.' });
    const back = await runner.rollback('s', first.turn);
    expect([back.messages.length, back.values]).toEqual([2, { last: 'One.' }]);
    await all(runner.run('again', { session: 's' }));
    expect(talk(model.requests[2]?.messages ?? [])).toEqual([
      'system: Last: One.',
      'user: first',
      'assistant: One.',
      'user: again',
    ]);
    await expect(runner.rollback('s', 'nope')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('takes one turn at a time', async () => {
    const { tool, entered$, open$ } = gate();
    const runner = createRunner({
      agent: agent({ name: 'guide', model: replies({ calls: [{ name: 'gate' }] }, 'Done.'), tools: [tool] }),
    });
    const refused = new Promise((resolve) =>
      entered$.subscribe(() => resolve(all(runner.run('two', { session: 's' })).catch((error: unknown) => error))),
    );
    const first = all(runner.run('one', { session: 's' }));
    expect(await refused).toMatchObject({ code: 'SESSION_BUSY' });
    open$.next('x');
    expect(told(await first)).toEqual(['turn', 'ended: Done.']);
  });

  it('is free again when its turn is taken back, which then fails', async () => {
    const { tool, entered$, open$ } = gate();
    const runner = createRunner({
      agent: agent({ name: 'guide', model: replies({ calls: [{ name: 'gate' }] }, 'Done.'), tools: [tool] }),
    });
    const back = new Promise((resolve) => entered$.subscribe(() => resolve(runner.rollback('s', ''))));
    const first = all(runner.run('one', { session: 's' })).catch((error: unknown) => error);
    expect(await back).toMatchObject({ turns: [], messages: [] });
    open$.next('x');
    expect(await first).toMatchObject({ code: 'SESSION_BUSY' });
    expect((await runner.session('s')).open).toBeUndefined();
  });

  it('waits for answers, also in another process', async () => {
    const ask = defineTool({
      name: 'ask',
      description: 'Asks.',
      run: (_, call) => (call.answer === undefined ? call.interrupt('Sure?') : `It is ${call.answer}.`),
    });
    const sessions = memorySessions();
    const stored = new Map<string, string>();
    const checkpoints = {
      save: (checkpoint: { readonly run: string }) => void stored.set(checkpoint.run, JSON.stringify(checkpoint)),
      load: async (run: string) => JSON.parse(stored.get(run) ?? 'null') ?? undefined,
      delete: async (run: string) => void stored.delete(run),
    };
    const make = (model: ReturnType<typeof replies>) =>
      createRunner({ agent: agent({ name: 'guide', model, tools: [ask] }), sessions, checkpoints });
    const events = await all(make(replies({ calls: [{ name: 'ask', id: 'q' }] })).run('go', { session: 's' }));
    expect(events.at(-1)).toMatchObject({
      status: 'waiting',
      questions: [{ address: 'guide/tools#q', question: 'Sure?' }],
    });
    const model = replies('Done.');
    const other = make(model);
    await expect(all(other.run('more', { session: 's' }))).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    expect(told(await all(other.resume('s', { 'guide/tools#q': 'sure' })))).toEqual(['turn', 'ended: Done.']);
    expect(talk((await other.session('s')).messages)).toEqual([
      'user: go',
      'assistant:  [ask]',
      'tool: It is sure.',
      'assistant: Done.',
    ]);
    await expect(all(other.resume('s', {}))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is told of a failure, and goes on', async () => {
    const runner = createRunner({ agent: agent({ name: 'guide', model: replies(new Error('boom'), 'Fine.') }) });
    expect((await all(runner.run('go', { session: 's' }))).at(-1)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('boom') },
    });
    expect(told(await all(runner.run('again', { session: 's' })))).toEqual(['turn', 'ended: Fine.']);
  });

  it('is free again when its reader has gone', async () => {
    let isClosed = false;
    const endless = new Observable<ChatDelta>((subscriber) => {
      subscriber.next({ type: 'text', text: 'and ' });
      return () => {
        isClosed = true;
      };
    });
    const runner = createRunner({ agent: agent({ name: 'guide', model: replies(endless, 'Fine.') }) });
    await new Promise<void>((resolve) => {
      const reading = runner.run('go', { session: 's' }).subscribe((event) => {
        if (event.type !== 'node-chunk') return;
        reading.unsubscribe();
        resolve();
      });
    });
    expect(isClosed).toBe(true);
    await expect.poll(async () => (await runner.session('s')).turns.at(-1)?.status).toBe('cancelled');
    expect(told(await all(runner.run('again', { session: 's' })))).toEqual(['turn', 'ended: Fine.']);
  });
});

describe('inputs while an agent works', () => {
  const run = async (
    input: Omit<UserInput, 'id' | 'content'>,
    model = replies({ calls: [{ name: 'gate' }] }, 'Done.', 'More.'),
  ) => {
    const { tool, entered$, open$ } = gate();
    const input$ = new Subject<UserInput>();
    const runner = createRunner({ agent: agent({ name: 'guide', model, tools: [tool] }) });
    entered$.subscribe(() => input$.next({ id: 'i', content: 'Wait!', ...input }));
    const events: RunnerEvent[] = [];
    await new Promise<void>((resolve, reject) => {
      runner.run('go', { session: 's', input$ }).subscribe({
        next: (event) => {
          events.push(event);
          if (event.type === 'input-accepted') open$.next('opened');
        },
        error: reject,
        complete: resolve,
      });
    });
    return { events, model, runner };
  };

  it('join at the next safe point', async () => {
    const { events, model, runner } = await run({});
    expect(told(events)).toEqual(['turn', 'input-accepted i', 'delivered i to guide in round 2', 'ended: Done.']);
    expect(talk(model.requests[1]?.messages ?? []).slice(-2)).toEqual(['tool: opened', 'user: Wait!']);
    expect((await runner.session('s')).waitingInputs).toEqual([]);
  });

  it('open a turn of their own behind the answer', async () => {
    const { events, model } = await run({ when: 'next-turn' });
    expect(told(events)).toEqual([
      'turn',
      'input-accepted i',
      'ended: Done.',
      'turn',
      'delivered i to guide in round 0',
      'ended: More.',
    ]);
    expect(talk(model.requests[2]?.messages ?? []).slice(-2)).toEqual(['assistant: Done.', 'user: Wait!']);
  });

  it('end the turn at its next safe point, and open another', async () => {
    const { events, model } = await run({ when: 'preempt' });
    expect(told(events)).toEqual([
      'turn',
      'input-accepted i',
      'ended: ',
      'turn',
      'delivered i to guide in round 0',
      'ended: Done.',
    ]);
    expect(events.find(({ type }) => type === 'turn-ended')).toMatchObject({ reason: 'preempted' });
    expect(talk(model.requests[1]?.messages ?? []).slice(-2)).toEqual(['tool: opened', 'user: Wait!']);
  });

  it('drop the call of the model, and what it said is unfinished', async () => {
    const half = concat(of<ChatDelta>({ type: 'text', text: 'Well, I ' }), NEVER);
    const model = replies(half, 'Now.');
    const input$ = new Subject<UserInput>();
    const runner = createRunner({ agent: agent({ name: 'guide', model }) });
    const events: RunnerEvent[] = [];
    await new Promise<void>((resolve, reject) => {
      runner.run('go', { session: 's', input$ }).subscribe({
        next: (event) => {
          events.push(event);
          if (event.type === 'node-chunk' && events.filter(({ type }) => type === 'node-chunk').length === 1)
            input$.next({ id: 'i', content: 'Stop!', when: 'now' });
        },
        error: reject,
        complete: resolve,
      });
    });
    expect(told(events)).toEqual(['turn', 'input-accepted i', 'delivered i to guide in round 2', 'ended: Now.']);
    expect(talk(model.requests[1]?.messages ?? [])).toEqual(['user: go', 'assistant: Well, I ', 'user: Stop!']);
    expect((await runner.session('s')).messages[1]?.extra).toMatchObject({ unfinished: true });
  });

  it('count once, reach an inner agent, and are dropped when there is no such agent', async () => {
    const { tool, entered$, open$ } = gate();
    const inner = replies({ calls: [{ name: 'gate' }] }, 'Inner.');
    const writer = agent({ name: 'writer', description: 'Writes.', model: inner, tools: [tool] });
    const outer = replies({ calls: [{ name: 'writer', arguments: { request: 'Write.' } }] }, 'Outer.');
    const input$ = new Subject<UserInput>();
    const runner = createRunner({ agent: agent({ name: 'lead', model: outer, tools: [agentTool(writer)] }) });
    entered$.subscribe(() => {
      input$.next({ id: 'a', content: 'Shorter!', to: 'writer' });
      input$.next({ id: 'a', content: 'Shorter!', to: 'writer' });
      input$.next({ id: 'b', content: 'Hello?', to: 'nobody-there' });
    });
    const events: RunnerEvent[] = [];
    await new Promise<void>((resolve, reject) => {
      runner.run('go', { session: 's', input$ }).subscribe({
        next: (event) => {
          events.push(event);
          if (event.type === 'input-accepted' && event.id === 'b') open$.next('opened');
        },
        error: reject,
        complete: resolve,
      });
    });
    expect(told(events)).toEqual([
      'turn',
      'input-accepted a',
      'input-accepted b',
      'delivered a to lead/agents[0]/writer in round 2',
      'ended: Outer.',
      'input-dropped b',
    ]);
    expect(talk(inner.requests[1]?.messages ?? []).at(-1)).toBe('user: Shorter!');
  });

  it('are dropped when too many wait', async () => {
    const { tool, entered$, open$ } = gate();
    const input$ = new Subject<UserInput>();
    const runner = createRunner({
      agent: agent({ name: 'guide', model: replies({ calls: [{ name: 'gate' }] }, 'Done.'), tools: [tool] }),
      maxWaiting: 1,
    });
    entered$.subscribe(() =>
      ['a', 'b'].forEach((id) => {
        input$.next({ id, content: id });
      }),
    );
    const events: RunnerEvent[] = [];
    await new Promise<void>((resolve, reject) => {
      runner.run('go', { input$ }).subscribe({
        next: (event) => {
          events.push(event);
          if (event.type === 'input-dropped') open$.next('opened');
        },
        error: reject,
        complete: resolve,
      });
    });
    expect(told(events)).toEqual([
      'turn',
      'input-accepted a',
      'input-dropped b',
      'delivered a to guide in round 2',
      'ended: Done.',
    ]);
  });

  it('make a long conversation', async () => {
    const model = replies('One.', 'Two.');
    const input$ = new Subject<string>();
    const runner = createRunner({ agent: agent({ name: 'guide', model }) });
    const events: RunnerEvent[] = [];
    await new Promise<void>((resolve, reject) => {
      runner.live(input$, { session: 's' }).subscribe({
        next: (event) => {
          events.push(event);
          if (event.type !== 'turn-ended') return;
          if (event.status === 'succeeded' && event.text === 'One.') input$.next('second');
          else input$.complete();
        },
        error: reject,
        complete: resolve,
      });
      setImmediate(() => input$.next('first'));
    });
    expect(told(events).filter((line) => line.startsWith('ended'))).toEqual(['ended: One.', 'ended: Two.']);
    expect(talk(model.requests[1]?.messages ?? [])).toEqual(['user: first', 'assistant: One.', 'user: second']);
  });
});

describe('a long conversation', () => {
  /** The first turn is inside its tool; `then` says what is done there, and the tool ends behind it. */
  const converse = async (
    list: readonly Reply[],
    options: LiveOptions,
    then: (said: { readonly input$: Subject<string | UserInput>; open(): void }) => void,
  ) => {
    const model = replies(...list);
    const { tool, entered$, open$ } = gate();
    const input$ = new Subject<string | UserInput>();
    const runner = createRunner({ agent: agent({ name: 'guide', model, tools: [tool] }) });
    entered$.subscribe(() => then({ input$, open: () => open$.next('opened') }));
    const events = all(runner.live(input$, { session: 's', ...options }));
    input$.next({ id: 'first', content: 'first' });
    return { events: await events, model, runner };
  };
  const GATE: readonly Reply[] = [{ calls: [{ name: 'gate' }] }, 'One.', 'Two.', 'Three.'];
  const later = (id: string): UserInput => ({ id, content: id, when: 'next-turn' });

  it('begins each turn with what nextTurn picks, and leaves the others for the turns behind it', async () => {
    const seen: string[][] = [];
    const stop$ = new Subject<LiveStop>();
    const nextTurn = (waiting: readonly UserInput[]) => {
      seen.push(waiting.map(({ id }) => id));
      return waiting.filter((one) => one === waiting.at(-1));
    };
    const { events } = await converse(GATE, { nextTurn, stop$ }, ({ input$, open }) => {
      for (const id of ['a', 'b']) input$.next({ id, content: id, when: 'next-turn' });
      stop$.next({ mode: 'when-idle' });
      setImmediate(open);
    });
    expect(seen).toEqual([['first'], ['a', 'b'], ['a']]);
    expect(told(events).filter((line) => line.startsWith('delivered'))).toEqual([
      'delivered first to guide in round 0',
      'delivered b to guide in round 0',
      'delivered a to guide in round 0',
    ]);
    expect(told(events).at(-1)).toBe('ended: Three.');
  });

  it('picks among all that came at once', async () => {
    const runner = createRunner({ agent: agent({ name: 'guide', model: replies('One.', 'Two.') }) });
    const nextTurn = (waiting: readonly UserInput[]) => waiting.slice(-1);
    const input$ = of<UserInput[]>({ id: 'a', content: 'a' }, { id: 'b', content: 'b' });
    const events = await all(runner.live(input$, { session: 's', nextTurn }));
    expect(told(events)).toEqual([
      'input-accepted a',
      'input-accepted b',
      'turn',
      'delivered b to guide in round 0',
      'ended: One.',
      'turn',
      'delivered a to guide in round 0',
      'ended: Two.',
    ]);
  });

  it.each([
    ['nothing', () => []],
    ['what does not wait', () => [later('x')]],
    ['one twice', (waiting: readonly UserInput[]) => [...waiting, ...waiting]],
  ] as const)('fails when nextTurn picks %s', async (_, nextTurn) => {
    await expect(converse(['One.'], { nextTurn }, () => {})).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  it.each([
    ['after-turn', ['ended: One.']],
    ['when-idle', ['ended: One.', 'ended: Two.']],
    ['at-safe-point', ['cancelled after-tools']],
    ['now', ['cancelled now']],
  ] as const)('is stopped %s, and what waits opens the first turn of the next one', async (mode, ends) => {
    const stop$ = new Subject<LiveStop>();
    const { events, runner } = await converse(GATE, { stop$ }, ({ input$, open }) => {
      input$.next(later('a'));
      setImmediate(() => {
        stop$.next({ mode });
        open();
      });
    });
    expect(told(events).filter((line) => /^(ended|cancelled)/.test(line))).toEqual(ends);
    const { waitingInputs } = await runner.session('s');
    expect(waitingInputs.map(({ id }) => id)).toEqual(mode === 'when-idle' ? [] : ['a']);
    if (mode !== 'after-turn') return;
    expect(told(await all(runner.live(EMPTY, { session: 's' })))).toEqual([
      'turn',
      'delivered a to guide in round 0',
      'ended: Two.',
    ]);
  });

  it('is stopped at once when no safe point comes in time', async () => {
    const stop$ = new Subject<LiveStop>();
    const { events } = await converse(GATE, { stop$ }, () => stop$.next({ mode: 'at-safe-point', withinMs: 1 }));
    expect(told(events).at(-1)).toBe('cancelled now');
  });

  it.each(['after-turn', 'when-idle', 'at-safe-point', 'now'] as const)('ends at once while idle: %s', async (mode) => {
    const stop$ = new Subject<LiveStop>();
    const runner = createRunner({ agent: agent({ name: 'guide', model: replies('One.') }) });
    const events = all(runner.live(NEVER, { session: 's', stop$ }));
    stop$.next({ mode });
    expect(await events).toEqual([]);
  });
});

describe('what is said before a turn has begun', () => {
  it('is heard: inputs that follow the start at once', async () => {
    const model = replies('One.', 'Two.');
    const runner = createRunner({ agent: agent({ name: 'guide', model }), maxWaiting: 1 });
    const input$ = new Subject<UserInput>();
    const events = all(runner.run('go', { session: 's', input$ }));
    input$.next({ id: 'a', content: 'a', when: 'next-turn' });
    input$.next({ id: 'b', content: 'b' });
    expect(told(await events)).toEqual([
      'input-dropped b',
      'input-accepted a',
      'turn',
      'ended: One.',
      'turn',
      'delivered a to guide in round 0',
      'ended: Two.',
    ]);
  });

  it.each(['now', 'after-model'] as const)('is heard: a stop, %s', async (mode) => {
    const runner = createRunner({ agent: agent({ name: 'guide', model: replies(NEVER, 'One.') }) });
    const cancel$ = new Subject<CancelRequest>();
    const events = all(runner.run('go', { session: 's', cancel$ }));
    cancel$.next(mode === 'now' ? { mode } : { mode, withinMs: 1 });
    expect(told(await events)).toEqual(['turn', 'cancelled now']);
    expect(told(await all(runner.resume('s'))).at(-1)).toBe('ended: One.');
  });
});

describe('a process that was lost between two turns', () => {
  it('leaves its inputs to resume', async () => {
    const sessions = memorySessions();
    const input = { id: 'i', content: 'Shorter!' };
    const turn = { turn: 't', messages: [], status: 'succeeded' } as const;
    await sessions.append(
      's',
      [
        { type: 'turn-started', turn: 't', run: 'r', input: [{ role: 'user', content: 'Go.' }] },
        { type: 'input-accepted', input },
        { type: 'turn-ended', ...turn },
      ],
      0,
    );
    const runner = createRunner({ agent: agent({ name: 'guide', model: replies('Short.') }), sessions });
    await expect(all(runner.resume('s', { x: 1 }))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(told(await all(runner.resume('s')))).toEqual(['turn', 'delivered i to guide in round 0', 'ended: Short.']);
    await expect(all(runner.resume('s'))).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('stopping', () => {
  const stopped = async (mode: CancelMode, more: Partial<CancelRequest> = {}) => {
    const model = replies({ calls: [say('a')] }, { calls: [say('b')] }, 'Done.');
    const tool = echo();
    const cancel$ = new Subject<CancelRequest>();
    const request = defineMiddleware({
      name: 'when',
      wrapModel: (asked, next) => {
        cancel$.next({ mode, ...more });
        return next(asked);
      },
    });
    const runner = createRunner({ agent: agent({ name: 'guide', model, tools: [tool], use: [request] }) });
    const events = await all(runner.run('go', { session: 's', cancel$ }));
    return { events, model, tool, runner };
  };

  it.each([
    ['now', 1, 0],
    ['after-model', 1, 0],
    ['after-tools', 1, 1],
    ['after-round', 1, 1],
  ] as const)('%s: %i answers, %i calls of tools; the rest is done when it goes on', async (mode, asked, calls) => {
    const { events, model, tool, runner } = await stopped(mode);
    expect(told(events)).toEqual(['turn', `cancelled ${mode}`]);
    expect([model.requests.length, tool.calls.length]).toEqual([asked, calls]);
    const again = await all(runner.resume('s'));
    expect(again.at(-1)).toMatchObject({ type: 'turn-ended' });
  });

  it.each(['now', 'after-tools'] as const)('%s, while a question is open, asks it again', async (mode) => {
    const { tool, entered$, open$ } = gate();
    const sure = defineTool({
      name: 'sure',
      description: 'Asks.',
      run: (_, call) => (call.answer === undefined ? call.interrupt('Sure?') : `It is ${call.answer}.`),
    });
    const calls = [
      { name: 'sure', id: 'q' },
      { name: 'gate', id: 'g' },
    ];
    const cancel$ = new Subject<CancelRequest>();
    const runner = createRunner({
      agent: agent({ name: 'guide', model: replies({ calls }, 'Done.'), tools: [sure, tool] }),
    });
    const entered = new Promise<void>((resolve) => entered$.pipe(take(1)).subscribe(() => resolve()));
    const first = all(runner.run('go', { session: 's', cancel$ }));
    await entered;
    cancel$.next({ mode });
    open$.next('opened');
    const [end] = (await first).slice(-1);
    // A question that is open when the tools are at their end holds the turn there.
    expect(end).toMatchObject(mode === 'now' ? { status: 'cancelled', mode } : { status: 'waiting' });
    entered$.subscribe(() => setImmediate(() => open$.next('opened again')));
    const again = (await all(runner.resume('s'))).at(-1);
    expect(again).toMatchObject({ status: 'waiting', questions: [{ address: 'guide/tools#q', question: 'Sure?' }] });
    expect((await all(runner.resume('s', { 'guide/tools#q': 'yes' }))).at(-1)).toMatchObject({ text: 'Done.' });
  });

  it('of a turn goes on where it was, and does nothing twice', async () => {
    const model = replies({ calls: [say('a')] }, 'Done.');
    const tool = echo();
    const cancel$ = new Subject<CancelRequest>();
    let asked = 0;
    const request = defineMiddleware({
      name: 'when',
      wrapModel: (given, next) => {
        asked += 1;
        if (asked === 1) cancel$.next({ mode: 'after-tools' });
        return next(given);
      },
    });
    const runner = createRunner({ agent: agent({ name: 'guide', model, tools: [tool], use: [request] }) });
    expect(told(await all(runner.run('go', { session: 's', cancel$ })))).toEqual(['turn', 'cancelled after-tools']);
    expect(told(await all(runner.resume('s')))).toEqual(['turn', 'ended: Done.']);
    expect([model.requests.length, tool.calls]).toEqual([2, ['a']]);
    expect(talk((await runner.session('s')).messages)).toEqual([
      'user: go',
      'assistant:  [echo]',
      'tool: echo a',
      'assistant: Done.',
    ]);
  });
});

describe('a history that an agent made shorter', () => {
  it('stays short for further turns, and whole for its readers', async () => {
    const model = replies('A1', 'A2', 'In short.', 'A3', 'A4');
    const use = [summarise({ atMessages: 5, keep: 1, prompt: 'Sum up.' })];
    const runner = createRunner({ agent: agent({ name: 'guide', model, use }) });
    for (const question of ['Q1', 'Q2', 'Q3', 'Q4']) await all(runner.run(question, { session: 's' }));
    // The third question made it shorter; the fourth goes on with that.
    expect(talk(model.requests[4]?.messages ?? [])).toEqual([
      expect.stringContaining('In short.'),
      'user: Q3',
      'assistant: A3',
      'user: Q4',
    ]);
    const { messages, context } = await runner.session('s');
    expect(talk(messages)).toEqual([
      'user: Q1',
      'assistant: A1',
      'user: Q2',
      'assistant: A2',
      'user: Q3',
      'assistant: A3',
      'user: Q4',
      'assistant: A4',
    ]);
    expect(talk(context).slice(1)).toEqual(['user: Q3', 'assistant: A3', 'user: Q4', 'assistant: A4']);
    const [, second] = (await runner.session('s')).turns;
    const back = await runner.rollback('s', String(second?.turn));
    expect(back.context).toEqual(back.messages);
    expect(talk(back.context)).toHaveLength(4);
  });

  it.each([
    ['in order', (agents: Members): AnyAgent => sequentialAgents({ name: 'team', agents })],
    ['in a loop', (agents: Members): AnyAgent => loopAgents({ name: 'team', agents, maxRounds: 1 })],
    [
      'in a team of a team',
      (agents: Members): AnyAgent =>
        sequentialAgents({ name: 'outer', agents: [sequentialAgents({ name: 'team', agents })] }),
    ],
  ])('stays short when a member %s made it so, for further members and turns', async (_, teamOf) => {
    const first = replies('A1', 'A2', 'In short.', 'A3', 'A4');
    const second = replies('B1', 'B2', 'B3', 'B4');
    const use = [summarise({ atMessages: 7, keep: 1, prompt: 'Sum up.' })];
    const members: Members = [
      agent({ name: 'a', description: 'A', model: first, use }),
      agent({ name: 'b', description: 'B', model: second }),
    ];
    const runner = createRunner({ agent: teamOf(members) });
    for (const question of ['Q1', 'Q2', 'Q3', 'Q4']) await all(runner.run(question, { session: 's' }));
    // The third question made it shorter: what the other member heard then, and what both hear of the fourth, goes on with that.
    const told = [
      expect.stringContaining('In short.'),
      'user: Q3',
      'user: For context, from the agent "a":\nA3',
      'assistant: B3',
      'user: Q4',
      'user: For context, from the agent "a":\nA4',
    ];
    expect(talk(second.requests[2]?.messages ?? [])).toEqual(told.slice(0, 3));
    expect(talk(second.requests[3]?.messages ?? [])).toEqual(told);
    expect(talk(first.requests[4]?.messages ?? [])).toEqual([
      told[0],
      'user: Q3',
      'assistant: A3',
      'user: For context, from the agent "b":\nB3',
      'user: Q4',
    ]);
    const { messages } = await runner.session('s');
    expect(talk(messages).filter((text) => text.startsWith('user: '))).toEqual([
      'user: Q1',
      'user: Q2',
      'user: Q3',
      'user: Q4',
    ]);
  });
});
