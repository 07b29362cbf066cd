/** Teams in conversations: inputs while they work, stops, questions over a restart. */
import { lastValueFrom, Observable, Subject, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AnyAgent,
  agent,
  agentFrom,
  type CancelRequest,
  createRunner,
  fileSessions,
  memorySessions,
  parallelAgents,
  planExecute,
  type RunnerEvent,
  sequentialAgents,
  supervisor,
  type UserInput,
} from '../../../src/entries/agents.js';
import { defineTool } from '../../../src/index.js';
import { makeFolder, removeFolder } from '../../stores/support/temporary-folder.js';
import { replies, talk } from '../loop/support.js';

/** A tool during whose first call something is said, and whose result comes behind it. */
function pause(say: () => void) {
  const open$ = new Subject<string>();
  const tool = defineTool({
    name: 'pause',
    description: 'Waits.',
    run: () =>
      new Observable<string>((subscriber) => {
        const waiting = open$.subscribe((text) => {
          subscriber.next(text);
          subscriber.complete();
        });
        say();
        return waiting;
      }),
  });
  return { tool, go: () => open$.next('waited') };
}

async function turn(events$: Observable<RunnerEvent>, heard: (event: RunnerEvent) => void = () => {}) {
  const events = await lastValueFrom(
    new Observable<RunnerEvent>((subscriber) =>
      events$.subscribe({
        next: (event) => {
          heard(event);
          subscriber.next(event);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      }),
    ).pipe(toArray()),
  );
  const end = events.at(-1);
  if (end?.type !== 'turn-ended') throw new Error('The turn has no end.');
  return { events, end };
}

describe('an input without `to`', () => {
  it('reaches the member that speaks, and later members hear it as said by the user', async () => {
    const input$ = new Subject<UserInput>();
    const { tool, go } = pause(() => input$.next({ id: 'i', content: 'Shorter!' }));
    const [writer, critic] = [replies({ calls: [{ name: 'pause' }] }, 'Short.'), replies('Fine.')];
    const team = sequentialAgents({
      name: 'desk',
      agents: [agent({ name: 'writer', model: writer, tools: [tool] }), agent({ name: 'critic', model: critic })],
    });
    const runner = createRunner({ agent: team });
    const { events } = await turn(
      runner.run('Write.', { session: 's', input$ }),
      ({ type }) => type === 'input-accepted' && go(),
    );
    expect(talk(writer.requests[1]?.messages ?? []).at(-1)).toBe('user: Shorter!');
    expect(talk(critic.requests[0]?.messages ?? [])).toContain('user: Shorter!');
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'input-delivered', id: 'i', agent: 'desk/writer', round: 2 }),
    );
    expect((await runner.session('s')).messages.filter(({ id }) => id === 'i')).toHaveLength(1);
  });

  it('that preempts ends the team at the safe point of its member, and opens another turn', async () => {
    const input$ = new Subject<UserInput>();
    const { tool, go } = pause(() => input$.next({ id: 'i', content: 'Other!', when: 'preempt' }));
    const [writer, critic] = [replies({ calls: [{ name: 'pause' }] }, 'Second.'), replies('Fine.')];
    const team = sequentialAgents({
      name: 'desk',
      agents: [agent({ name: 'writer', model: writer, tools: [tool] }), agent({ name: 'critic', model: critic })],
    });
    const { events } = await turn(
      createRunner({ agent: team }).run('Write.', { session: 's', input$ }),
      ({ type }) => type === 'input-accepted' && go(),
    );
    expect(
      events.flatMap((event) => (event.type === 'turn-ended' && event.status === 'succeeded' ? [event.reason] : [])),
    ).toEqual(['preempted', 'answered']);
    expect(critic.requests).toHaveLength(1);
  });

  it('waits until agents that work side by side are done, and one with `to` reaches its agent', async () => {
    const input$ = new Subject<UserInput>();
    const { tool, go } = pause(() => {
      input$.next({ id: 'all', content: 'Everyone!' });
      input$.next({ id: 'one', content: 'You!', to: 'a' });
    });
    const model = replies({ calls: [{ name: 'pause' }] }, 'A.');
    const team = parallelAgents({
      name: 'both',
      agents: [agent({ name: 'a', model, tools: [tool] }), agent({ name: 'b', model: replies('B.') })],
    });
    const { events } = await turn(createRunner({ agent: team }).run('Go.', { session: 's', input$ }), (event) => {
      if (event.type === 'input-accepted' && event.id === 'one') go();
    });
    const delivered = events.flatMap((event) =>
      event.type === 'input-delivered' ? [`${event.id} ${event.agent} ${event.round}`] : [],
    );
    expect(delivered).toEqual(['one both/a 2', 'all both 0']);
  });

  it('is kept by a plan that is worked off, without the work on it', async () => {
    const input$ = new Subject<UserInput>();
    const { tool, go } = pause(() => input$.next({ id: 'i', content: 'Cheap!' }));
    const worker = replies({ calls: [{ name: 'pause' }] }, 'Done.');
    const planner = replies('{"steps": ["Do it."]}', '{"answer": "All done."}');
    const team = planExecute({
      name: 'plan',
      model: planner,
      executor: agent({ name: 'worker', model: worker, tools: [tool] }),
    });
    const runner = createRunner({ agent: team });
    await turn(runner.run('Go.', { session: 's', input$ }), ({ type }) => type === 'input-accepted' && go());
    expect(talk((await runner.session('s')).messages)).toEqual(['user: Go.', 'user: Cheap!', 'assistant: All done.']);
    expect(talk(planner.requests[1]?.messages ?? [])).toContain('user: Cheap!');
  });
});

