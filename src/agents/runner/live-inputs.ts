/** What reaches the agents of a turn while they work: inputs, and the wish to stop at a safe point. */
import { defer, filter, merge, type Observable, of, Subject, take } from 'rxjs';
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

/** What a turn is told of its agents. */
export interface TurnWatcher {
  delivered(input: UserInput, agent: AgentPlace, round: number): void;
  /** The safe point that a request waits for is reached. */
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
  #request: CancelRequest | undefined;

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

  /** Waits for a safe point; a later request takes its place. */
  cancelAt(request: CancelRequest): void {
    this.#request = request;
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

  now$(agent: AgentPlace): Observable<unknown> {
    const isNow = (input: UserInput): boolean => input.when === 'now' && this.#isFor(input, agent);
    return merge(
      defer(() => of(...this.#waiting)),
      this.#arrived$,
    ).pipe(filter(isNow), take(1));
  }

  arrived$(agent: AgentPlace): Observable<unknown> {
    const isMeant = (input: UserInput): boolean =>
      (joins(input) || input.when === 'preempt') && this.#isFor(input, agent);
    return merge(
      defer(() => of(...this.#waiting)),
      this.#arrived$,
    ).pipe(filter(isMeant), take(1));
  }

  reached(agent: AgentPlace, point: SafePoint): void {
    const request = this.#request;
    if (request?.mode !== POINTS[point]) return;
    if (request.deep === true || this.#speakers.has(agent.path)) this.#watcher.stopped(request.mode);
  }

  #isFor({ to }: UserInput, { name, path }: AgentPlace): boolean {
    return to === undefined ? this.#speakers.has(path) : name === to;
  }
}

/** Whether an input joins a turn that is under way. */
function joins({ when = 'safe-point' }: UserInput): boolean {
  return when === 'safe-point' || when === 'now';
}
