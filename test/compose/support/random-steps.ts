/** Random steps over numbers: chains, parallels, branches, maps, loops, graphs with cycles, streams, questions, states. */
import { from, map as mapChunks } from 'rxjs';
import {
  branch,
  chain,
  defineState,
  generator,
  graph,
  loop,
  map,
  operator,
  parallel,
  type Step,
  type StepActivation,
  step,
} from '../../../src/index.js';
import type { Random } from '../../support/random.js';

/** A step of numbers, and what counts its activations. */
export type NumberStep = Step<number, number>;

/** What steps do beside computing. */
export interface Effects {
  /** Called by each plain function when it ends, with its path. */
  ended(path: string, attempt: string): void;
}

/** How a random step is made. */
export interface StepSetup {
  readonly effects: Effects;
  /** Whether some steps ask. */
  readonly asks: boolean;
  /** Whether some steps give chunks. */
  readonly streams: boolean;
  /** Whether some graphs have a state that their steps change. */
  readonly states: boolean;
}

const MODULUS = 9_973;
const numbers = { chunks: (items: readonly number[]) => items.reduce((sum, item) => sum + item, 0) % MODULUS };

/** A random step; the same for the same numbers, whatever the effects. */
export function randomStep(random: Random, setup: StepSetup): NumberStep {
  return new Maker(random, setup).any(3);
}

class Maker {
  readonly #random: Random;
  readonly #setup: StepSetup;
  #count = 0;

  constructor(random: Random, setup: StepSetup) {
    this.#random = random;
    this.#setup = setup;
  }

  any(depth: number): NumberStep {
    if (depth === 0) return this.#leaf();
    const kinds = ['leaf', 'chain', 'parallel', 'branch', 'map', 'loop', 'cycle', 'diamond'] as const;
    switch (this.#random.pick(kinds)) {
      case 'leaf':
        return this.#leaf();
      case 'chain':
        return this.#chain(depth);
      case 'parallel':
        return this.#parallel(depth);
      case 'branch':
        return this.#branch(depth);
      case 'map':
        return this.#map(depth);
      case 'loop':
        return loop(this.any(depth - 1), { until: (_: number, round: number) => round >= 2, maxRounds: 3 });
      case 'cycle':
        return this.#cycle(depth);
      case 'diamond':
        return this.#diamond(depth);
    }
  }

  #name(kind: string): string {
    this.#count += 1;
    return `${kind}${this.#count}`;
  }

  #leaf(): NumberStep {
    const factor = 2 + this.#random.int(50);
    const { asks, streams } = this.#setup;
    const isLate = this.#random.chance(0.3);
    const form = this.#random.int(10);
    if (form < 2 && asks) return this.#asking(factor);
    if (form < 6 && streams) return this.#streaming(factor, form);
    return step(this.#name('plain'), (value: number, at: StepActivation) => {
      const end = () => {
        this.#setup.effects.ended(at.path, at.key);
        return (value * factor + 1) % MODULUS;
      };
      return isLate ? Promise.resolve().then(end) : end();
    });
  }

  #asking(factor: number): NumberStep {
    return step(this.#name('ask'), (value: number, at: StepActivation) =>
      at.answer === undefined ? at.interrupt({ value }) : (value * factor + Number(at.answer)) % MODULUS,
    );
  }

  #streaming(factor: number, form: number): NumberStep {
    const parts = (value: number) => [value % 7, value % 11, value % 13].map((part) => part * factor);
    if (form === 2) return step(this.#name('parts'), (value: number) => from(parts(value)), numbers);
    if (form === 3)
      return operator(
        this.#name('each'),
        mapChunks((value: number) => (value * factor) % MODULUS),
        numbers,
      );
    if (form === 4) {
      return generator(
        this.#name('pulled'),
        async function* (chunks: AsyncIterable<number>) {
          for await (const chunk of chunks) yield* parts(chunk);
        },
        numbers,
      );
    }
    return step(
      this.#name('late'),
      async function* (value: number) {
        for (const part of parts(value)) {
          await Promise.resolve();
          yield part;
        }
      },
      numbers,
    );
  }

  #chain(depth: number): NumberStep {
    return chain(this.any(depth - 1), this.any(depth - 1));
  }

  #parallel(depth: number): NumberStep {
    const parts = { a: this.any(depth - 1), b: this.any(depth - 1), c: this.#leaf() };
    return chain(
      parallel(parts),
      step(this.#name('sum'), ({ a, b, c }: { a: number; b: number; c: number }) => (a + 3 * b + 5 * c) % MODULUS),
    );
  }

  #branch(depth: number): NumberStep {
    return branch((value: number) => (value % 2 === 0 ? 'even' : 'odd'), {
      even: this.any(depth - 1),
      odd: this.any(depth - 1),
    });
  }

  #map(depth: number): NumberStep {
    return chain(
      step(this.#name('items'), (value: number) => [value, value + 1, value + 2]),
      map(this.any(depth - 1), { concurrency: 1 + this.#random.int(3) }),
      step(this.#name('joined'), (values: readonly number[]) =>
        values.reduce((sum, one) => (sum * 3 + one) % MODULUS, 0),
      ),
    );
  }

  #cycle(depth: number): NumberStep {
    const State = defineState(this.#name('state'), () => ({ rounds: [] as number[] }));
    const body = this.any(depth - 1);
    const changes = this.#setup.states;
    return graph<number, number>(
      this.#name('cycle'),
      (g) => {
        const work = g.node('work', body, {
          before: (value: number, at: StepActivation) => {
            if (changes) at.state(State).append('rounds', value);
            return value + 1;
          },
        });
        const end = g.node('sum', (value: number, at: StepActivation) =>
          at.state(State).value.rounds.reduce((sum, one) => (sum * 7 + one) % MODULUS, value),
        );
        g.edge(g.start, work);
        g.branch(work, { again: work, enough: end }, (value: number) =>
          value % 3 === 0 ? 'enough' : this.#again(value),
        );
        g.edge(end, g.end);
      },
      { state: State, maxSteps: 200_000 },
    );
  }

  /** A cycle ends whatever its body does: three of four values leave it. */
  #again(value: number): 'again' | 'enough' {
    return value % 4 === 1 && value % 5 < 3 ? 'again' : 'enough';
  }

  #diamond(depth: number): NumberStep {
    return graph<number, number>(this.#name('diamond'), (g) => {
      const head = g.node('head', this.#leaf());
      const left = g.node('left', this.any(depth - 1));
      const right = g.node('right', this.#leaf());
      const foot = g.node('foot', (both: { left: number; right: number }) => (both.left * 2 + both.right) % MODULUS);
      g.edge(g.start, head);
      g.edge(head, left);
      g.edge(head, right);
      g.join({ left, right }, foot);
      g.edge(foot, g.end);
    });
  }
}
