/**
 * Every function that the package exports, called with values that plain JavaScript hands over by mistake: it works, or fails with an EngineError
 * that names what was wrong. A bare TypeError from inside would tell nothing.
 */
import { isObservable } from 'rxjs';
import { expect, it } from 'vitest';
import * as adapters from '../../src/entries/adapters.js';
import * as agents from '../../src/entries/agents.js';
import * as chat from '../../src/entries/chat.js';
import * as engine from '../../src/entries/engine.js';
import * as knowledge from '../../src/entries/knowledge.js';
import * as server from '../../src/entries/server.js';
import * as testing from '../../src/entries/testing.js';
import * as runnel from '../../src/index.js';

type Called = (...values: readonly unknown[]) => unknown;

class Other {
  readonly field = 1;
}

const nothing = (): undefined => undefined;

/** What each function is called with, one call for each row. */
const CALLS: readonly (readonly unknown[])[] = [
  [],
  [null],
  [5],
  [''],
  ['x'],
  [{}],
  [[]],
  [new Other()],
  [nothing],
  [{ unheardOf: 1 }],
  [null, null],
  ['x', 5],
  ['x', null],
  [nothing, null],
  [nothing, 5],
  [{}, {}],
  [[], []],
  [{}, null],
  [nothing, { unheardOf: 1 }],
];

const modules = {
  runnel,
  '/engine': engine,
  '/adapters': adapters,
  '/agents': agents,
  '/chat': chat,
  '/knowledge': knowledge,
  '/server': server,
  '/testing': testing,
};
const exported = new Map<Called, string>();
for (const [entry, exports] of Object.entries(modules)) {
  for (const [name, value] of Object.entries(exports)) {
    const isClass = typeof value === 'function' && Function.prototype.toString.call(value).startsWith('class');
    if (typeof value === 'function' && !isClass && !exported.has(value as Called))
      exported.set(value as Called, entry === 'runnel' ? name : `${name} of ${entry}`);
  }
}

it('covers the whole of all entries', () => {
  expect(exported.size).toBeGreaterThan(180);
  expect([...exported.values()]).toEqual(
    expect.arrayContaining(['chain', 'planOf', 'runAgent', 'createKnowledgeBase of /knowledge']),
  );
});

it.each([...exported].map(([call, name]) => [name, call] as const))(
  '%s takes wrong values, or says what was wrong',
  async (_, call) => {
    const wrong: string[] = [];
    for (const values of CALLS) {
      for (const failure of await failuresOf(call, values)) {
        const problem = problemOf(failure);
        if (problem !== undefined) wrong.push(`${JSON.stringify(values)}: ${problem}`);
      }
    }
    expect(wrong).toEqual([]);
  },
);

/** What the call fails with: at once, or in the turns of the event loop that follow. */
async function failuresOf(call: Called, values: readonly unknown[]): Promise<readonly unknown[]> {
  const failures: unknown[] = [];
  const note = (error: unknown) => void failures.push(error);
  try {
    const given = call(...values);
    if (isObservable(given)) {
      const subscription = given.subscribe({ error: note });
      await turns();
      subscription.unsubscribe();
    } else if (isThenable(given)) {
      given.then(nothing, note);
      await turns();
    }
  } catch (error) {
    note(error);
  }
  return failures;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** What an error is without: its class, a code, or words that say which value was wrong and what belongs there. */
function problemOf(error: unknown): string | undefined {
  if (!runnel.EngineError.is(error)) return `a bare ${error}`;
  if (error.code === 'INTERNAL') return `INTERNAL: ${error.message}`;
  return SAYS_WHAT_TO_DO.test(error.message) ? undefined : `no advice in "${error.code}: ${error.message}"`;
}

const SAYS_WHAT_TO_DO = /must be|needs?\b|no option|Write|Give|Make|Wrap|is not|cannot|there is no|received/i;
