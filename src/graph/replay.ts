/** Rebuilding the state of a run from a snapshot and the records that came after it. */
import { EngineError } from '../errors.js';
import { createFrame } from './bodies.js';
import type { Frontier } from './frontier.js';
import type { JournalRecord } from './journal.js';
import type { Node, Plan } from './plan.js';
import { keepProgress } from './progress.js';
import { applyOutcome } from './settle.js';
import { restore, type State, snapshot } from './state.js';
import { detachConsumers } from './stream-edges.js';
import { type Frame, leave, type Token } from './token.js';

/**
 * The state after `records`. Pure: neither `state` nor the records are changed.
 *
 * @throws EngineError CHECKPOINT_INVALID when a record does not fit the state it comes to.
 */
export function replay(plan: Plan, state: State, records: Iterable<JournalRecord>): State {
  const working = new Replay(plan, state);
  for (const record of records) {
    try {
      working.apply(record);
    } catch (error) {
      if (error instanceof EngineError && error.code === 'CHECKPOINT_INVALID') throw error;
      const { message } = error as Error;
      throw misfit(record, message);
    }
  }
  return working.state;
}

function misfit({ token, type }: JournalRecord, why: string): EngineError {
  return new EngineError('CHECKPOINT_INVALID', `The journal says token ${token} ${type}, which does not fit: ${why}`);
}

class Replay {
  readonly #plan: Plan;
  readonly #frontier: Frontier;
  readonly #root: Frame;
  #last: State['last'];
  readonly #usage: State['usage'];

  constructor(plan: Plan, state: State) {
    const { frontier, root } = restore(plan, state, { keepsStreams: true });
    this.#plan = plan;
    this.#frontier = frontier;
    this.#root = root;
    this.#last = state.last;
    this.#usage = state.usage;
  }

  get state(): State {
    return snapshot(this.#frontier, this.#root, this.#last, this.#usage);
  }

  apply(record: JournalRecord): void {
    const token = this.#find(this.#root, record.token);
    if (token === undefined) {
      throw new EngineError(
        'CHECKPOINT_INVALID',
        `The journal says token ${record.token} ${record.type}, but it is not live.`,
      );
    }
    const { frame, node } = token;
    const ready: Token[] = [];
    switch (record.type) {
      case 'settled': {
        const targets = applyOutcome(this.#plan, this.#frontier, token, { ...record, type: 'settled' });
        if (this.#last === undefined || token.id >= this.#last.token) {
          this.#last = { token: token.id, outputs: record.outputs };
        }
        if (record.exit === true && frame.owner !== undefined) {
          this.#frontier.countStep();
          leave(frame);
        } else this.#moveOn(token, targets);
        return;
      }
      case 'rerouted':
        for (const to of record.targets) {
          const target = this.#plan.nodes[to];
          if (target?.scope !== frame.scope.index) throw misfit(record, `there is no node ${to} in its scope.`);
        }
        frame.values.cells.set(node, record.outputs);
        this.#moveOn(token, record.targets);
        return;
      case 'failed':
        frame.values.cells.set(node, record.outputs);
        return;
      case 'waiting':
        this.#takeBack(token);
        token.answer = undefined;
        this.#frontier.setStatus(token, 'waiting');
        if (record.outputs !== undefined) frame.values.cells.set(node, record.outputs);
        if (record.payload !== undefined) token.payload = record.payload;
        this.#frontier.breakTie(frame, ready);
        return;
      case 'progress':
        keepProgress(token, record);
        return;
      case 'streaming':
        this.#frontier.startStreaming(token, ready);
        return;
      case 'restarted':
        this.#takeBack(token);
        return;
      case 'skipped':
        this.#frontier.countStep();
        this.#frontier.drop(token, ready);
        return;
      case 'opened': {
        const scope = this.#plan.scopes[(this.#plan.nodes[node] as Node).body];
        if (scope === undefined) throw misfit(record, 'its node has no body.');
        if (token.frames?.has(record.round.key)) throw misfit(record, `the pass "${record.round.key}" is open.`);
        this.#frontier.enter(createFrame(this.#plan, token, scope, record.round));
        return;
      }
      case 'woken': {
        const woken = token.frames?.get(record.key);
        if (woken !== undefined) this.#frontier.wake(woken, { answers: record.answers, isTakeover: false });
        return;
      }
      case 'closed':
        token.frames?.delete(record.key);
    }
  }

  #moveOn(token: Token, targets: readonly number[] | undefined): void {
    this.#frontier.advance(token, targets, []);
    if (token.startedEarly !== undefined) for (const consumer of token.startedEarly) consumer.awaits -= 1;
  }

  #takeBack(producer: Token): void {
    for (const consumer of detachConsumers(producer)) {
      this.#frontier.countStep();
      this.#frontier.drop(consumer, []);
    }
  }

  #find(frame: Frame, id: number): Token | undefined {
    for (let token = frame.first; token !== undefined; token = token.next) {
      if (token.id === id) return token;
      if (token.frames === undefined) continue;
      for (const inner of token.frames.values()) {
        const found = this.#find(inner, id);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }
}
