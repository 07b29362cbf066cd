/** Rows of a log and snapshots that no run wrote: they end their run with an error that says so, or are taken as the data they are. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Checkpoint } from '../../src/graph/state.js';
import type { JsonObject } from '../../src/json.js';
import type { LoggedEvent, RunLog } from '../../src/records/run-log.js';
import { documentOf, PROBE } from '../transport/support/documents.js';
import { durableStores } from '../transport/support/durable-stores.js';
import { openStream } from '../transport/support/event-stream.js';
import { startServer } from '../transport/support/server.js';

const ENV = { RUNNEL_LEASE_MS: '400' };

/** Texts that would show if they were evaluated. */
const CODE = [
  '{{ 70001 * 190901 }}',
  '$'.concat('{70001 * 190901}'),
  '{sys.query}',
  '<script>globalThis.isEvaluated = 1</script>',
  "constructor.constructor('return 70001 * 190901')()",
].join(' ');

/** What evaluated code would leave, with more digits than an id repeats by chance. */
const EVALUATED = String(70001 * 190901);

/** A run with one Probe at work, left by its server, and read by another one as `forge` says. */
async function recovered(forge: { event?: (seq: number) => LoggedEvent; snapshot?: (given: Checkpoint) => unknown }) {
  const stores = durableStores({ areKilled: true });
  const first = await startServer({ stores, env: ENV });
  const agent = await first.agent(PROBE);
  const stream = await openStream(`${first.url}/api/v1/agents/${agent}/stream`, { body: { query: 'x' } });
  await first.probes.next();
  await first.stop();
  const run = String(stream.headers.get('x-run-id'));
  if (forge.event !== undefined) {
    let last = 0;
    for (const { seq } of (await stores.log.read('local', run, 0, { maxEvents: 1_000, maxBytes: 1e6 })) ?? [])
      last = seq;
    await stores.log.append('local', run, { events: [forge.event(last + 1)] });
  }
  const log: RunLog = {
    ...stores.log,
    async snapshot(tenant, id, atMost) {
      const given = await stores.log.snapshot(tenant, id, atMost);
      if (forge.snapshot === undefined || given === undefined) return given;
      return forge.snapshot(structuredClone(given)) as Checkpoint;
    },
  };
  const second = await startServer({ stores: { ...stores, log }, env: ENV });
  const events = () => openStream(`${second.url}/api/v1/agents/${agent}/runs/${run}/events`);
  // Where the run goes on, it has one Probe to play.
  void second.probes.next().then((probe) => probe.settle('done'));
  let record = await stores.runs.find('local', run);
  while (record?.status === 'running') {
    await nextTurn();
    record = await stores.runs.find('local', run);
  }
  return { second, record, events };
}

/** Other runs, and the clients of this one, are served as ever. */
async function expectServed({ second, events }: Awaited<ReturnType<typeof recovered>>): Promise<void> {
  expect((await fetch(`${second.url}/healthz`)).status).toBe(200);
  const stream = await events();
  const frames = await stream.rest();
  expect(JSON.stringify(frames)).not.toContain(EVALUATED);
  const dsl = documentOf({ begin: ['Begin', ['Message:A']], 'Message:A': ['Message', [], { content: ['fine'] }] });
  const { body } = await second.call('POST', '/api/v1/agents', { title: 'Another', dsl });
  const answer = await second.call('POST', `/api/v1/agents/${body.data.id}/run`, { query: 'x' });
  expect(JSON.stringify(answer.body)).toContain('fine');
  expect((globalThis as { isEvaluated?: number }).isEvaluated).toBeUndefined();
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
}

