import type { ConformanceCase, RunSpec, RunTrace, Trace } from './case.js';
import type { Golden } from './compare.js';
import type { Client, TurnAnswer } from './support/clients.js';
import { openStage, type Stage } from './support/stage.js';
import { createTrigger, nodesOfEvents, outcomeOf, traceOfEvents } from './wire-trace.js';

/**
 * Plays all runs of a case through a real server: documents, files, turns, answers and cancels go over HTTP, the model and the
 * web are servers of their own. The trace holds what frames tell, and nothing else.
 */
export async function playOverHttp(given: ConformanceCase, client: Client): Promise<Trace> {
  const stage = await openStage(given);
  try {
    const runs: RunTrace[] = [];
    let sessionId: string | undefined;
    for (const spec of stage.runs) {
      const firstCall = stage.calls.length;
      const answersForm = runs.at(-1)?.outcome === 'waiting';
      const answer = await playTurn(stage, spec, { sessionId, answersForm }, client);
      if ('refusal' in answer) return { loadError: answer.refusal };
      sessionId = answer.sessionId;
      runs.push(stage.restore({ ...traceOf(answer), model_calls: stage.calls.slice(firstCall) }));
    }
    if (stage.errors.length > 0) throw new Error(`the server logged errors: ${JSON.stringify(stage.errors)}`);
    return { runs };
  } finally {
    await stage.close();
  }
}

/**
 * The case without what no event carries: the variables that a run leaves, and the outputs so far of a container whose body
 * waits.
 */
export function asSeenOverHttp(golden: ConformanceCase): Golden {
  const { expect } = golden;
  return expect === undefined ? golden : { ...golden, expect: expect.map(asSeen) };
}

function asSeen(run: RunTrace): RunTrace {
  if (run.outcome !== 'waiting') return { ...run, globals: {} };
  const ended = new Set(run.events.filter(({ event }) => event === 'node_finished').map((event) => event.component_id));
  const nodes = Object.entries(run.nodes).map(([id, node]) => {
    const isAtWork = node.runs > 0 && !ended.has(id);
    return [id, isAtWork ? { ...node, outputs: {} } : node] as const;
  });
  return { ...run, globals: {}, nodes: Object.fromEntries(nodes) };
}

function playTurn(
  stage: Stage,
  { query, user_id, inputs, files, cancel_after_event: cancelAfter }: RunSpec,
  conversation: { readonly sessionId: string | undefined; readonly answersForm: boolean },
  client: Client,
): Promise<TurnAnswer> {
  const { gate } = stage;
  const shouldCancel = createTrigger(cancelAfter);
  gate.reset(cancelAfter !== undefined);
  let isCanceled = false;
  const body = {
    query,
    user_id,
    ...(inputs === undefined ? {} : { inputs }),
    ...(files === undefined ? {} : { files }),
  };
  return client(stage, { ...conversation, body }, (event) => {
    const cancelsNow = shouldCancel(event);
    isCanceled ||= cancelsNow;
    // After the cancel the run stays where it is.
    if (!isCanceled) gate.saw(event);
    return cancelsNow;
  });
}

function traceOf({ events, failure }: Exclude<TurnAnswer, { readonly refusal: string }>): RunTrace {
  return {
    ...traceOfEvents(events),
    outcome: failure === undefined ? outcomeOf(events) : 'failed',
    nodes: nodesOfEvents(events),
    globals: {},
    ...(failure === undefined ? {} : { error: failure }),
  };
}
