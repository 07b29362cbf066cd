/** Routes over real sockets, against servers that fail as they are told; what is open is counted at the servers. */
import { firstValueFrom, lastValueFrom, toArray, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ChatRequest } from '../../../src/models/chat-model.js';
import { createModels, type Models } from '../../../src/models/router.js';
import type { RouteLimits } from '../../../src/models/routing/model-route.js';
import type { RouteDelta } from '../../../src/models/routing/route-target.js';
import { modelsFromEnvironment } from '../../../src/settings/read-settings.js';
import { failureOf } from '../model-at.js';
import { type Fault, type FaultServer, startFaultServer } from './fault-server.js';

const REQUEST: ChatRequest = { model: '', messages: [{ role: 'user', content: 'hello' }] };
const HELLO: Fault = { kind: 'answer', words: ['Hel', 'lo', '.'] };

interface Subject {
  readonly models: Models;
  readonly a: FaultServer;
  readonly b: FaultServer;
  /** The clock of the route: hedges, pauses and probes wait for it. */
  readonly clock: VirtualTimeScheduler;
  ask(limits?: RouteLimits): Promise<RouteDelta[]>;
}

/** A route over two servers. */
async function open(
  faultsOfA: readonly Fault[],
  faultsOfB: readonly Fault[] = [HELLO],
  route: object = {},
): Promise<Subject> {
  const [a, b] = await Promise.all(
    [faultsOfA, faultsOfB].map((faults) => startFaultServer((at) => faults[Math.min(at, faults.length - 1)] as Fault)),
  );
  const file = {
    factories: { A: { base_url: (a as FaultServer).url }, B: { base_url: (b as FaultServer).url } },
    routes: { chat: { targets: ['m@A', 'm@B'], ...route } },
  };
  const configuration = await modelsFromEnvironment({ RUNNEL_MODELS: 'f' }, async () => JSON.stringify(file));
  const clock = new VirtualTimeScheduler();
  const models = createModels(configuration, { scheduler: clock, random: () => 1 });
  onTestFinished(() => models.close());
  const ask: Subject['ask'] = (limits) =>
    lastValueFrom((models.answer as NonNullable<Models['answer']>)('route:chat', REQUEST, limits).pipe(toArray()));
  return { models, a: a as FaultServer, b: b as FaultServer, clock, ask };
}

/** The text behind the last retract. */
function textOf(deltas: readonly RouteDelta[]): string {
  const from = deltas.findLastIndex(({ type }) => type === 'retract') + 1;
  return deltas
    .slice(from)
    .map((delta) => (delta.type === 'text' ? delta.text : ''))
    .join('');
}

const servedBy = (deltas: readonly RouteDelta[]): string | undefined =>
  deltas.findLast((delta) => delta.type === 'served')?.target;

