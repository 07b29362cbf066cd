/** Text that goes from node to node while it comes: all of it, once, in order. */
import { concat, defer, from, of, tap } from 'rxjs';
import { describe, expect } from 'vitest';
import type { RunEvent } from '../../src/graph/events.js';
import { link, type NodeSpec } from '../../src/graph/link.js';
import type { NodeFunction } from '../../src/graph/node.js';
import { delta, settled } from '../../src/graph/node-events.js';
import { property, type Random } from '../support/random.js';
import { SlowNodes } from './support/slow-nodes.js';
import { spec } from './support/specs.js';
import { nodesOf, watch, written } from './support/watch.js';

describe('stream edges', () => {
  property('give a reader every piece once and in order, and settle it after the writers', 1_500, async (random) => {
    const slow = new SlowNodes();
    const net = randomNet(random, slow);
    const concurrency = 1 + random.int(4);
    const watched = watch(link(net.specs), { input: null }, { concurrency });
    await slow.finish(random, () => watched.isOver);

    expect(watched.events.at(-1)?.type).toBe('run-settled');
    expect(slow.most).toBeLessThanOrEqual(concurrency);
    expectTexts(net, watched.events);
    expect(nodesOf(watched.events, 'node-settled').length).toBe(net.texts.size);
    expect([...net.calls.values()].every((calls) => calls === 1)).toBe(true);
    expectOrder(net, watched.events);
    for (const [node, text] of deltasIn(watched.events)) expect(text, node).toBe(net.texts.get(node));
  });

  property('give the same texts when the run is stopped and resumed', 500, async (random) => {
    const slow = new SlowNodes();
    const net = randomNet(random, slow);
    const plan = link(net.specs);
    let start: Parameters<typeof watch>[1] = { input: null };
    for (let stops = 1 + random.int(3); stops > 0; stops -= 1) {
      const abort = new AbortController();
      const watched = watch(plan, start, { signal: abort.signal });
      for (let steps = random.int(15); steps > 0; steps -= 1) slow.step(random);
      abort.abort();
      expectTexts(net, watched.events);
      start = { checkpoint: written(plan, watched.outcome!.state) };
    }
    const watched = watch(plan, start);
    await slow.finish(random, () => watched.isOver);
    expectTexts(net, watched.events);
    const { cells } = written(plan, watched.outcome!.state).state as { cells: Record<string, { content: string }> };
    expect(new Map(Object.entries(cells).map(([node, { content }]) => [node, content]))).toEqual(net.texts);
  });
});

interface Net {
  readonly specs: NodeSpec[];
  /** Text of each node. */
  readonly texts: Map<string, string>;
  readonly reads: Map<string, readonly string[]>;
  /** How often each node ran. */
  readonly calls: Map<string, number>;
}

/** Writers; readers that read up to three earlier nodes, some writing on what they read; silent nodes in between. */
function randomNet(random: Random, slow: SlowNodes): Net {
  const net: Net = { specs: [], texts: new Map(), reads: new Map(), calls: new Map() };
  const downstream = new Map<string, string[]>();
  const count = 2 + random.int(9);
  for (let at = 0; at < count; at += 1) {
    const id = `n${at}`;
    const earlier = [...net.texts.keys()];
    const reads = random.chance(0.6) ? random.shuffle(earlier).slice(0, random.int(4)) : [];
    const after = random.some(earlier, 0.15);
    for (const source of new Set([...reads, ...after])) downstream.get(source)?.push(id);
    const own = Array.from({ length: random.int(5) }, (_, piece) => `${id}.${piece} `);
    const text = [...reads.map((source) => net.texts.get(source) as string), ...own].join('');
    net.reads.set(id, reads);
    net.texts.set(id, text);
    net.calls.set(id, 0);
    downstream.set(id, []);
    const activate = reads.length === 0 ? writer(own, slow) : reader(reads, own);
    const count =
      (node: NodeFunction): NodeFunction =>
      (given) => {
        net.calls.set(id, (net.calls.get(id) as number) + 1);
        return node(given);
      };
    const streams = random.chance(0.8) ? ['content'] : [];
    net.specs.push(
      spec(id, { activate: count(activate), consumes: reads, streams, downstream: downstream.get(id) as string[] }),
    );
  }
  return { ...net, specs: random.shuffle(net.specs) };
}

function writer(pieces: readonly string[], slow: SlowNodes): NodeFunction {
  return slow.node(() => [...pieces.map((text) => delta('content', text)), settled({ content: pieces.join('') })]);
}

/** Says on what it reads, source after source, then what it has to say itself. */
function reader(reads: readonly string[], own: readonly string[]): NodeFunction {
  return (at) => {
    const read$ = reads.map((source) => at.stream(`${source}@content`));
    let content = '';
    const said$ = concat(...read$, from(own.map((text) => delta('content', text)))).pipe(
      tap(({ text }) => {
        content += text;
      }),
    );
    return concat(
      said$,
      defer(() => of(settled({ content }))),
    );
  };
}

function textsIn(events: readonly RunEvent[]): [string, string][] {
  return events.flatMap((event): [string, string][] =>
    event.type === 'node-settled' ? [[event.node, event.outputs.content as string]] : [],
  );
}

/** Whoever settled did so once, with its whole text. */
function expectTexts({ texts }: Net, events: readonly RunEvent[]): void {
  const settledTexts = textsIn(events);
  expect(settledTexts).toEqual(settledTexts.map(([node]) => [node, texts.get(node)]));
  expect(new Set(settledTexts.map(([node]) => node)).size).toBe(settledTexts.length);
}

/** What each node was heard to say. */
function deltasIn(events: readonly RunEvent[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'node-delta') texts.set(event.node, (texts.get(event.node) ?? '') + event.text);
  }
  return texts;
}

/** A reader settles after whom it reads, and nobody speaks after it settled. */
function expectOrder({ reads }: Net, events: readonly RunEvent[]): void {
  const done = new Set<string>();
  for (const event of events) {
    if (event.type === 'node-delta') expect(done.has(event.node), `${event.node} speaks after its end`).toBe(false);
    if (event.type !== 'node-settled') continue;
    for (const source of reads.get(event.node) as string[]) {
      expect(done.has(source), `${event.node} before ${source}`).toBe(true);
    }
    done.add(event.node);
  }
}
