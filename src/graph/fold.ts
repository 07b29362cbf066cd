/** States computed from a log, and one step at a time: the same changes as in a live run, by the same `apply`. */
import { EngineError } from '../errors.js';
import { invalidOption, requireList, requireObject } from '../operators/invalid-option.js';
import type { RunEvent } from './events.js';
import type { Plan } from './plan.js';
import { restore } from './snapshot.js';
import { NO_USAGE, type State } from './state.js';
import type { Frame, Token } from './tokens.js';
import { apply, type Change, LiveState } from './transition.js';

/**
 * The next state, and the ids of the tokens that may run because of the change. Pure: `state` is not changed.
 *
 * @param token id of a live token of the state, in any frame.
 * @throws EngineError CHECKPOINT_INVALID for a token that the state does not have; else as `apply`.
 */
export function transition(
  plan: Plan,
  state: State,
  token: number,
  change: Change,
): readonly [State, readonly number[]] {
  requireParts('transition', plan, state);
  requireObject('transition', 'change', change, 'a change');
  const run = liveState(plan, state);
  const found = findToken(run.root, token);
  if (found === undefined) {
    throw new EngineError('CHECKPOINT_INVALID', `The state has no live token ${token}; it may have settled before.`);
  }
  const ready: Token[] = [];
  apply(run, found, change, ready);
  return [run.state, ready.map(({ id }) => id)];
}

/**
 * The state after the events of a run's log that came after a state. Pure: neither is changed. Events that change nothing are passed
 * over.
 *
 * @throws EngineError CHECKPOINT_INVALID when an event does not fit the state that it comes to.
 */
export function foldState(plan: Plan, state: State, events: Iterable<RunEvent>): State {
  requireParts('foldState', plan, state);
  if (typeof events?.[Symbol.iterator] !== 'function')
    throw invalidOption('foldState', 'events', 'events of a run, such as a list', events);
  const run = liveState(plan, state);
  const ready: Token[] = [];
  for (const event of events) {
    const change = changeOf(event);
    if (change === undefined) continue;
    const { token: id } = event as Extract<RunEvent, { token: number }>;
    const token = findToken(run.root, id);
    if (token === undefined) throw misfit(event, `token ${id} is not live.`);
    try {
      apply(run, token, change, ready);
    } catch (error) {
      throw misfit(event, (error as Error).message);
    }
    ready.length = 0;
    run.removed.length = 0;
  }
  return run.state;
}

/**
 * The events that a run can start from again: without a failure at the end, and without ends of passes that their containers had not
 * reacted to. Such a pass continues where it was, and if all of it is done it ends at once; without it its nodes would run again.
 */
export function undisturbed(events: readonly RunEvent[]): readonly RunEvent[] {
  const chosen: RunEvent[] = [];
  /** Containers that changed something later. */
  const reacted = new Set<number>();
  let isEndChosen = false;
  for (let at = events.length - 1; at >= 0; at -= 1) {
    const event = events[at] as RunEvent;
    if (changeOf(event) === undefined) continue;
    const { token } = event as Extract<RunEvent, { token: number }>;
    // The end of the pass, and of those around, comes right after the failure; one outside of all bodies has none.
    const isFatal = event.type === 'node-failed' && (event.then === 'body' || event.then === 'run');
    const isChosen: boolean = isFatal ? isEndChosen : event.type !== 'body-closed' || reacted.has(token);
    isEndChosen = isChosen && event.type === 'body-closed';
    if (!isChosen) continue;
    chosen.push(event);
    reacted.add(token);
  }
  return chosen.reverse();
}

/** What an event changes; undefined for one that is for observers only. */
export function changeOf(event: RunEvent): Change | undefined {
  switch (event.type) {
    case 'node-settled': {
      const { outputs, value, stored, next, writes, exit } = event;
      return {
        type: 'settled',
        outputs,
        ...(value === undefined ? {} : { value }),
        ...(stored === undefined ? {} : { stored }),
        ...(next === undefined ? {} : { next }),
        ...(writes === undefined ? {} : { writes }),
        ...(exit === undefined ? {} : { exit }),
      };
    }
    case 'node-failed':
      return { type: 'failed', outputs: event.outputs, handling: event.then, next: event.next };
    case 'node-interrupted': {
      const { payload, outputs } = event;
      return {
        type: 'interrupt',
        ...(payload === undefined ? {} : { payload }),
        ...(outputs === undefined ? {} : { outputs }),
      };
    }
    case 'node-progress': {
      const { outputs, append, nodeState } = event;
      return {
        type: 'progress',
        ...(outputs === undefined ? {} : { outputs }),
        ...(append === undefined ? {} : { append }),
        ...(nodeState === undefined ? {} : { nodeState }),
      };
    }
    case 'node-usage': {
      const { promptTokens, completionTokens, totalTokens } = event;
      return { type: 'usage', promptTokens, completionTokens, totalTokens };
    }
    case 'node-streaming':
      return { type: 'streaming', next: event.next };
    case 'node-patched':
      return { type: 'patched', state: event.state, patch: event.patch, stored: event.stored };
    case 'node-skipped':
      return { type: 'skipped' };
    case 'body-opened':
      return { type: 'body-opened', round: event.round };
    case 'body-resumed':
      return { type: 'body-resumed', key: event.key, answers: event.answers };
    case 'body-closed':
      return { type: 'body-closed', key: event.key };
    case 'run-started':
    case 'node-started':
    case 'node-delta':
    case 'node-chunk':
    case 'node-thinking':
    case 'node-notice':
    case 'node-call':
    case 'run-interrupted':
    case 'run-settled':
    case 'run-failed':
    case 'run-cancelled':
      return undefined;
  }
}

function liveState(plan: Plan, state: State): LiveState {
  const { frontier, root } = restore(plan, state, { isExact: true });
  return new LiveState(frontier, root, state.last, state.usage ?? NO_USAGE);
}

function findToken(frame: Frame, id: number): Token | undefined {
  for (let token = frame.first; token !== undefined; token = token.next) {
    if (token.id === id) return token;
    if (token.frames === undefined) continue;
    for (const inner of token.frames.values()) {
      const found = findToken(inner, id);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function misfit({ type, seq }: RunEvent, why: string): EngineError {
  return new EngineError('CHECKPOINT_INVALID', `Event ${seq} of the log (${type}) does not fit the state: ${why}`);
}

function requireParts(owner: string, plan: Plan, state: State): void {
  requireList(owner, 'plan', plan?.nodes, 'a plan, as planOf(…) gives it');
  requireObject(owner, 'state', state?.variables, 'the state of a run');
}
