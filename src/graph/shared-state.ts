/** The state of a run as its nodes and watchers see it: one `BehaviorSubject`, for which nothing is built while nothing reads it. */
import { BehaviorSubject, Observable } from 'rxjs';
import type { State } from './state.js';
import type { LiveState } from './transition.js';

/** The shared state of one run. */
export class SharedState {
  /** An activation has ended since the last State was published. */
  hasChanged = false;
  readonly #live: LiveState;
  /** Made for the first subscriber. */
  #subject: BehaviorSubject<State> | undefined = undefined;
  #isOver = false;

  constructor(live: LiveState) {
    this.#live = live;
  }

  /** The current State, then one after every change that ends an activation; completes with the run. */
  get state$(): Observable<State> {
    return new Observable((subscriber) => {
      const { state } = this.#live;
      this.#subject ??= new BehaviorSubject(state);
      if (!this.#subject.observed && !this.#isOver) this.#subject.next(state);
      return this.#subject.subscribe(subscriber);
    });
  }

  publish(): void {
    if (!this.hasChanged || this.#subject?.observed !== true) return;
    this.hasChanged = false;
    this.#subject.next(this.#live.state);
  }

  end(): void {
    this.#isOver = true;
    this.#subject?.complete();
  }
}
