/** A run whose journal is held against its state whenever it is written. */
import { expect } from 'vitest';
import { Driver } from '../../../src/graph/driver.js';
import { type JournalRecord, Recorder, readRecord } from '../../../src/graph/journal.js';
import type { Plan } from '../../../src/graph/plan.js';
import { prepare } from '../../../src/graph/prepare.js';
import { replay } from '../../../src/graph/replay.js';
import { SILENT } from '../../../src/graph/reporter.js';
import { checkpointOf } from '../../../src/graph/run.js';
import type { Start } from '../../../src/graph/run-options.js';
import type { State } from '../../../src/graph/state.js';
import { stateFromJson, stateToJson } from '../../../src/graph/state-json.js';
import { MemoryJournal } from './memory-journal.js';

export interface AuditedRun {
  readonly isOver: boolean;
  /** How often the journal was held against the state. */
  readonly audits: number;
  /** The first difference. */
  readonly problem: unknown;
  readonly state: State;
  stop(): void;
}

/** Starts a run. The state is rebuilt step by step, through JSON each time, so any write could be a snapshot. */
export function startAudited(
  plan: Plan,
  start: Start,
  options: { readonly concurrency: number; readonly durability: 'sync' | 'async' },
): AuditedRun {
  const { frontier, root, last, input, usage, answers, kind, ready } = prepare(plan, start, 0, 'r');
  const texts: string[] = [];
  let rebuilt = '';
  const run = {
    isOver: false,
    audits: 0,
    problem: undefined as unknown,
    get state(): State {
      return driver.state;
    },
    stop: () => driver.stop(),
  };
  const audit = () => {
    if (run.problem !== undefined) return;
    try {
      const records = texts.splice(0).map(readRecord);
      const before = stateFromJson(plan, JSON.parse(rebuilt));
      rebuilt = textOf(plan, replay(plan, before, records));
      const told = records.map(({ type, token }) => `${type} ${token}`).join(', ');
      expect(JSON.parse(rebuilt), `rebuilt from: ${told}`).toEqual(JSON.parse(textOf(plan, driver.state)));
      run.audits += 1;
    } catch (problem) {
      run.problem = problem;
    }
  };
  class AuditedRecorder extends Recorder {
    override add(record: JournalRecord): void {
      super.add(record);
      texts.push(JSON.stringify(record));
    }
  }
  const checkpoint = () => checkpointOf(plan, driver.state, 'r', 0, 0);
  const broken = (problem: unknown) => {
    run.problem ??= problem;
  };
  const driver: Driver = new Driver(
    { plan, frontier, root, last, usage, reporter: SILENT },
    {
      run: 'r',
      input,
      wake: { answers, isTakeover: kind === 'takenOver' },
      services: undefined,
      concurrency: options.concurrency,
      maxSteps: 10_000,
      now: () => 0,
      random: () => 0,
      recorder: new AuditedRecorder({
        journal: new MemoryJournal().open(),
        durability: options.durability,
        checkpoint,
        position: () => 0,
        whenBroken: broken,
      }),
      whenEnded: () => {
        run.isOver = true;
        audit();
      },
    },
  );
  rebuilt = textOf(plan, driver.state);
  driver.state$.subscribe(audit);
  driver.start(ready);
  return run;
}

const textOf = (plan: Plan, state: State): string => JSON.stringify(stateToJson(plan, state));