describe('a stop', () => {
  it.each(['after-tools', 'after-round', 'after-model'] as const)(
    '%s holds at a member, and goes on there',
    async (mode) => {
      const cancel$ = new Subject<CancelRequest>();
      const { tool, go } = pause(() => {});
      const [a, b] = [replies({ calls: [{ name: 'pause' }] }, 'A.'), replies('B.')];
      const make = () =>
        sequentialAgents({
          name: 'desk',
          agents: [agent({ name: 'a', model: a, tools: [tool] }), agent({ name: 'b', model: b })],
        });
      const runner = createRunner({ agent: make() });
      let calls = 0;
      const heard = (event: RunnerEvent): void => {
        if (event.type === 'node-started' && event.node.endsWith('a/model') && mode === 'after-model')
          cancel$.next({ mode });
        if (event.type !== 'node-started' || !event.node.endsWith('a/tools')) return;
        calls += 1;
        cancel$.next({ mode });
        queueMicrotask(go);
      };
      const { end } = await turn(runner.run('Go.', { session: 's', cancel$ }), heard);
      expect(end).toMatchObject({ status: 'cancelled', mode });
      expect(b.requests).toHaveLength(0);
      const again = await turn(runner.resume('s'), heard);
      expect(again.end).toMatchObject({ status: 'succeeded', text: 'B.' });
      expect([a.requests.length, b.requests.length, calls]).toEqual([2, 1, 1]);
    },
  );
});

describe('questions of a team', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await makeFolder();
  });
  afterEach(() => removeFolder(folder));

  it.each(['memory', 'files'] as const)('are answered one by one over a restart, with sessions in %s', async (kind) => {
    const sessions = kind === 'memory' ? memorySessions() : fileSessions(folder);
    const saved = new Map<string, string>();
    const checkpoints = {
      save: async (checkpoint: { readonly run: string }) => void saved.set(checkpoint.run, JSON.stringify(checkpoint)),
      load: async (run: string) => (saved.has(run) ? JSON.parse(saved.get(run) as string) : undefined),
      delete: async (run: string) => void saved.delete(run),
    };
    const done: string[] = [];
    const asking = (name: string): AnyAgent =>
      agentFrom({
        name,
        description: name,
        run: (_, at) => {
          if (at.answer === undefined) return at.interrupt(`${name}?`);
          done.push(name);
          return `${name} ${at.answer}`;
        },
      });
    const lead = replies({ calls: [{ name: 'transfer_to_both' }] }, 'Booked.');
    const make = () =>
      createRunner({
        agent: supervisor({
          name: 'team',
          lead: agent({ name: 'lead', model: lead }),
          agents: [parallelAgents({ name: 'both', agents: [asking('hotel'), asking('flight')] })],
        }),
        sessions,
        checkpoints: checkpoints as never,
      });
    const first = await turn(make().run('Book.', { session: 's' }));
    const addresses = first.end.status === 'waiting' ? first.end.questions.map(({ address }) => address) : [];
    expect(addresses).toEqual(['team/both/hotel/run', 'team/both/flight/run']);
    const second = await turn(make().resume('s', { 'team/both/flight/run': 'window' }));
    expect(second.end).toMatchObject({ status: 'waiting', questions: [{ address: 'team/both/hotel/run' }] });
    const last = await turn(make().resume('s', { 'team/both/hotel/run': 'quiet' }));
    expect(last.end).toMatchObject({ status: 'succeeded', text: 'Booked.' });
    expect(done).toEqual(['flight', 'hotel']);
    expect(lead.requests).toHaveLength(2);
    expect(talk(lead.requests[1]?.messages ?? []).slice(3)).toEqual([
      'user: For context, from the agent "hotel":\nhotel quiet',
      'user: For context, from the agent "flight":\nflight window',
    ]);
  });
});
