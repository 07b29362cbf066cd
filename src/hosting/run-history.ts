/** What is stored of a run up to one of its events, and the state that it had there. */
import type { Document } from '../dsl/document.js';
import { EngineError } from '../errors.js';
import type { RunEvent } from '../graph/events.js';
import { type RunHistory, stateAt } from '../graph/fork.js';
import { changesState, readEvent } from '../graph/log.js';
import type { Plan } from '../graph/plan.js';
import type { State } from '../graph/state.js';
import { pagesAfter, type RunLog } from '../records/run-log.js';
import { badArgument, noRun, noSession } from './refusals.js';
import type { RunHub } from './run-hub.js';

/** Where a run stood after one of its events. */
export interface RunState {
  /** Number of the event. */
  readonly seq: number;
  readonly plan: Plan;
  /** What it runs, or ran; undefined when its session has gone on with another version since. */
  readonly document: Document | undefined;
  /** Nodes that were at work count as ready. */
  readonly state: State;
}

/**
 * The state of a run after the event `at`, whatever process it is in.
 *
 * @param at default: the last event
 * @throws EngineError NOT_FOUND; BAD_REQUEST for a number that the run has not come to; HISTORY_GONE when what it did is not stored (that far
 * back); PLAN_CHANGED when its session has gone on with another graph.
 */
export async function readState(hub: RunHub, tenant: string, run: string, at?: number): Promise<RunState> {
  const record = await hub.record(tenant, run);
  if (record === undefined) throw noRun();
  const { stores, openCanvas } = hub.parts;
  const session = await stores.sessions.find(tenant, record.sessionId);
  if (session === undefined) throw noSession();
  const { plan, document } = openCanvas(session.dsl);
  const history = await loadHistory(stores.log, tenant, run, at);
  const { seq } = history;
  const isSame = record.documentVersion === session.documentVersion;
  return { seq, plan, document: isSame ? document : undefined, state: stateAt(plan, history, seq) };
}

/** What is stored of a run up to an event. */
export interface LoadedHistory extends RunHistory {
  /** Number of the event. */
  readonly seq: number;
}

/**
 * The newest snapshot that is not behind the event `at`, and what happened from there to that event.
 *
 * @param at default: the last event that is stored
 * @throws EngineError HISTORY_GONE; BAD_REQUEST for a number that the run has not come to.
 */
export async function loadHistory(log: RunLog, tenant: string, run: string, at?: number): Promise<LoadedHistory> {
  const checkpoint = await log.snapshot(tenant, run, at);
  if (checkpoint === undefined) {
    throw new EngineError('HISTORY_GONE', `No checkpoint for run ${run}: what it did is not stored (any more).`);
  }
  const events: RunEvent[] = [];
  let { seq } = checkpoint;
  for await (const page of pagesAfter(log, tenant, run, checkpoint.seq)) {
    for (const { json } of page) if (changesState(JSON.parse(json) as RunEvent)) events.push(readEvent(json));
    seq = page.at(-1)?.seq ?? seq;
    if (at !== undefined && seq >= at) break;
  }
  // The record of a run that goes on elsewhere does not say how far it is.
  if (at !== undefined && at > seq) {
    throw badArgument(`\`at\` must be the number of an event of the run, which has ${seq}; received ${at}.`);
  }
  return { checkpoint, events, seq: at ?? seq };
}
