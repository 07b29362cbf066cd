/** `Frontier` against a slow model of the same rules, on random graphs with cycles and gotos, live and restored from JSON. */
import { describe, expect } from 'vitest';
import { Frontier } from '../../src/graph/frontier.js';
import { link } from '../../src/graph/link.js';
import type { Outputs } from '../../src/graph/node-events.js';
import type { Plan, Scope } from '../../src/graph/plan.js';
import { restore, snapshot, stateFromJson, stateToJson } from '../../src/graph/snapshot.js';
import { Cells } from '../../src/graph/state.js';
import { Frame, type Token } from '../../src/graph/tokens.js';
import { property, type Random } from '../support/random.js';
import { randomCycles, TokenGame } from './support/token-game.js';

const MOST_MOVES = 60;

describe('the frontier', () => {
  property('releases the same tokens as brute force, also after a trip through JSON', 3_000, (random) => {
    const { specs, edges } = randomCycles(random);
    const plan = link(specs);
    const game = new TokenGame(plan, edges);
    const frontier = new Frontier(plan);
    const root = new Frame(plan.scopes[0] as Scope, undefined, '', {
      cells: Cells.empty<Outputs>(plan.nodes.length),
      variables: {},
    });
    const open: number[] = [];
    const compare = (ready: readonly Token[], expected: readonly { readonly id: number }[]) => {
      expect(idsOf(ready)).toEqual(idsOf(expected));
      open.push(...idsOf(expected));
    };
    const entered: Token[] = [];
    frontier.enter(root, entered);
    compare(entered, game.enter((plan.scopes[0] as Scope).entries));

    for (let move = 0; open.length > 0; move += 1) {
      const [id] = open.splice(random.int(open.length), 1) as [number];
      const restored = throughJson(plan, frontier, root);
      const token = find(root, id);
      const piece = game.live.find((other) => other.id === id) as (typeof game.live)[number];
      const waits = random.chance(0.05);
      const targets = waits || move > MOST_MOVES ? [] : chooseTargets(random, edges[token.node] as number[]);
      const ready: Token[] = [];
      const readyAfterRestore: Token[] = [];
      if (waits) {
        wait(frontier, token, ready);
        wait(restored.frontier, find(restored.root, id), readyAfterRestore);
        compare(ready, game.wait(piece));
      } else {
        frontier.advance(token, targets, ready);
        restored.frontier.advance(find(restored.root, id), targets, readyAfterRestore);
        compare(ready, game.advance(piece, targets));
      }
      expect(idsOf(readyAfterRestore), 'restored from JSON').toEqual(idsOf(ready));
      expect(statuses(restored.root)).toEqual(statuses(root));
    }
    expect(root.movingCount).toBe(0);
    expect(root.liveCount).toBe(game.live.length);
    // Whatever is left waits for an answer, or for someone who does.
    expect(game.live.some(({ status }) => status === 'waiting') || game.live.length === 0).toBe(true);
  });
});

function chooseTargets(random: Random, edges: readonly number[]): number[] {
  return random.chance(0.4) ? [...edges] : random.some(edges, 0.6);
}

function wait(frontier: Frontier, token: Token, ready: Token[]): void {
  frontier.setStatus(token, 'waiting');
  frontier.breakTie(token.frame, ready);
}

function throughJson(plan: Plan, frontier: Frontier, root: Frame) {
  const json = JSON.parse(JSON.stringify(stateToJson(plan, snapshot(frontier, root, undefined))));
  return restore(plan, stateFromJson(plan, json));
}

function find(frame: Frame, id: number): Token {
  for (let token = frame.first; token !== undefined; token = token.next) if (token.id === id) return token;
  throw new Error(`No live token ${id}.`);
}

function statuses(frame: Frame): string[] {
  const list: string[] = [];
  for (let token = frame.first; token !== undefined; token = token.next)
    list.push(`${token.id} ${token.node} ${token.status}`);
  return list.sort();
}

const idsOf = (tokens: readonly { readonly id: number }[]): number[] =>
  tokens.map(({ id }) => id).sort((a, b) => a - b);
