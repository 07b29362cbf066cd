import { lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { loadCanvas } from '../../src/canvas/load-canvas.js';
import { RagflowProjection, toWireEvents } from '../../src/canvas/ragflow-events.js';
import { readRagflowEvents } from '../../src/canvas/read-ragflow-events.js';
import { runTurn } from '../../src/canvas/turn.js';
import type { RunEvent } from '../../src/graph/events.js';
import type { Json } from '../../src/json.js';
import { createModels } from '../../src/models/router.js';
import { modelsFromEnvironment } from '../../src/settings/read-settings.js';

const component = (name: string, params: Json, downstream: string[]): Json => ({
  obj: { component_name: name, params },
  downstream,
  upstream: [],
});

const CANVAS = loadCanvas({
  components: {
    begin: component('Begin', {}, ['LLM:L']),
    'LLM:L': component('LLM', { llm_id: 'scripted', sys_prompt: 's' }, ['Message:M']),
    'Message:M': component('Message', { content: ['{LLM:L@content}'] }, ['UserFillUp:F']),
    'UserFillUp:F': component('UserFillUp', { inputs: { city: { name: 'City', type: 'line' } } }, []),
  },
  graph: { nodes: [], edges: [] },
});
const CONTEXT = { plan: CANVAS.plan, messageId: 'm', sessionId: 's' };

async function played(): Promise<RunEvent[]> {
  const script = { rules: [], default: { reply: '<think>hm</think>yes' } };
  const models = createModels({ ...(await modelsFromEnvironment({}, async () => '')), script });
  let now = 1_700_000_000_900;
  const run$ = runTurn(CANVAS, { query: 'q' }, { run: 'r', services: { models }, now: () => now++ });
  return lastValueFrom(run$.pipe(toArray()));
}

describe('RAGFlow’s events', () => {
  it('depend on one event of the engine each: a client may start at any of them', async () => {
    const events = await played();
    const startedAt = events[0]?.at ?? 0;
    const whole = await lastValueFrom(of(...events).pipe(toWireEvents(CONTEXT), toArray()));
    const apart = events.flatMap((event) => {
      // Each by a projection that has seen no other.
      const fresh = new RagflowProjection({ ...CONTEXT, startedAt });
      const wire = fresh.project(event);
      const text = fresh.write(event);
      expect(text === undefined ? undefined : JSON.parse(text)).toEqual(wire);
      return wire ?? [];
    });
    expect(apart).toEqual(whole);
    expect(whole.map(({ event }) => event)).toEqual([
      ...['workflow_started', 'node_started', 'node_finished', 'node_started', 'node_started'],
      ...['message', 'message', 'message', 'message', 'message_end', 'node_finished', 'node_finished', 'user_inputs'],
    ]);
  });

  it('can be read back in order, with every node’s start and end', async () => {
    const events = await played();
    const whole = await lastValueFrom(of(...events).pipe(toWireEvents(CONTEXT), toArray()));
    const ends = (list: readonly RunEvent[]) =>
      list.flatMap((event) => {
        const isEnd =
          event.type === 'node-started' || event.type === 'node-settled' || event.type === 'node-interrupted';
        return isEnd ? [`${event.type} ${event.node} ${event.token}`] : [];
      });
    const read = [...readRagflowEvents(whole)];
    expect(ends(read)).toEqual(ends(events));
    expect(read.at(-1)?.type).toBe('run-interrupted');
  });
});