const stateOf = (given: Checkpoint): JsonObject => given.state as JsonObject;
const rootOf = (given: Checkpoint): JsonObject => stateOf(given).root as JsonObject;
const tokensOf = (given: Checkpoint): JsonObject[] => rootOf(given).tokens as JsonObject[];
const tokenWith = (change: JsonObject) => (given: Checkpoint) => {
  Object.assign(tokensOf(given)[0] as JsonObject, change);
  return given;
};
const stateWith = (change: JsonObject) => (given: Checkpoint) => ({
  ...given,
  state: { ...stateOf(given), ...change },
});
const nested = (depth: number): JsonObject => {
  let value: JsonObject = {};
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
};

it.each<[string, (given: Checkpoint) => unknown]>([
  ['is a text', () => 'snapshot'],
  ['is a list', () => []],
  ['is empty', () => ({})],
  ['has another version', (given) => ({ ...given, version: 2 })],
  ['has a number that is a text', (given) => ({ ...given, seq: '1' })],
  ['has a negative number', (given) => ({ ...given, seq: -1 })],
  ['is of another graph', (given) => ({ ...given, planHash: 'another' })],
  ['has a hash that is none', (given) => ({ ...given, planHash: { toString: 1 } })],
  ['has a field more', (given) => ({ ...given, extra: 1 })],
  ['has no state', (given) => ({ ...given, state: {} })],
  ['has a state of texts', (given) => ({ ...given, state: 'x' })],
  ['has a token on an unknown node', tokenWith({ node: 'Code:Evil' })],
  ['has a token on a prototype', tokenWith({ node: '__proto__' })],
  ['has a token on an inherited name', tokenWith({ node: 'constructor' })],
  ['has a token without a number', tokenWith({ id: 'x' })],
  ['has a token that was never given out', tokenWith({ id: 1_000_000 })],
  ['has a token in a status of our own', tokenWith({ status: 'running' })],
  ['has a token that is held at no join', tokenWith({ status: 'held' })],
  ['has a pass through a body that is none', tokenWith({ frames: [{ key: '0', tokens: [] }] })],
  ['has a payload that is a list', tokenWith({ payload: [] as never })],
  [
    'has a token twice',
    (given) => {
      tokensOf(given).push(tokensOf(given)[0] as JsonObject);
      return given;
    },
  ],
  ['has outputs of an unknown node', stateWith({ cells: { 'Code:Evil': {} } })],
  ['has outputs that are none', stateWith({ cells: { begin: 'x' } })],
  ['has variables that are a list', stateWith({ variables: [] })],
  ['has a step that is none', stateWith({ step: -5 })],
  ['has a usage of texts', stateWith({ usage: { promptTokens: '1', completionTokens: 1, totalTokens: 1, calls: 1 } })],
])('ends a run whose snapshot %s', async (_, snapshot) => {
  const result = await recovered({ snapshot });
  const { status, error } = result.record ?? {};
  expect({ status, code: error?.code }).toMatchObject({
    status: 'failed',
    code: expect.stringMatching(/^(?:CHECKPOINT_INVALID|PLAN_CHANGED|RUN_LOST)$/),
  });
  expect(error?.message).not.toMatch(/(?<!received )undefined|\[object|Cannot read prop/);
  await expectServed(result);
});

it.each<[string, (given: Checkpoint) => unknown]>([
  ['code in its variables', stateWith({ variables: { 'sys.query': CODE, 'sys.history': [CODE], 'env.x': CODE } })],
  ['code in its outputs', stateWith({ cells: { begin: { content: CODE } } })],
  [
    'names of prototypes',
    (given) => ({
      ...given,
      state: JSON.parse(
        JSON.stringify(given.state).replace(
          '"variables":{',
          '"variables":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},',
        ),
      ),
    }),
  ],
  ['values that are nested deeply', stateWith({ variables: { 'sys.query': 'x', deep: nested(5_000) } })],
  ['a payload of its own', tokenWith({ payload: { code: CODE }, nodeState: { code: CODE }, answer: CODE })],
])('takes %s in a snapshot as data, or ends the run', async (_, snapshot) => {
  const result = await recovered({ snapshot });
  expect(['succeeded', 'failed']).toContain(result.record?.status);
  await expectServed(result);
});

const row =
  (event: string, value: unknown) =>
  (seq: number): LoggedEvent => ({
    seq,
    event,
    json: typeof value === 'string' ? value : JSON.stringify(value).replaceAll('"SEQ"', String(seq)),
  });
const head = { seq: 'SEQ', run: 'r', at: 0, node: 'Probe:P', token: 2 };

it.each<[string, (seq: number) => LoggedEvent]>([
  ['is no JSON', row('node-settled', '{"type":')],
  ['is null', row('node-settled', 'null')],
  ['settles a node without outputs', row('node-settled', { ...head, type: 'node-settled' })],
  ['settles a node with outputs that are a text', row('node-settled', { ...head, type: 'node-settled', outputs: 'x' })],
  ['settles a token that is none', row('node-settled', { ...head, type: 'node-settled', token: 77, outputs: {} })],
  ['settles a token that is a text', row('node-settled', { ...head, type: 'node-settled', token: 'x', outputs: {} })],
  [
    'settles it into an unknown node',
    row('node-settled', { ...head, type: 'node-settled', outputs: {}, next: ['Code:Evil'] }),
  ],
  [
    'writes to a place that is none',
    row('node-settled', { ...head, type: 'node-settled', outputs: {}, writes: [{ to: 'x', value: 1 }] }),
  ],
  ['opens the body of a node without one', row('body-opened', { ...head, type: 'body-opened', key: '0' })],
])('ends a run with a row that %s', async (_, event) => {
  const result = await recovered({ event });
  const { status, error } = result.record ?? {};
  expect({ status, code: error?.code }).toMatchObject({
    status: 'failed',
    code: expect.stringMatching(/^(?:CHECKPOINT_INVALID|RUN_LOST|LOG_INVALID|INTERNAL)$/),
  });
  expect(error?.message).not.toMatch(/(?<!received )undefined|\[object|Cannot read prop/);
  await expectServed(result);
});

it.each<[string, (seq: number) => LoggedEvent]>([
  ['a text in place of an event', row('node-settled', '"x"')],
  ['the end of a body that a node does not have', row('body-closed', { ...head, type: 'body-closed', key: '0' })],
  ['a type that is unknown', row('unheard-of', { ...head, type: 'unheard-of' })],
  ['the type of a prototype', row('__proto__', { ...head, type: '__proto__' })],
  [
    'another number than its row',
    row('node-delta', { ...head, seq: 1, type: 'node-delta', port: 'content', text: 'x' }),
  ],
  [
    'a run of another tenant',
    row('node-delta', { ...head, run: 'of-another', tenant: 'other', type: 'node-delta', port: 'content', text: 'x' }),
  ],
  ['an unknown node', row('node-started', { ...head, node: 'Code:Evil', type: 'node-started', inputs: {} })],
  ['text that is none', row('node-delta', { ...head, type: 'node-delta', port: 'content', text: { a: 1 } })],
  ['code as text', row('node-delta', { ...head, type: 'node-delta', port: 'content', text: CODE })],
  ['usage that is none', row('node-usage', { ...head, type: 'node-usage', promptTokens: 'x', completionTokens: null })],
  ['an end that is none', row('run-settled', { type: 'run-settled', seq: 'SEQ' })],
  [
    'an end with outputs that are none',
    row('run-settled', { type: 'run-settled', seq: 'SEQ', run: 'r', at: 0, outputs: 5, usage: 'x' }),
  ],
  ['a failure without an error', row('run-failed', { type: 'run-failed', seq: 'SEQ', run: 'r', at: 0 })],
  [
    'a pending question that is none',
    row('run-interrupted', { type: 'run-interrupted', seq: 'SEQ', run: 'r', at: 0, pending: 'x' }),
  ],
])('survives a row with %s', async (_, event) => {
  const result = await recovered({ event });
  expect(['succeeded', 'failed', 'interrupted']).toContain(result.record?.status);
  await expectServed(result);
});
