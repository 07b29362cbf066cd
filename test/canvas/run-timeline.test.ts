import { lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { type TimelineEvent, timelineOf } from '../../src/canvas/run-timeline.js';
import { MAX_ACTIVATIONS, MAX_EMISSIONS, MAX_RUN_EMISSIONS } from '../../src/canvas/timeline.js';
import { runTurn } from '../../src/canvas/turn.js';
import { toWireEvents, type WireEvent, type WireEventName } from '../../src/canvas/wire-events.js';
import type { RunEvent } from '../../src/graph/events.js';
import type { Json, JsonObject } from '../../src/json.js';
import { modelsFromEnvironment } from '../../src/models/configuration.js';
import { createModels } from '../../src/models/router.js';

const header = (seq: number, at: number) => ({ run: 'r', seq, at });
const wire = (event: WireEventName, data: JsonObject): WireEvent => ({
  event,
  message_id: 'm',
  created_at: 1,
  task_id: 's',
  session_id: 's',
  data,
});

const failed = (seq: number, at: number, of: { readonly node: string; readonly token: number }): RunEvent => ({
  ...header(seq, at),
  type: 'node-failed',
  ...of,
  error: { code: 'NODE_FAILED', message: 'no' },
  outputs: {},
  elapsedMs: 10,
  // biome-ignore lint/suspicious/noThenProperty: it is no promise
  then: 'retry',
});

const component = (name: string, params: Json, downstream: string[], upstream: string[], parent?: string): Json => ({
  obj: { component_name: name, params },
  downstream,
  upstream,
  ...(parent === undefined ? {} : { parent_id: parent }),
});

describe('timelineOf', () => {
  it('knows nothing before the first event', () => {
    expect(timelineOf([])).toEqual({
      status: 'running',
      lastSeq: 0,
      usage: { promptTokens: 0, completionTokens: 0, totalTokens: 0, calls: 0 },
      activations: [],
      omitted: 0,
      nodes: [],
    });
  });

  it('begins with the first moment known to the millisecond, not with the second that it lies in', () => {
    const node = { component_id: 'a', component_type: 'T' };
    const { startedAtMs, endedAtMs } = timelineOf([
      wire('workflow_started', { inputs: {} }),
      wire('node_started', { ...node, at_ms: 1_900 }),
      wire('node_finished', { ...node, at_ms: 1_940, elapsed_time: 0.04 }),
      wire('node_started', { ...node, at_ms: 1_941 }),
      wire('workflow_finished', { outputs: {}, elapsed_time: 0.05 }),
    ]);
    expect({ startedAtMs, endedAtMs }).toEqual({ startedAtMs: 1_900, endedAtMs: 1_950 });
  });

  it('tells tries, pieces of text and usage apart', () => {
    const a = { node: 'a', token: 1 };
    const events: RunEvent[] = [
      { ...header(1, 100), type: 'run-started', input: {}, resumed: false },
      { ...header(2, 110), type: 'node-started', ...a, attempt: 1 },
      failed(3, 120, a),
      { ...header(4, 130), type: 'node-started', ...a, attempt: 2 },
      { ...header(5, 131), type: 'node-delta', ...a, port: 'thinking', text: 'hm' },
      { ...header(6, 132), type: 'node-delta', ...a, port: 'content', text: 'yes' },
      { ...header(7, 133), type: 'node-delta', ...a, port: 'content', text: '!' },
      { ...header(8, 134), type: 'node-usage', ...a, promptTokens: 3, completionTokens: 2, totalTokens: 5 },
      { ...header(9, 140), type: 'node-settled', ...a, outputs: {}, elapsedMs: 10 },
      { ...header(10, 141), type: 'node-skipped', node: 'b', token: 2, missing: ['x'] },
      { ...header(11, 150), type: 'run-settled', outputs: {}, elapsedMs: 50 },
    ];
    const { activations, nodes, ...run } = timelineOf(events);
    const usage = { promptTokens: 3, completionTokens: 2, totalTokens: 5, calls: 1 };
    expect(run).toEqual({
      status: 'succeeded',
      startedAtMs: 100,
      endedAtMs: 150,
      elapsedMs: 50,
      lastSeq: 11,
      usage,
      omitted: 0,
    });
    expect(activations).toMatchObject([
      { ...a, attempt: 1, status: 'retried', error: 'no', startSeq: 2, endSeq: 3, startedAtMs: 110, endedAtMs: 120 },
      {
        ...a,
        attempt: 2,
        status: 'settled',
        startSeq: 4,
        endSeq: 9,
        elapsedMs: 10,
        usage,
        emissions: [
          { kind: 'thinking', fromSeq: 5, toSeq: 5, atMs: 131, pieces: 1, characters: 2 },
          { kind: 'text', fromSeq: 6, toSeq: 7, atMs: 132, pieces: 2, characters: 4 },
          { kind: 'usage', fromSeq: 8, toSeq: 8, atMs: 134, pieces: 1, characters: 0 },
        ],
      },
      { node: 'b', status: 'skipped' },
    ]);
    expect(nodes).toMatchObject([
      {
        node: 'a',
        activations: 1,
        retries: 1,
        failures: 0,
        busyMs: 20,
        longestMs: 10,
        pieces: 3,
        characters: 6,
        usage,
      },
      { node: 'b', activations: 0, skips: 1 },
    ]);
  });

  it.each([
    ['waiting', wire('user_inputs', { forms: [{ cpn_id: 'F' }] }), { activations: [{ node: 'F', status: 'waiting' }] }],
    [
      'cancelled',
      wire('workflow_finished', { outputs: 'Task has been canceled', elapsed_time: 1.5 }),
      { elapsedMs: 1500 },
    ],
    [
      'failed',
      wire('error', { code: 'NODE_FAILED', message: 'no' }),
      { error: { code: 'NODE_FAILED', message: 'no' } },
    ],
  ])('reads how a run ended: %s', (status, event, rest) => {
    expect(timelineOf([{ ...event, seq: 1 }])).toMatchObject({ status, lastSeq: 1, ...rest });
  });

  it('takes up a node again whose process was lost, also under another token', () => {
    const events = [
      wire('node_started', { component_id: 'a', token: 1, at_ms: 10 }),
      wire('message', { component_id: 'a', content: 'x' }),
      wire('node_restarted', { component_id: 'a', retract_from: 1, token: 7, at_ms: 20 }),
      wire('node_finished', { component_id: 'a', outputs: {}, error: null, elapsed_time: 0.005, token: 7, at_ms: 25 }),
    ].map((event, at) => ({ ...event, seq: at + 1 }));
    expect(timelineOf(events).activations).toMatchObject([
      { node: 'a', token: 1, status: 'retried', startSeq: 1, endSeq: 3 },
      { node: 'a', token: 7, status: 'settled', startSeq: 3, endSeq: 4 },
    ]);
  });

  it('bounds what it lists, never what it sums', () => {
    function* long(): Generator<TimelineEvent> {
      let seq = 0;
      for (let token = 1; token <= MAX_ACTIVATIONS + 5; token += 1) {
        yield { ...header(++seq, seq), type: 'node-started', node: 'a', token, attempt: 1 };
        for (let piece = 0; piece < (token === 1 ? MAX_EMISSIONS + 10 : 4); piece += 1) {
          const port = piece % 2 === 0 ? 'thinking' : 'content';
          yield { ...header(++seq, seq), type: 'node-delta', node: 'a', token, port, text: 'x' };
        }
        yield { ...header(++seq, seq), type: 'node-settled', node: 'a', token, outputs: {}, elapsedMs: 1 };
      }
    }
    const { activations, omitted, nodes } = timelineOf(long());
    expect(activations).toHaveLength(MAX_ACTIVATIONS);
    expect(omitted).toBe(5);
    expect(activations[0]?.emissions).toHaveLength(MAX_EMISSIONS);
    expect(activations[0]?.emissions.at(-1)?.pieces).toBe(11);
    const listed = activations.reduce((sum, { emissions }) => sum + emissions.length, 0);
    expect(listed).toBe(MAX_RUN_EMISSIONS);
    expect(nodes).toMatchObject([
      { activations: MAX_ACTIVATIONS + 5, characters: MAX_EMISSIONS + 10 + 4 * (MAX_ACTIVATIONS + 4) },
    ]);
  });

  it('gives the same activations for RAGFlow’s words as for the engine’s', async () => {
    const canvas = loadCanvas({
      components: {
        begin: component('Begin', {}, ['Iteration:I'], []),
        'Iteration:I': component('Iteration', { items_ref: 'sys.query' }, ['Message:M'], ['begin']),
        'IterationItem:X': component('IterationItem', {}, ['Message:N'], [], 'Iteration:I'),
        'Message:N': component('Message', { content: ['item'] }, [], ['IterationItem:X'], 'Iteration:I'),
        'Message:M': component('Message', { content: ['done'] }, [], ['Iteration:I']),
      },
      graph: { nodes: [], edges: [] },
      globals: { 'sys.query': '' },
    });
    const models = createModels(await modelsFromEnvironment({}, async () => ''));
    let now = 1_700_000_000_000;
    const run$ = runTurn(canvas, { query: ['a', 'b'] }, { run: 'r', services: { models }, now: () => now++ });
    const events = await lastValueFrom(run$.pipe(toArray()));
    const context = { plan: canvas.plan, messageId: 'm', sessionId: 's' };
    const said = await lastValueFrom(of(...events).pipe(toWireEvents(context), toArray()));
    const essence = (timeline: ReturnType<typeof timelineOf>) =>
      timeline.activations.map(({ node, within, token, status, startedAtMs, endedAtMs, elapsedMs }) => ({
        node,
        within,
        token,
        status,
        startedAtMs,
        endedAtMs,
        elapsedMs,
      }));
    const fromEngine = essence(timelineOf(events));
    expect(fromEngine.filter(({ node }) => node === 'Message:N')).toMatchObject([
      { within: 'Iteration:I/0', status: 'settled' },
      { within: 'Iteration:I/1', status: 'settled' },
    ]);
    expect(essence(timelineOf(said))).toEqual(fromEngine);
  });
});
