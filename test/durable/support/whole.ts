/** What has to be true of a run of the calling canvas, whatever happened to its servers and stores meanwhile. */
import { expect } from 'vitest';
import { ANSWER, CALLERS, callerOf, ROUNDS } from './canvas.js';
import { attach, type Follower, nodesIn, storedNumbers, textsShown } from './follower.js';
import type { Ledger } from './ledger.js';
import { call } from './server-process.js';

export interface Around {
  readonly ledger: Ledger;
  readonly urlNow: () => string;
  readonly agent: string;
  /** The code of an error that a run may fail with all the same. @default none */
  readonly mayFailWith?: string;
  /** Of random numbers, for messages. */
  readonly seed?: number;
}

/**
 * A client has received the stored events, byte for byte, each once; each node has finished once and is known by one key; and the run has
 * succeeded with its whole text.
 */
export async function expectWhole(follower: Follower, around: Around): Promise<void> {
  const { run, seen, done } = follower;
  const { ledger, urlNow, agent, seed, mayFailWith } = around;
  await done;
  const stored = attach(urlNow, agent, run);
  await stored.done;
  expect({ seed, run, seen }).toEqual({ seed, run, seen: stored.seen });
  const numbers = await storedNumbers(urlNow, agent, run);
  expect({ seed, run, numbers }).toEqual({ seed, run, numbers: numbers.map((_, index) => index + 1) });
  // Rising, each once; RAGFlow's format leaves numbers out.
  const ids = seen.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
  const { data: record } = await call(`${urlNow()}/api/v1/agents/${agent}/runs/${run}`);
  if (record.error?.code === 'RUN_LOST') {
    expect(CALLERS.map((node) => ledger.calls(run, node))).toEqual(CALLERS.map(() => 0));
    return;
  }
  if (mayFailWith !== undefined && record.error?.code === mayFailWith) return;
  expect({ seed, run, status: record.status, error: record.error }).toMatchObject({ status: 'succeeded' });
  const finished = nodesIn(seen, 'node_finished').map(({ component, within }) => `${within ?? ''} ${component}`);
  expect({ seed, run, finished: [...new Set(finished)] }).toEqual({ seed, run, finished });
  const called = nodesIn(seen, 'node_finished').flatMap(({ component, within }) => callerOf(component, within) ?? []);
  expect({ seed, run, called: called.sort() }).toEqual({ seed, run, called: [...CALLERS].sort() });
  const texts = [...textsShown(seen)].sort();
  expect({ seed, run, texts }).toEqual({ seed, run, texts: [['', ANSWER], ...ROUNDS] });
  for (const node of CALLERS) {
    expect({ seed, run, node, keys: ledger.keys(run, node).size }).toEqual({ seed, run, node, keys: 1 });
  }
}

/** How often nodes have called that clients know as finished. */
export function callsOfSettled(followers: readonly Follower[], ledger: Ledger) {
  return new Map(
    followers.flatMap(({ run, seen }) =>
      nodesIn(seen, 'node_finished').flatMap(({ component, within }) => {
        const node = callerOf(component, within);
        if (node === undefined) return [];
        return [[`${run} ${node}`, { run, node, calls: ledger.calls(run, node) }] as const];
      }),
    ),
  );
}

/** Also those whose client was gone before it knew them. */
export async function expectAllEnded(url: string, agent: string): Promise<void> {
  for (;;) {
    const { data } = await call(`${url}/api/v1/agents/${agent}/runs?status=running`);
    if (data.length === 0) return;
    await Promise.all(data.map(({ id }: { readonly id: string }) => attach(() => url, agent, id).done));
  }
}
