import type { Json, JsonObject } from '../../src/json.js';
import { type CaseNode, type ConformanceCase, nodesOf, type RunTrace, type Trace } from './case.js';
import { answerDifferences } from './compare-answers.js';
import { withGoldenErrors } from './compare-errors.js';
import { eventDifferences } from './compare-events.js';
import { difference, jsonDifferences, sameJson } from './compare-json.js';
import { endDifferences, outputDifferences } from './compare-outputs.js';

/** What the comparison needs of a case. */
export type Golden = Pick<
  ConformanceCase,
  'parity' | 'dsl' | 'model' | 'observe_calls' | 'expect' | 'expect_load_error' | 'clean'
>;

/** What a comparison of one run needs beside its two traces. */
interface Rules {
  readonly parity: 'exact' | 'values';
  readonly nodes: readonly CaseNode[];
  readonly comparesCalls: boolean;
  /** Messages of errors that the scripted model was told to give. */
  readonly modelErrors: readonly string[];
}

/**
 * Compares what an engine did with a golden case, by the rules of its parity: `exact` everything, `values` all but the order
 * of events, `quirk` the results that the case allows. An empty list means that the case passes.
 */
export function compareCase(golden: Golden, received: Trace): readonly string[] {
  if (golden.parity === 'quirk') return quirkDifferences(golden, received);
  if (golden.expect_load_error !== undefined) {
    return 'loadError' in received ? [] : ['load: expected the document to be refused, but it was loaded'];
  }
  if ('loadError' in received)
    return [`load: expected the document to load, but it was refused: ${received.loadError}`];
  const expected = golden.expect ?? [];
  if (expected.length !== received.runs.length) {
    return [difference('number of runs', expected.length, received.runs.length)];
  }
  const rules: Rules = {
    parity: golden.parity,
    nodes: nodesOf(golden),
    comparesCalls: golden.observe_calls === true,
    modelErrors: modelErrorsOf(golden),
  };
  const runs = withGoldenErrors(expected, received.runs);
  return expected.flatMap((run, index) => runDifferences(rules, run, runs[index] as RunTrace, `run ${index + 1}`));
}

function quirkDifferences({ clean }: Golden, received: Trace): readonly string[] {
  const allowed = clean?.any_of ?? [];
  const isAllowed = allowed.some((result) => {
    if ('load_error' in result) return 'loadError' in received;
    if ('loadError' in received || result.runs.length !== received.runs.length) return false;
    return result.runs.every(({ outcome, answer }, index) => {
      const run = received.runs[index] as RunTrace;
      return run.outcome === outcome && (answer === undefined || run.answer === answer);
    });
  });
  if (isAllowed) return [];
  const shown =
    'loadError' in received
      ? { load_error: received.loadError }
      : { runs: received.runs.map(({ outcome, answer, error }) => ({ outcome, answer, ...(error && { error }) })) };
  return [`quirk: expected one of ${JSON.stringify(allowed)}, received ${JSON.stringify(shown)}`];
}

function runDifferences(rules: Rules, expected: RunTrace, received: RunTrace, path: string): readonly string[] {
  if (expected.outcome !== received.outcome) {
    const why = received.error === undefined ? '' : ` (${received.error})`;
    return [`${difference(`${path}.outcome`, expected.outcome, received.outcome)}${why}`];
  }
  switch (expected.outcome) {
    case 'canceled':
      return strayNodes(expected, received, path);
    case 'failed':
      return [...failedNodes(rules, expected, received, path), ...answers(rules, expected, received, path)];
    default:
      return [
        ...answers(rules, expected, received, path),
        ...nodeDifferences(rules, expected, received, `${path}.nodes`),
        ...jsonDifferences(expected.user_inputs, received.user_inputs, `${path}.user_inputs`),
        ...globalDifferences(expected.globals, received.globals, `${path}.globals`),
        ...(rules.comparesCalls ? callDifferences(rules, expected, received, `${path}.model_calls`) : []),
        ...(rules.parity === 'exact' ? inOrder(expected, received, path) : []),
      ];
  }
}

function inOrder(expected: RunTrace, received: RunTrace, path: string): readonly string[] {
  return [
    ...outputDifferences(expected.workflow_outputs, received.workflow_outputs, undefined, `${path}.workflow_outputs`),
    ...eventDifferences(expected.events, received.events, `${path}.events`),
  ];
}

