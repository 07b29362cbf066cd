import { lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import type { WireEvent, WireEventName } from '../../src/canvas/ragflow-events.js';
import { toWireEvents } from '../../src/canvas/ragflow-events.js';
import { readCalls, readRagflowEvents } from '../../src/canvas/read-ragflow-events.js';
import { MAX_ACTIVATIONS, MAX_EMISSIONS, MAX_RUN_EMISSIONS, timelineOf } from '../../src/canvas/timeline.js';
import { runTurn } from '../../src/canvas/turn.js';
import { CallLog, type CallSummary } from '../../src/graph/calls.js';
import type { RunEvent } from '../../src/graph/events.js';
import { type Call, callEvent, callFinished, callStarted } from '../../src/graph/node-events.js';
import { NO_USAGE } from '../../src/graph/state.js';
import type { Json, JsonObject } from '../../src/json.js';
import { createModels } from '../../src/models/router.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';

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
    const { startedAtMs, endedAtMs } = timelineOf(
      readRagflowEvents([
        wire('workflow_started', { inputs: {} }),
        wire('node_started', { ...node, at_ms: 1_900 }),
        wire('node_finished', { ...node, at_ms: 1_940, elapsed_time: 0.04 }),
        wire('node_started', { ...node, at_ms: 1_941 }),
        wire('workflow_finished', { outputs: {}, elapsed_time: 0.05 }),
      ]),
    );
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
      { ...header(11, 150), type: 'run-settled', outputs: {}, elapsedMs: 50, input: {}, usage: NO_USAGE },
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
    expect(timelineOf(readRagflowEvents([{ ...event, seq: 1 }]))).toMatchObject({ status, lastSeq: 1, ...rest });
  });

  it('takes up a node again whose process was lost, also under another token', () => {
    const events = [
      wire('node_started', { component_id: 'a', token: 1, at_ms: 10 }),
      wire('message', { component_id: 'a', content: 'x' }),
      wire('node_restarted', { component_id: 'a', retract_from: 1, token: 7, at_ms: 20 }),
      wire('node_finished', { component_id: 'a', outputs: {}, error: null, elapsed_time: 0.005, token: 7, at_ms: 25 }),
    ].map((event, at) => ({ ...event, seq: at + 1 }));
    expect(timelineOf(readRagflowEvents(events)).activations).toMatchObject([
      { node: 'a', token: 1, status: 'retried', startSeq: 1, endSeq: 3 },
      { node: 'a', token: 7, status: 'settled', startSeq: 3, endSeq: 4 },
    ]);
  });

  it('bounds what it lists, never what it sums', () => {
    function* long(): Generator<RunEvent> {
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

  it('gives calls to the try in which they were made, and the same for RAGFlow’s words as for the engine’s', async () => {
    const a = { node: 'A', token: 1 };
    let seq = 0;
    const called = (at: number, ...said: readonly Call[]): RunEvent[] =>
      said.map(({ call }) => ({ ...header(++seq, at), type: 'node-call', ...a, call }));
    const usage = { promptTokens: 3, completionTokens: 4, totalTokens: 7 };
    const no = { code: 'TOOL_FAILED', message: 'no' } as const;
    const events: RunEvent[] = [
      { ...header(++seq, 0), type: 'run-started', input: {}, resumed: false },
      { ...header(++seq, 10), type: 'node-started', ...a, attempt: 1 },
      ...called(11, callStarted({ id: 'm', kind: 'model', name: 'large' })),
      { ...failed(++seq, 20, a) },
      { ...header(++seq, 30), type: 'node-started', ...a, attempt: 2 },
      ...called(31, callStarted({ id: 'm', kind: 'model', name: 'large' })),
      ...called(33, callEvent({ id: 'm', name: 'stream_started' })),
      ...called(34, callEvent({ id: 'm', name: 'stream_started' })),
      ...called(35, callFinished({ id: 'm', usage })),
      ...called(36, callStarted({ id: 'g', kind: 'agent', name: 'Aide' })),
      ...called(37, callStarted({ id: 't', kind: 'tool', name: 'search', parent: 'g' })),
      ...called(38, callFinished({ id: 't', error: no }), callFinished({ id: 'unknown' })),
      { ...header(++seq, 40), type: 'node-settled', ...a, outputs: {}, elapsedMs: 10 },
      { ...header(++seq, 50), type: 'run-settled', outputs: {}, elapsedMs: 50, input: {}, usage: NO_USAGE },
    ];
    const tried = { id: 1, kind: 'model', name: 'large', status: 'stopped', startedAtMs: 11, endedAtMs: 20 };
    const calls = [
      {
        id: 2,
        kind: 'model',
        name: 'large',
        status: 'done',
        startedAtMs: 31,
        firstPieceAtMs: 33,
        endedAtMs: 35,
        usage,
      },
      { id: 3, kind: 'agent', name: 'Aide', status: 'stopped', startedAtMs: 36, endedAtMs: 40 },
      { id: 4, kind: 'tool', name: 'search', parent: 3, status: 'failed', error: 'no', startedAtMs: 37, endedAtMs: 38 },
    ];
    const renumbered = calls.map((call) => ({ ...call, id: call.id - 1, ...('parent' in call && { parent: 2 }) }));
    // Also that of a try which asked one model and nothing else.
    expect(timelineOf(events).activations.map((one) => one.calls)).toEqual([[tried], renumbered]);
    expect(timelineOf(events.slice(0, 3)).activations[0]?.calls).toMatchObject([{ id: 1, status: 'open' }]);

    const plan = loadCanvas({ components: { begin: component('Begin', {}, [], []) } }).plan;
    const context = { plan, messageId: 'm', sessionId: 's' };
    // The engine sums the calls of all tries up at the end.
    const summed = events.map((event) =>
      event.type === 'node-settled' ? { ...event, calls: [tried, ...calls] as CallSummary[] } : event,
    );
    expect(timelineOf(summed).activations.map((one) => one.calls)).toEqual([[tried], calls]);
    const said = await lastValueFrom(of(...summed).pipe(toWireEvents(context), toArray()));
    expect(said.filter(({ event }) => event === 'node_started')).toHaveLength(2);
    expect(timelineOf(readRagflowEvents(said)).activations.map((one) => one.calls)).toEqual([[tried], calls]);
  });

  it('bounds the calls of a node, and what they say', () => {
    const log = new CallLog();
    for (let at = 0; at < 1_000; at += 1) {
      log.add({ type: 'started', id: `${at}`, kind: 'tool', name: 'n'.repeat(5_000) }, at);
      log.add({ type: 'finished', id: `${at}`, error: { code: 'TOOL_FAILED', message: 'm'.repeat(5_000) } }, at);
    }
    expect([log.calls.length, log.omitted]).toEqual([200, 800]);
    expect(log.calls[0]).toMatchObject({ name: 'n'.repeat(200), error: 'm'.repeat(1_000), status: 'failed' });
  });

  it.each<[string, Json]>([
    ['no list', { id: 1 }],
    ['no object', [1, null, 'x']],
    ['another kind', [{ id: 1, kind: 'x', name: 'n', status: 'open', started_at: 1 }]],
    ['another status', [{ id: 1, kind: 'tool', name: 'n', status: 'x', started_at: 1 }]],
    ['no time', [{ id: 1, kind: 'tool', name: 'n', status: 'open' }]],
  ])('leaves out calls that are not whole: %s', (_, calls) => {
    expect(readCalls(calls)).toEqual([]);
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
    let now = 1_700_000_000_900;
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
    expect(essence(timelineOf(readRagflowEvents(said)))).toEqual(fromEngine);
    // In whole seconds it would be long before the first node.
    expect(timelineOf(readRagflowEvents(said)).startedAtMs).toBe(fromEngine[0]?.startedAtMs);
  });
});
