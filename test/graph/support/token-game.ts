/**
 * The rules of the graph once more, the slow way: reachability by brute force, every join looked at after every move.
 *
 * Written to be compared with `Frontier`, from its description and not from its code.
 */
import type { Plan } from '../../../src/graph/plan.js';
import type { Random } from '../../support/random.js';
import { type SpecParts, spec } from './specs.js';

export interface Piece {
  id: number;
  readonly node: number;
  status: 'ready' | 'held' | 'waiting';
}

/** `leads[from][to]`: whether there is a path of at least one edge. */
export function transitiveClosure(edges: readonly (readonly number[])[]): boolean[][] {
  const leads = edges.map((to) => edges.map((_, at) => to.includes(at)));
  for (const via of leads.keys()) {
    for (const row of leads) {
      if (row[via]) for (const to of leads.keys()) row[to] ||= (leads[via] as boolean[])[to] as boolean;
    }
  }
  return leads;
}

export class TokenGame {
  readonly #plan: Plan;
  readonly #leads: boolean[][];
  live: Piece[] = [];
  #nextId = 1;

  constructor(plan: Plan, edges: readonly (readonly number[])[]) {
    this.#plan = plan;
    this.#leads = transitiveClosure(edges);
  }

  enter(entries: readonly number[]): Piece[] {
    return entries.map((node) => this.#add(node, 'ready'));
  }

  /** Moves a token on to `targets`; gives what may run now. */
  advance(token: Piece, targets: readonly number[]): Piece[] {
    const ready: Piece[] = [];
    for (const to of targets) {
      const held = this.live.find(({ node, status }) => node === to && status === 'held');
      if (this.#plan.nodes[to]?.isJoin !== true) ready.push(this.#add(to, 'ready'));
      else if (held === undefined) this.#add(to, 'held');
      else held.id = this.#nextId++;
    }
    this.live.splice(this.live.indexOf(token), 1);
    return [...ready, ...this.#release()];
  }

  /** A token begins to wait for an answer. */
  wait(token: Piece): Piece[] {
    token.status = 'waiting';
    return this.#release();
  }

  #release(): Piece[] {
    const held = this.live.filter(({ status }) => status === 'held');
    const free = held.filter((join) => !this.live.some((other) => other !== join && this.#reaches(other, join)));
    const isMoving = this.live.some(({ status }) => status === 'ready');
    const chosen = free.length > 0 || isMoving ? free : this.#tie(held);
    for (const join of chosen) join.status = 'ready';
    return chosen;
  }

  /** Of joins that only wait for joins of their own cycle, the one with the lowest index. */
  #tie(held: readonly Piece[]): Piece[] {
    const stuck = held.filter((join) =>
      this.live.every((other) => other === join || !this.#reaches(other, join) || this.#reaches(join, other)),
    );
    const free = stuck.filter(
      (join) => !this.live.some((other) => other.status === 'waiting' && this.#reaches(other, join)),
    );
    return free.sort((a, b) => a.node - b.node).slice(0, 1);
  }

  #reaches(from: Piece, to: Piece): boolean {
    return this.#leads[from.node]?.[to.node] === true;
  }

  #add(node: number, status: Piece['status']): Piece {
    const piece = { id: this.#nextId++, node, status };
    this.live.push(piece);
    return piece;
  }
}

/** Specs of a graph with cycles, self-loops and gotos, and its edges by index. */
export function randomCycles(random: Random, partsOf: (id: string) => SpecParts = () => ({})) {
  const count = 2 + random.int(10);
  const ids = Array.from({ length: count }, (_, at) => `n${at}`);
  const density = random.next() * 0.35;
  const specs = ids.map((id) =>
    spec(id, {
      downstream: random.shuffle(random.some(ids, density)),
      targets: random.chance(0.3) ? random.some(ids, 0.15) : [],
      join: random.chance(0.1) ? 'any' : 'all',
      isEntry: id === 'n0',
      ...partsOf(id),
    }),
  );
  const edges = specs.map(({ downstream, targets }) =>
    [...new Set([...downstream, ...targets])].map((id) => ids.indexOf(id)),
  );
  return { specs, edges };
}