function answers({ parity, nodes }: Rules, expected: RunTrace, received: RunTrace, path: string): readonly string[] {
  return parity === 'values'
    ? answerDifferences(nodes, expected, received, `${path}.answer`)
    : jsonDifferences(expected.answer, received.answer, `${path}.answer`);
}

/** After a cancel nothing counts but that no further node ran. */
function strayNodes(expected: RunTrace, received: RunTrace, path: string): readonly string[] {
  return Object.keys(received.nodes)
    .filter((id) => !Object.hasOwn(expected.nodes, id))
    .map((id) => `${path}.nodes.${id}: must not have run`);
}

/** In a failed run only which nodes failed counts. */
function failedNodes(rules: Rules, expected: RunTrace, received: RunTrace, path: string): readonly string[] {
  const ids = new Set([...Object.keys(expected.nodes), ...Object.keys(received.nodes)]);
  return [...ids].flatMap((id) => {
    const wanted = { outputs: {}, error: expected.nodes[id]?.error ?? null };
    const shown = { outputs: {}, error: received.nodes[id]?.error ?? null };
    return endDifferences(wanted, shown, '', `${path}.nodes.${id}`, rules.modelErrors);
  });
}

function nodeDifferences(rules: Rules, expected: RunTrace, received: RunTrace, path: string): readonly string[] {
  const ids = new Set([...Object.keys(expected.nodes), ...Object.keys(received.nodes)]);
  return [...ids].flatMap((id) => {
    const wanted = expected.nodes[id];
    const shown = received.nodes[id];
    if (wanted === undefined) return [`${path}.${id}: must not have run`];
    if (shown === undefined) return [`${path}.${id}: did not run`];
    const type = rules.nodes.find((node) => node.id === id)?.type ?? '';
    return [
      ...(countsAsRuns(type, wanted.runs, shown.runs)
        ? []
        : [difference(`${path}.${id}.runs`, wanted.runs, shown.runs)]),
      ...endDifferences(wanted, shown, type, `${path}.${id}`, rules.modelErrors),
    ];
  });
}

/** Not every engine visits an item node once more to close. */
function countsAsRuns(type: string, expected: number, received: number): boolean {
  const visitsToClose = type === 'IterationItem' || type === 'LoopItem';
  return received === expected || (visitsToClose && received === expected - 1);
}

function globalDifferences(expected: JsonObject, received: JsonObject, path: string): readonly string[] {
  const { 'sys.history': wanted, ...others } = expected;
  const { 'sys.history': shown, ...otherShown } = received;
  return [
    ...jsonDifferences(others, otherShown, path),
    ...jsonDifferences(withoutDumps(wanted, wanted), withoutDumps(shown, wanted), `${path}.sys.history`),
  ];
}

/** Lines that hold the outputs of a node without content are written differently by every engine. */
function withoutDumps(lines: Json | undefined, golden: Json | undefined): Json | undefined {
  if (!Array.isArray(lines) || !Array.isArray(golden)) return lines;
  const isDump = (line: unknown) => typeof line === 'string' && line.startsWith('assistant: {');
  return lines.map((line, index) => (isDump(golden[index]) && typeof line === 'string' ? 'assistant: {' : line));
}

function callDifferences(rules: Rules, expected: RunTrace, received: RunTrace, path: string): readonly string[] {
  const wanted = expected.model_calls ?? [];
  const shown = received.model_calls ?? [];
  if (rules.parity === 'exact' || wanted.length !== shown.length) return jsonDifferences(wanted, shown, path);
  const left = [...shown];
  return wanted.flatMap((call) => {
    const at = left.findIndex((other) => sameJson(call, other));
    if (at === -1) return [`${path}: missing ${JSON.stringify(call)} among ${JSON.stringify(shown)}`];
    left.splice(at, 1);
    return [];
  });
}

function modelErrorsOf({ model }: Golden): readonly string[] {
  const answersOf = [...(model?.rules ?? []), ...(model?.default === undefined ? [] : [model.default])];
  return answersOf.flatMap(({ error }) => (error === undefined ? [] : [error]));
}
