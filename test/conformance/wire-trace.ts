/** What the events of a run tell any client: the part of a trace that does not depend on the way they came. */
import type { WireEvent } from '../../src/canvas/ragflow-events.js';
import { CANCELLED } from '../../src/canvas/ragflow-events.js';
import { isJsonObject, type Json, type JsonObject } from '../../src/json.js';
import type { NodeTrace, RunSpec, RunTrace, TraceEvent } from './case.js';

/** The parts of a trace that events hold. */
export type SeenTrace = Pick<RunTrace, 'events' | 'answer' | 'workflow_outputs' | 'user_inputs'>;

export function traceOfEvents(events: readonly WireEvent[]): SeenTrace {
  return {
    events: events.map(traceEvent),
    answer: events.map((event) => (event.event === 'message' ? contentOf(event) : '')).join(''),
    workflow_outputs: workflowOutputs(events),
    ...userInputs(events),
  };
}

/** How a run ended, by its last event. */
export function outcomeOf(events: readonly WireEvent[]): RunTrace['outcome'] {
  const last = events.at(-1);
  switch (last?.event) {
    case 'user_inputs':
      return 'waiting';
    case 'workflow_finished':
      return last.data.outputs === CANCELLED ? 'canceled' : 'finished';
    default:
      return 'failed';
  }
}

/**
 * What nodes did, as far as their own events tell: those that started in this run, with their outputs at their end, and forms
 * that wait, with their tips.
 *
 * Of a canceled run only nodes that ended count: how many more were announced by then is a matter of time.
 */
export function nodesOfEvents(events: readonly WireEvent[]): Record<string, NodeTrace> {
  const nodes = new Map<string, NodeTrace>();
  const ended = new Set<string>();
  for (const { event, data } of events) {
    const id = String(data.component_id);
    const node = nodes.get(id) ?? { runs: 0, outputs: {}, error: null };
    if (event === 'node_started') nodes.set(id, { ...node, runs: node.runs + 1 });
    if (event === 'node_finished' && nodes.has(id)) {
      ended.add(id);
      const { outputs, error } = data;
      nodes.set(id, {
        runs: node.runs,
        outputs: isJsonObject(outputs) ? outputs : {},
        error: typeof error === 'string' ? error : null,
      });
    }
    if (event === 'user_inputs') for (const form of formsOf(data.forms)) addForm(nodes, form);
  }
  const counts = outcomeOf(events) === 'canceled' ? ([id]: [string, NodeTrace]) => ended.has(id) : () => true;
  return Object.fromEntries([...nodes].filter(counts));
}

/** True for the event at which the run is to be canceled, once. */
export function createTrigger(wanted: RunSpec['cancel_after_event']): (event: WireEvent) => boolean {
  if (wanted === undefined) return () => false;
  let left = wanted.count ?? 1;
  return ({ event, data }) => {
    if (event !== wanted.event) return false;
    if (wanted.component_id !== undefined && data.component_id !== wanted.component_id) return false;
    left -= 1;
    return left === 0;
  };
}

/** In RAGFlow's events the component is part of the data; in traces it stands beside it. */
function traceEvent({ event, data }: WireEvent): TraceEvent {
  const { component_id: id, component_type: type, ...rest } = data;
  return {
    event,
    ...(typeof id === 'string' ? { component_id: id } : {}),
    ...(typeof type === 'string' ? { component_type: type } : {}),
    data: rest,
  };
}

function contentOf({ data }: WireEvent): string {
  return typeof data.content === 'string' ? data.content : '';
}

function workflowOutputs(events: readonly WireEvent[]): RunTrace['workflow_outputs'] {
  const outputs = events.find(({ event }) => event === 'workflow_finished')?.data.outputs;
  return isJsonObject(outputs) ? outputs : null;
}

function userInputs(events: readonly WireEvent[]): Pick<RunTrace, 'user_inputs'> {
  const data = events.find(({ event }) => event === 'user_inputs')?.data;
  if (data === undefined) return {};
  const { inputs, tips } = data;
  return { user_inputs: { inputs: isJsonObject(inputs) ? inputs : {}, tips: typeof tips === 'string' ? tips : '' } };
}

function formsOf(forms: Json | undefined): readonly JsonObject[] {
  return Array.isArray(forms) ? forms.filter(isJsonObject) : [];
}

/** A form may have been answered in the same run, and ask again. */
function addForm(nodes: Map<string, NodeTrace>, { cpn_id, tips = '' }: JsonObject): void {
  const id = String(cpn_id);
  const { runs, outputs, error } = nodes.get(id) ?? { runs: 0, outputs: {}, error: null };
  nodes.set(id, { runs, outputs: tips === '' ? outputs : { ...outputs, tips }, error });
}
