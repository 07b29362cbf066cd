/** Questions of members that work side by side: answered one by one, in every order, each answer in a process of its own. */

import { lastValueFrom, type Observable } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type AnyAgent,
  agent,
  agentTool,
  createRunner,
  deepAgent,
  fileSessions,
  handoff,
  parallelAgents,
  type RunnerEvent,
  sequentialAgents,
} from '../../../src/entries/agents.js';
import { defineTool } from '../../../src/index.js';
import { makeFolder, removeFolder } from '../../stores/support/temporary-folder.js';
import { type RepliesModel, type Reply, replies, talk } from '../loop/support.js';

const ORDERS = [
  ['hotel', 'flight', 'car'],
  ['hotel', 'car', 'flight'],
  ['flight', 'hotel', 'car'],
  ['flight', 'car', 'hotel'],
  ['car', 'hotel', 'flight'],
  ['car', 'flight', 'hotel'],
] as const;

/** A team that three members ask in, at three depths; made anew for every process, on the same models. */
function office() {
  const booked: string[] = [];
  const models: Record<string, RepliesModel> = {};
  const scripted = (name: string, ...list: readonly Reply[]): RepliesModel => {
    models[name] ??= replies(...list);
    return models[name];
  };
  const booking = (name: string): AnyAgent =>
    agent({
      name,
      description: name,
      model: scripted(name, { calls: [{ name: 'book', id: name }] }, `${name} is booked.`),
      tools: [
        defineTool({
          name: 'book',
          description: 'Books.',
          run: (_, call) => {
            if (call.answer === undefined) return call.interrupt(`${name}?`);
            booked.push(name);
            return `${name}: ${call.answer}`;
          },
        }),
      ],
    });
  const make = (): AnyAgent =>
    sequentialAgents({
      name: 'office',
      agents: [
        parallelAgents({
          name: 'all',
          agents: [
            booking('hotel'),
            handoff({
              name: 'travel',
              agents: [
                agent({ name: 'desk', model: scripted('desk', { calls: [{ name: 'transfer_to_flight' }] }) }),
                booking('flight'),
              ],
            }),
            agent({
              name: 'driver',
              model: scripted('driver', { calls: [{ name: 'car', arguments: { request: 'A car.' } }] }, 'All set.'),
              tools: [agentTool(booking('car'))],
            }),
          ],
        }),
        agent({ name: 'clerk', model: scripted('clerk', 'Your trip is ready.') }),
      ],
    });
  return { make, booked, models };
}

const ADDRESSES = {
  hotel: 'office/all/hotel/tools#hotel',
  flight: 'office/all/travel/flight/tools#flight',
  car: 'office/all/driver/agents[0]/car/tools#car',
} as const;

async function ended(events$: Observable<RunnerEvent>) {
  const end = await lastValueFrom(events$);
  if (end.type !== 'turn-ended') throw new Error('The turn has no end.');
  return end;
}

