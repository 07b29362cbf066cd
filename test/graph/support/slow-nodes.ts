/** Nodes that end when the test says so, in an order that the test chooses; no clock is involved. */
import { setImmediate } from 'node:timers/promises';
import { Observable, type Subscriber } from 'rxjs';
import type { NodeFunction } from '../../../src/graph/node.js';
import type { NodeEvent } from '../../../src/graph/node-events.js';
import type { Random } from '../../support/random.js';

/** The nodes at work. */
export class SlowNodes {
  /** Most nodes that were at work at once. */
  most = 0;
  readonly #atWork = new Set<Subscriber<NodeEvent>>();
  readonly #steps: { readonly node: Subscriber<NodeEvent>; readonly step: () => void }[] = [];

  get atWork(): number {
    return this.#atWork.size;
  }

  /** A node that does one step after the other, each when its turn comes; the last step ends it. */
  node(steps: (at: Parameters<NodeFunction>[0]) => Iterable<NodeEvent>): NodeFunction {
    return (at) =>
      new Observable((subscriber) => {
        const events = [...steps(at)];
        this.#atWork.add(subscriber);
        this.most = Math.max(this.most, this.#atWork.size);
        const advance = (index: number): void => {
          const step = () => {
            if (index === events.length - 1) this.#atWork.delete(subscriber);
            else advance(index + 1);
            subscriber.next(events[index] as NodeEvent);
          };
          this.#steps.push({ node: subscriber, step });
        };
        advance(0);
        return () => this.#atWork.delete(subscriber);
      });
  }

  /** Takes steps in random order until `isOver`; gives up when nothing is left to do. */
  async finish(random: Random, isOver: () => boolean): Promise<void> {
    for (let idle = 0; !isOver(); ) {
      if (this.step(random)) {
        idle = 0;
        continue;
      }
      idle += 1;
      if (idle > 100) throw new Error('The run waits, but no node is at work.');
      await setImmediate();
    }
  }

  /** Takes one step of a random node; false when no node is at work. */
  step(random: Random): boolean {
    while (this.#steps.length > 0) {
      const at = random.int(this.#steps.length);
      const [taken] = this.#steps.splice(at, 1);
      if (taken === undefined || taken.node.closed) continue;
      taken.step();
      return true;
    }
    return false;
  }
}
