/** What reaches the agents of a turn while they work: inputs, and the wish to stop at a safe point. */
import { defer, filter, merge, type Observable, of, Subject, type Subscription, take, timer } from 'rxjs';
import type { AgentPlace, LiveControl, SafePoint } from '../loop/live-control.js';
import type { UserInput } from '../sessions/session-store.js';
import type { CancelMode } from './runner-events.js';

/** A wish to stop. */
export interface CancelRequest {
  readonly mode: CancelMode;
  /** Milliseconds after which it is `now`. @default never */
  readonly withinMs?: number;
  /** Whether the safe points of inner agents count as well. @default false */
  readonly deep?: boolean;
}

/** A request as a turn takes it: `any` holds at the safe point that comes first. */
export interface SafePointRequest extends Omit<CancelRequest, 'mode'> {
  readonly mode: CancelMode | 'any';
}

/** What a turn is told of its agents. */
export interface TurnWatcher {
  delivered(input: UserInput, agent: AgentPlace, round: number): void;
  /** The safe point that a request waits for is reached; `now` when there was no time left to wait for it, also behind one that was reached. */
  stopped(mode: CancelMode): void;
}

const POINTS: Readonly<Record<SafePoint, CancelMode>> = {
  model: 'after-model',
  tools: 'after-tools',
  round: 'after-round',
};

/** The inputs of a turn, as its agents ask for them. */
export class LiveInputs implements LiveControl {
  readonly #speakers: ReadonlySet<string>;
  readonly #watcher: TurnWatcher;
  readonly #arrived$ = new Subject<UserInput>();
  readonly #waiting: UserInput[] = [];
  #request: SafePointRequest | undefined;
  #expiry: Subscription | undefined;

  /** @param speakers paths of the agents that inputs without `to` are for, and whose safe points count */
  constructor(speakers: readonly string[], watcher: TurnWatcher) {
    this.#speakers = new Set(speakers);
    this.#watcher = watcher;
  }

  /** An input that is stored: agents have it from their next safe point on. */
  add(input: UserInput): void {
    this.#waiting.push(input);
  }

  /** Drops the model's call for an input that was added, if it is to be dropped. */
  interrupt(input: UserInput): void {
    this.#arrived$.next(input);
  }

  /**
   * Waits for a safe point, for `withinMs` at most; a later request takes its place.
   *
   * ```text
   * points     --m-----t--        (after-tools)
   * stopped    --------a
   *
   * withinMs   ----|
   * stopped    ----n              (now)
   * ```
   */
  cancelAt(request: SafePointRequest): void {
    this.#expiry?.unsubscribe();
    if (request.mode === 'now') {
      this.#watcher.stopped('now');
      return;
    }
    this.#request = request;
    if (request.withinMs === undefined) return;
    this.#expiry = timer(request.withinMs).subscribe(() => this.#watcher.stopped('now'));
  }

  /** Ends with its turn. */
  close(): void {
    this.#expiry?.unsubscribe();
  }

  waiting(agent: AgentPlace, delivered: readonly string[]): readonly UserInput[] {
    return this.#waiting.filter((input) => joins(input) && this.#isFor(input, agent) && !delivered.includes(input.id));
  }

  deliver(agent: AgentPlace, inputs: readonly UserInput[], round: number): void {
    for (const input of inputs) {
      const at = this.#waiting.indexOf(input);
      if (at >= 0) this.#waiting.splice(at, 1);
      this.#watcher.delivered(input, agent, round);
    }
  }

  preempts(agent: AgentPlace): boolean {
    return this.#waiting.some((input) => input.when === 'preempt' && this.#isFor(input, agent));
  }

  now$(agent: AgentPlace, delivered: readonly string[]): Observable<unknown> {
    const isNow = (input: UserInput): boolean =>
      input.when === 'now' && this.#isFor(input, agent) && !delivered.includes(input.id);
    return merge(
      defer(() => of(...this.#waiting)),
      this.#arrived$,
    ).pipe(filter(isNow), take(1));
  }

  arrived$(agent: AgentPlace, delivered: readonly string[]): Observable<unknown> {
    const isMeant = (input: UserInput): boolean =>
      (joins(input) || input.when === 'preempt') && this.#isFor(input, agent) && !delivered.includes(input.id);
    return merge(
      defer(() => of(...this.#waiting)),
      this.#arrived$,
    ).pipe(filter(isMeant), take(1));
  }

  reached(agent: AgentPlace, point: SafePoint): void {
    const request = this.#request;
    const mode = POINTS[point];
    if (request?.mode !== mode && request?.mode !== 'any') return;
    if (request.deep !== true && !this.#speakers.has(agent.path)) return;
    // It holds once; what is at work may still be stopped when its time is over.
    this.#request = undefined;
    this.#watcher.stopped(mode);
  }

  #isFor({ to }: UserInput, { name, path }: AgentPlace): boolean {
    return to === undefined ? this.#speakers.has(path) : name === to;
  }
}

/** Whether an input joins a turn that is under way. */
function joins({ when = 'safe-point' }: UserInput): boolean {
  return when === 'safe-point' || when === 'now';
}
