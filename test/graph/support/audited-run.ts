/** A run whose log is folded and held against its state whenever an activation has ended. */
import { expect } from 'vitest';
import type { RunEvent } from '../../../src/graph/events.js';
import { foldState } from '../../../src/graph/fold.js';
import { changesState, LogWriter, readEvent } from '../../../src/graph/log.js';
import { Performance } from '../../../src/graph/perform.js';
import type { Plan } from '../../../src/graph/plan.js';
import { EventReporter } from '../../../src/graph/reporter.js';
import { checkpointOf, prepare } from '../../../src/graph/run.js';
import type { Start } from '../../../src/graph/run-options.js';
import { stateFromJson, stateToJson } from '../../../src/graph/snapshot.js';
import type { State } from '../../../src/graph/state.js';
import { MemoryLog } from './memory-log.js';

export interface AuditedRun {
  readonly isOver: boolean;
  /** How often the log was held against the state. */
  readonly audits: number;
  /** Types of the events that were folded. */
  readonly kinds: ReadonlySet<string>;
  /** The first difference. */
  readonly problem: unknown;
  readonly state: State;
  stop(): void;
}

/** Starts a run. The state is rebuilt step by step, through JSON each time, so any event could be the last before a snapshot. */
export function startAudited(
  plan: Plan,
  start: Start,
  options: { readonly concurrency: number; readonly durability: 'sync' | 'async' },
): AuditedRun {
  const { live, input, answers, kind, ready } = prepare(plan, start, 0, 'r');
  const texts: string[] = [];
  let rebuilt = textOf(plan, live.state);
  const kinds = new Set<string>();
  const run = {
    isOver: false,
    audits: 0,
    kinds,
    problem: undefined as unknown,
    get state(): State {
      return live.state;
    },
    stop: () => performance.stop(),
  };
  const audit = () => {
    if (run.problem !== undefined) return;
    try {
      const events = texts.splice(0).map(readEvent);
      const before = stateFromJson(plan, JSON.parse(rebuilt));
      rebuilt = textOf(plan, foldState(plan, before, events));
      const told = events.flatMap((event) => (changesState(event) ? [labelOf(event)] : [])).join(', ');
      expect(JSON.parse(rebuilt), `rebuilt from: ${told}`).toEqual(JSON.parse(textOf(plan, live.state)));
      for (const { type } of events) kinds.add(type);
      run.audits += 1;
    } catch (problem) {
      run.problem = problem;
    }
  };
  const log = new LogWriter({
    log: new MemoryLog().open(),
    durability: options.durability,
    checkpoint: () => checkpointOf(plan, live.state, 'r', 0, 0),
    whenBroken: (problem) => {
      run.problem ??= problem;
    },
  });
  const reporter = new EventReporter(
    plan,
    'r',
    () => 0,
    0,
    (event) => {
      texts.push(JSON.stringify(event));
      log.append(event);
    },
  );
  const performance: Performance = new Performance(live, reporter, {
    run: 'r',
    input,
    answers,
    isRecovered: kind === 'recovered',
    services: undefined,
    concurrency: options.concurrency,
    maxSteps: 10_000,
    now: () => 0,
    random: () => 0,
    isStored: true,
    isResumable: true,
    log,
    ended: () => {
      run.isOver = true;
      audit();
    },
  });
  performance.state$.subscribe(audit);
  performance.start(ready);
  return run;
}

const textOf = (plan: Plan, state: State): string => JSON.stringify(stateToJson(plan, state));

const labelOf = (event: RunEvent): string => ('token' in event ? `${event.type} ${event.token}` : event.type);