describe('a route over sockets', () => {
  it.each<[string, Fault]>([
    ['503', { kind: 'status', status: 503 }],
    ['500', { kind: 'status', status: 500 }],
    ['429', { kind: 'status', status: 429, headers: { 'retry-after': '7' } }],
    ['401', { kind: 'status', status: 401 }],
    ['a connection that is reset', { kind: 'reset' }],
    ['an answer that is cut before its first word', { kind: 'cut', words: [] }],
    ['broken JSON', { kind: 'broken-json', words: [] }],
  ])('does not show %s of its first target', async (_, fault) => {
    const { a, b, ask } = await open([fault]);
    const deltas = await ask();
    expect([textOf(deltas), servedBy(deltas)]).toEqual(['Hello.', 'm@B']);
    expect(deltas.some(({ type }) => type === 'retract')).toBe(false);
    await Promise.all([a.idle(), b.idle()]);
    expect([a.asked.length, b.asked.length]).toEqual([1, 1]);
  });

  it.each<[string, Fault]>([
    ['is cut', { kind: 'cut', words: ['Good', ' mor'] }],
    ['turns into broken JSON', { kind: 'broken-json', words: ['Good', ' mor'] }],
  ])('takes back a stream that %s after some words', async (_, fault) => {
    const { ask } = await open([fault]);
    const deltas = await ask();
    expect(deltas.map(({ type }) => type).filter((type) => type !== 'text')).toEqual([
      'served',
      'retract',
      'served',
      'finish',
    ]);
    expect(textOf(deltas)).toBe('Hello.');
  });

  it('continues a stream that is cut, and shows nothing twice', async () => {
    const { ask, b } = await open(
      [{ kind: 'cut', words: ['Good mor'] }],
      [{ kind: 'answer', words: ['Good ', 'morning', '.'] }],
    );
    expect(textOf(await ask({ afterTokens: 'continue' }))).toBe('Good morning.');
    expect(b.asked[0]?.messages.map(({ content }) => content).slice(0, 2)).toEqual(['hello', 'Good mor']);
  });

  it.each([400, 404, 413, 422])('passes %s on to the caller and to no other target', async (status) => {
    const { ask, b } = await open([{ kind: 'status', status }]);
    const error = await failureOf(ask());
    expect([error.code, error.details]).toEqual(['MODEL_REQUEST', { status }]);
    expect(b.asked).toHaveLength(0);
  });

  it('closes the socket of a silent target when the hedge has its first packet', async () => {
    const { a, b, clock, ask } = await open([{ kind: 'silence' }], [{ kind: 'held', words: ['Hello', '.'] }]);
    const answer = ask();
    await a.arrived(1);
    expect(b.asked).toHaveLength(0);
    clock.flush();
    await b.arrived(1);
    expect([a.open, b.open]).toEqual([1, 1]);
    b.release();
    expect(textOf(await answer)).toBe('Hello.');
    await a.idle();
    expect(a.open).toBe(0);
  });

  it('closes the socket of the hedge when the first target has a packet after all', async () => {
    const { a, b, clock, ask } = await open([{ kind: 'held', words: ['Hello', '.'] }], [{ kind: 'silence' }]);
    const answer = ask();
    await a.arrived(1);
    clock.flush();
    await b.arrived(1);
    a.release();
    const deltas = await answer;
    expect([textOf(deltas), servedBy(deltas)]).toEqual(['Hello.', 'm@A']);
    await b.idle();
  });

  it('closes all sockets when it is unsubscribed', async () => {
    const { models, a, b, clock } = await open([{ kind: 'silence' }], [{ kind: 'silence' }]);
    const reading = models.chat('route:chat').model.chat(REQUEST).subscribe();
    await a.arrived(1);
    clock.flush();
    await b.arrived(1);
    reading.unsubscribe();
    await Promise.all([a.idle(), b.idle()]);
    const states = await (await models.routes?.())?.states();
    expect(states?.map(({ failed }) => failed)).toEqual([0, 0]);
  });

  it('opens no socket to a target whose breaker is open, and says how all targets are', async () => {
    const { models, a, ask } = await open([{ kind: 'status', status: 503 }]);
    for (let at = 0; at < 8; at += 1) expect(textOf(await ask())).toBe('Hello.');
    expect(a.asked).toHaveLength(5);
    const states = await (await models.routes?.())?.states();
    expect(states).toMatchObject([
      { target: 'm@A', model: 'm', provider: 'A', routes: ['chat'], state: 'open', failed: 0, until: 300_000 },
      { target: 'm@B', model: 'm', provider: 'B', routes: ['chat'], state: 'closed', succeeded: 8, failed: 0 },
    ]);
    expect(states?.[0]?.reason).toMatch(
      /^5 failures in a row, the last one: Model "m" at 127\.0\.0\.1:\d+\/v1\/chat\/completions answered 503/,
    );
  });

  it('closes the breaker of a target by a probe of one token after 5 min', async () => {
    const down: Fault = { kind: 'status', status: 503 };
    const { models, a, clock, ask } = await open([down, down, down, down, down, HELLO]);
    for (let at = 0; at < 5; at += 1) await ask();
    clock.schedule(() => {}, 300_000);
    clock.flush();
    expect(servedBy(await ask())).toBe('m@B');
    await a.arrived(6);
    expect(a.asked[5]).toMatchObject({ messages: [{ content: 'hi' }], max_tokens: 1 });
    await a.idle();
    await expect.poll(async () => (await (await models.routes?.())?.states())?.[0]?.state).toBe('closed');
    expect(servedBy(await ask())).toBe('m@A');
  });

  it('asks no target whose key was refused, until it is closed by hand', async () => {
    const { models, a, clock, ask } = await open([{ kind: 'status', status: 401 }, HELLO]);
    expect(servedBy(await ask())).toBe('m@B');
    clock.schedule(() => {}, 900_000);
    clock.flush();
    expect(servedBy(await ask())).toBe('m@B');
    expect(a.asked).toHaveLength(1);
    const routes = await models.routes?.();
    expect(await routes?.force('m@A', 'closed')).toMatchObject({ target: 'm@A', state: 'closed' });
    expect(servedBy(await ask())).toBe('m@A');
    expect(await routes?.force('m@A', 'open')).toMatchObject({ state: 'open', reason: 'opened by an administrator' });
    expect(servedBy(await ask())).toBe('m@B');
    expect((await failureOf(routes?.force('x@A', 'open') as Promise<unknown>)).code).toBe('NOT_FOUND');
  });

  it('answers an id of a single model as a route of one target, and the empty id by the route "chat"', async () => {
    const { models, a, b } = await open([HELLO]);
    const answer = models.answer as NonNullable<Models['answer']>;
    const first = await firstValueFrom(answer('m@B', REQUEST));
    expect(first).toEqual({ type: 'served', target: 'm@B', model: 'm', provider: 'B', attempts: 1 });
    expect(await firstValueFrom(answer('', REQUEST))).toMatchObject({ target: 'm@A' });
    expect([a.asked.length, b.asked.length]).toEqual([1, 1]);
  });
});
