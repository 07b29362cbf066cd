import {
  BehaviorSubject,
  filter,
  firstValueFrom,
  from,
  isObservable,
  map,
  mergeMap,
  type Observable,
  take,
} from 'rxjs';
import type { WireEvent } from '../../../src/canvas/ragflow-events.js';
import { type AnyComponent, createRegistry, type Registry } from '../../../src/components/component.js';
import { toOutcome } from '../../../src/graph/activation.js';
import type { NodeFunction } from '../../../src/graph/node.js';
import type { NodeEvent } from '../../../src/graph/node-events.js';

/**
 * Keeps a run in step with its client, so that a cancel reaches it where the case says, however fast the machine is.
 *
 * A node works only when the client has seen that it started, and a model says its next piece only when the client has seen the
 * one before.
 */
export class Gate {
  /** What the client has seen: names of nodes that started, and of events. */
  readonly #seen = new BehaviorSubject<readonly string[]>([]);
  readonly #activations = new Map<string, number>();
  #isOpen = true;

  /** Holds everything back from now on, or nothing. */
  reset(holdsBack: boolean): void {
    this.#isOpen = !holdsBack;
    this.#activations.clear();
    this.#seen.next([]);
  }

  /** The client has read an event and wants no cancel. */
  saw({ event, data }: WireEvent): void {
    this.#seen.next([...this.#seen.value, event === 'node_started' ? `node ${data.component_id}` : event]);
  }

  readonly beforePiece = async (index: number): Promise<void> => {
    await firstValueFrom(this.#counted('message', index));
  };

  /** The components, each held back. */
  guard(components: Iterable<AnyComponent>): Registry {
    const guarded = [...components].map(
      (component): AnyComponent => ({
        ...component,
        create: (params, placement) => this.#guardNode(component.create(params, placement)),
      }),
    );
    return createRegistry(guarded);
  }

  #guardNode(activate: NodeFunction): NodeFunction {
    return (activation) => {
      if (this.#isOpen) return activate(activation);
      const { node } = activation;
      const count = (this.#activations.get(node) ?? 0) + 1;
      this.#activations.set(node, count);
      return this.#counted(`node ${node}`, count).pipe(mergeMap(() => eventsOf(activate(activation))));
    };
  }

  #counted(what: string, count: number): Observable<unknown> {
    return this.#seen.pipe(
      filter((seen) => this.#isOpen || seen.filter((each) => each === what).length >= count),
      take(1),
    );
  }
}

function eventsOf(result: ReturnType<NodeFunction>): Observable<NodeEvent> {
  return isObservable(result) ? result : from(Promise.resolve(result)).pipe(map(toOutcome));
}
