/** A server that is lost while several rounds of a body are at work on the same node. */
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { documentOf } from '../transport/support/documents.js';
import { durableStores } from '../transport/support/durable-stores.js';
import { type Frame, openStream } from '../transport/support/event-stream.js';
import { startServer, type TestServer } from '../transport/support/server.js';
import type { Probe } from '../transport/support/test-components.js';

const ENV = { RUNNEL_LEASE_MS: '400' };
const ITEMS = ['a', 'b', 'c'];

/** A Probe for each item, with a node before it that settles at once, or without. */
const eachItem = (container: string, hasBefore: boolean): JsonObject => ({
  ...documentOf({
    begin: ['Begin', ['Each:E']],
    'Each:E': [
      container,
      ['Message:M'],
      {
        items_ref: 'env.items',
        max_concurrency: 3,
        outputs: { results: { ref: 'StringTransform:S@result' } },
      },
    ],
    'IterationItem:I': ['IterationItem', [hasBefore ? 'Message:B' : 'Probe:P'], {}, 'Each:E'],
    ...(hasBefore ? { 'Message:B': ['Message', ['Probe:P'], { content: ['<{item}>'] }, 'Each:E'] } : {}),
    'Probe:P': ['Probe', ['StringTransform:S'], {}, 'Each:E'],
    'StringTransform:S': [
      'StringTransform',
      [],
      { method: 'merge', script: '{item}: {Probe:P@content}', delimiters: [','] },
      'Each:E',
    ],
    'Message:M': ['Message', [], { content: ['{Each:E@results}'] }],
  }),
  variables: { items: { type: 'array', value: ITEMS } },
});

/** The next three activations, by token. */
async function nextByToken({ probes }: TestServer, count: number): Promise<ReadonlyMap<string, Probe>> {
  const found = new Map<string, Probe>();
  for (let at = 0; at < count; at += 1) {
    const probe = await probes.next();
    found.set(probe.token, probe);
  }
  return found;
}

/** What a client shows: pieces in order, without those that were taken back. */
function shown(frames: readonly Frame[]): string[] {
  let pieces: { readonly id: number; readonly place: string; readonly content: string }[] = [];
  const placeOf = ({ component_id, within }: JsonObject) => `${component_id} ${within ?? ''}`;
  for (const { id = 0, json } of frames) {
    if (json?.event === 'message') pieces.push({ id, place: placeOf(json.data), content: json.data.content });
    if (json?.event === 'node_restarted') {
      pieces = pieces.filter((piece) => piece.place !== placeOf(json.data) || piece.id < json.data.retract_from);
    }
  }
  return pieces.map(({ content }) => content);
}

const nodesIn = (frames: readonly Frame[], name: string): readonly string[] =>
  frames.flatMap(({ json }) => (json?.event === name ? [`${json.data.component_id} ${json.data.within ?? ''}`] : []));

describe.each([
  ['Parallel', true],
  ['Parallel', false],
  ['Iteration', true],
  ['Iteration', false],
] as const)('a body of %s (a node before: %s) with two rounds at work', (container, hasBefore) => {
  it('goes on: nothing that finished runs or is said again, each item gets its own result', async () => {
    const stores = durableStores();
    const first = await startServer({ stores, env: ENV });
    const agent = await first.agent(eachItem(container, hasBefore));
    const stream = await openStream(`${first.url}/api/v1/agents/${agent}/stream`, { body: { query: 'x' } });
    const run = String(stream.headers.get('x-run-id'));
    const lost = await nextByToken(first, 3);
    const [a, b, c] = [...lost.values()] as [Probe, Probe, Probe];
    // What the one that ends says comes after the starts of those that do not.
    b.say('half of b,');
    c.say('half of c,');
    a.say('all of a,');
    a.settle('A');
    const seen = await stream.until(
      ({ json }) => json?.event === 'node_finished' && json.data.component_id === 'StringTransform:S',
    );
    await first.stop();

    const second = await startServer({ stores, env: ENV });
    const again = await nextByToken(second, 2);
    expect([...again.keys()].sort()).toEqual([b.token, c.token].sort());
    again.get(c.token)?.say('all of c,');
    again.get(b.token)?.say('all of b,');
    again.get(c.token)?.settle('C');
    again.get(b.token)?.settle('B');
    const url = `${second.url}/api/v1/agents/${agent}/runs/${run}/events`;
    const frames = await (await openStream(url)).rest();

    expect(frames.slice(0, seen.length)).toEqual(seen);
    const finished = nodesIn(frames, 'node_finished').filter((node) => !node.startsWith('IterationItem'));
    expect(new Set(finished).size).toBe(finished.length);
    expect(nodesIn(frames, 'node_restarted').filter((node) => node.startsWith('Probe'))).toHaveLength(2);
    const before = ITEMS.map((item) => `<${item}>`);
    const said = shown(frames).filter((text) => text !== '');
    expect(said.slice(0, -1).sort()).toEqual([...(hasBefore ? before : []), ...'abc'].map(wordFor).sort());
    const answer = String(said.at(-1)).replaceAll("'", '"');
    expect(JSON.parse(answer)).toEqual(['a: A', 'b: B', 'c: C']);
    const session = frames[0]?.json.session_id;
    const { data } = (await second.call('GET', `/api/v1/agents/${agent}/sessions/${session}`)).body;
    expect(data.message.at(-1).content).toBe(said.join(''));
  });
});

const wordFor = (item: string): string => (item.length === 1 ? `all of ${item},` : item);