describe('questions of three members at work side by side', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await makeFolder();
  });
  afterEach(() => removeFolder(folder));

  /** A process: sessions from the folder, and checkpoints as JSON. */
  function processes(make: () => AnyAgent) {
    const saved = new Map<string, string>();
    const checkpoints = {
      save: async (checkpoint: { readonly run: string }) => void saved.set(checkpoint.run, JSON.stringify(checkpoint)),
      load: async (run: string) => (saved.has(run) ? JSON.parse(saved.get(run) as string) : undefined),
      delete: async (run: string) => void saved.delete(run),
    };
    return () => createRunner({ agent: make(), sessions: fileSessions(folder), checkpoints: checkpoints as never });
  }

  it.each(ORDERS)('are answered %s, %s, %s, and no model and no tool works twice', async (...order) => {
    const { make, booked, models } = office();
    const start = processes(make);
    let end = await ended(start().run('Book my trip.', { session: 's' }));
    for (const [at, name] of order.entries()) {
      const open = end.status === 'waiting' ? end.questions.map(({ address }) => address) : [];
      expect(new Set(open)).toEqual(new Set(order.slice(at).map((one) => ADDRESSES[one])));
      expect(booked).toEqual(order.slice(0, at));
      end = await ended(start().resume('s', { [ADDRESSES[name]]: 'yes' }));
    }
    expect(end).toMatchObject({ status: 'succeeded', text: 'Your trip is ready.' });
    expect(booked).toEqual(order);
    expect(Object.fromEntries(Object.entries(models).map(([name, { requests }]) => [name, requests.length]))).toEqual({
      hotel: 2,
      desk: 1,
      flight: 2,
      driver: 2,
      car: 2,
      clerk: 1,
    });
    expect(talk(models.clerk?.requests[0]?.messages ?? []).map((line) => line.split('\n').at(-1))).toEqual([
      'user: Book my trip.',
      'hotel is booked.',
      '(Handed over to flight.)',
      'flight is booked.',
      'All set.',
    ]);
  });

  it('are answered all at once, and the answers reach those that asked', async () => {
    const { make, booked, models } = office();
    const start = processes(make);
    await ended(start().run('Book my trip.', { session: 's' }));
    const answers = { [ADDRESSES.car]: 'red', [ADDRESSES.flight]: 'window', [ADDRESSES.hotel]: 'quiet' };
    expect(await ended(start().resume('s', answers))).toMatchObject({ status: 'succeeded' });
    expect([...booked].sort()).toEqual(['car', 'flight', 'hotel']);
    expect(['hotel', 'flight', 'car'].map((name) => talk(models[name]?.requests[1]?.messages ?? []).at(-1))).toEqual([
      'tool: hotel: quiet',
      'tool: flight: window',
      'tool: car: red',
    ]);
  });

  it('stay open when an answer names an address that no member asks at', async () => {
    const { make, booked } = office();
    const start = processes(make);
    await ended(start().run('Book my trip.', { session: 's' }));
    await expect(ended(start().resume('s', { 'office/all/hotel/tools#other': 'yes' }))).rejects.toMatchObject({
      code: 'ANSWER_UNKNOWN',
    });
    expect(booked).toEqual([]);
    const end = await ended(start().resume('s', { [ADDRESSES.hotel]: 'yes' }));
    expect(end.status === 'waiting' && end.questions).toHaveLength(2);
  });

  it('are those of several helpers of an agent for long work, too', async () => {
    const done: string[] = [];
    const model = replies(
      {
        calls: [
          { name: 'delegate', arguments: { request: 'a' }, id: 'one' },
          { name: 'delegate', arguments: { agent: 'general', request: 'b' }, id: 'two' },
        ],
      },
      { calls: [{ name: 'ask', id: 'first' }] },
      { calls: [{ name: 'ask', id: 'second' }] },
      'Found.',
      'Found.',
      'Done.',
    );
    const ask = defineTool({
      name: 'ask',
      description: 'Asks.',
      run: (_, call) => {
        if (call.answer === undefined) return call.interrupt('?');
        done.push(String(call.answer));
        return 'ok';
      },
    });
    const start = processes(() => deepAgent({ name: 'deep', model, tools: [ask] }));
    const first = await ended(start().run('Go.', { session: 's' }));
    const addresses = first.status === 'waiting' ? first.questions.map(({ address }) => address) : [];
    expect(addresses).toEqual(['deep/agents[0]/general/tools#first', 'deep/agents[1]/general/tools#second']);
    const second = await ended(start().resume('s', { [addresses[1] as string]: 'second' }));
    expect(second).toMatchObject({ status: 'waiting', questions: [{ address: addresses[0] }] });
    expect(await ended(start().resume('s', { [addresses[0] as string]: 'first' }))).toMatchObject({ text: 'Done.' });
    expect(done).toEqual(['second', 'first']);
  });
});
