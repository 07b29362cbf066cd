import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json.js';
import type { ModelCall, NodeTrace, RunTrace, TraceEvent } from '../case.js';
import { compareCase, type Golden } from '../compare.js';

/** What the comparison reads of a document are types and edges. */
const DSL = document({ begin: ['Begin', ['m']], m: ['Message', []] });

/** One finished run of its two nodes. */
export const RUN: RunTrace = {
  outcome: 'finished',
  events: [
    { event: 'workflow_started', data: { inputs: {} } },
    started('begin', 'Begin'),
    finished('begin', 'Begin', { n: 5 }),
    started('m', 'Message'),
    message('one '),
    message('two'),
    { event: 'message_end', data: {} },
    finished('m', 'Message', { content: 'one two', downloads: [] }),
    { event: 'workflow_finished', data: { inputs: {}, outputs: { content: 'one two', downloads: [] } } },
  ],
  nodes: { begin: node({ n: 5 }), m: node({ content: 'one two', downloads: [] }) },
  answer: 'one two',
  globals: { 'sys.query': 'q', 'sys.history': ['user: q', 'assistant: one two'] },
  workflow_outputs: { content: 'one two', downloads: [] },
  model_calls: [call('first'), call('second')],
};

/** The case it belongs to. */
export const GOLDEN: Golden = { parity: 'exact', dsl: DSL, model: null, observe_calls: true, expect: [RUN] };
/** The same, where work runs side by side. */
export const VALUES: Golden = { ...GOLDEN, parity: 'values' };

/** What the engine shows, as changes to the golden run; without a difference the case passes. */
export interface Row {
  readonly name: string;
  readonly golden?: Golden;
  readonly change: Partial<RunTrace>;
  /** Where the first difference is. */
  readonly differs?: string;
}

/** One test for each row. */
export function check(rows: readonly Row[]): void {
  for (const { name, golden = GOLDEN, change, differs } of rows) {
    it(name, () => {
      const run = { ...(golden.expect?.[0] ?? RUN), ...change };
      const differences = compareCase(golden, { runs: [run] });
      if (differs === undefined) expect(differences).toEqual([]);
      else expect(differences[0]).toContain(differs);
    });
  }
}

/** A document with nodes of these types. */
export function document(
  nodes: Record<string, readonly [type: string, downstream: readonly string[], parent?: string]>,
): Golden['dsl'] {
  const entries = Object.entries(nodes).map(([id, [type, downstream, parent]]) => {
    const entry = { obj: { component_name: type, params: {} }, downstream, upstream: [] };
    return [id, parent === undefined ? entry : { ...entry, parent_id: parent }];
  });
  return { components: Object.fromEntries(entries) };
}

export function node(
  outputs: JsonObject,
  { runs = 1, error = null }: { runs?: number; error?: string | null } = {},
): NodeTrace {
  return { runs, outputs, error };
}

export function started(id: string, type: string): TraceEvent {
  return { event: 'node_started', component_id: id, component_type: type };
}

export function finished(id: string, type: string, outputs: JsonObject): TraceEvent {
  return { event: 'node_finished', component_id: id, component_type: type, data: { outputs, error: null } };
}

export function message(content: string, marks: JsonObject = {}): TraceEvent {
  return { event: 'message', data: { content, ...marks } };
}

/** A model call that asks one thing. */
export function call(text: string): ModelCall {
  return { system: 'S', messages: [{ role: 'user', content: text }], tools: false };
}
