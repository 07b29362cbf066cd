import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Precedence } from '../../src/operators/precedence.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Work that ends when the test says so, and when each piece began and ended. */
function setUp() {
  const precedence = new Precedence({ maxWaitMs: 20 });
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const piece = (name: string) => () => {
    log.push(name);
    return new Promise<void>((resolve) => ends.set(name, resolve));
  };
  const first = (name: string) => void precedence.first(piece(name));
  const behind = (name: string) => void precedence.behind(piece(name));
  const end = async (name: string) => {
    ends.get(name)?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { precedence, log, first, behind, end };
}

it('work behind begins at once when nothing is under way, and waits for no timer', () => {
  const { log, behind } = setUp();
  behind('a');
  expect(log).toEqual(['a']);
  expect(vi.getTimerCount()).toBe(0);
});

it('work behind waits for all that goes first, then begins one piece at a time in the order in which it was asked', async () => {
  const { log, first, behind, end } = setUp();
  for (const name of ['a', 'b']) first(name);
  for (const name of ['c', 'd']) behind(name);
  await end('a');
  expect(log).toEqual(['a', 'b']);
  await end('b');
  expect(log).toEqual(['a', 'b', 'c']);
  await end('c');
  expect(log).toEqual(['a', 'b', 'c', 'd']);
  await end('d');
  expect(vi.getTimerCount()).toBe(0);
});

it('what goes first waits for nothing, and goes before what was asked earlier', async () => {
  const { log, first, behind, end } = setUp();
  behind('c');
  behind('d');
  first('a');
  expect(log).toEqual(['c', 'a']);
  await end('c');
  expect(log).toEqual(['c', 'a']);
  await end('a');
  expect(log).toEqual(['c', 'a', 'd']);
});

it('a piece begins when it has waited long enough, whatever is under way', async () => {
  const { log, first, behind } = setUp();
  first('a');
  behind('c');
  await vi.advanceTimersByTimeAsync(19);
  expect(log).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(1);
  expect(log).toEqual(['a', 'c']);
});

/** What goes first comes so often that pauses of `pauseMs` are expected. */
async function expectPauses({ first, end }: ReturnType<typeof setUp>, pauseMs: number): Promise<void> {
  for (let at = 0; at < 40; at++) {
    first(`w${at}`);
    await end(`w${at}`);
    await vi.advanceTimersByTimeAsync(pauseMs);
  }
}

it('pieces begin in the first half of the pause that is expected, and the next one behind what goes first then', async () => {
  const set = setUp();
  const { log, first, behind, end } = set;
  await expectPauses(set, 8);
  first('a');
  for (const name of ['c', 'd', 'e']) behind(name);
  await end('a');
  expect(log.slice(-1)).toEqual(['c']);
  await vi.advanceTimersByTimeAsync(4);
  await end('c');
  expect(log.slice(-1)).toEqual(['d']);
  await vi.advanceTimersByTimeAsync(1);
  await end('d');
  expect(log.slice(-1)).toEqual(['d']);
  first('b');
  await end('b');
  expect(log.slice(-2)).toEqual(['b', 'e']);
});

it('a piece that is asked for in the second half of the pause waits for what goes first, and when that does not come no longer than others', async () => {
  const set = setUp();
  const { log, first, behind, end } = set;
  await expectPauses(set, 8);
  first('a');
  await end('a');
  await vi.advanceTimersByTimeAsync(5);
  behind('c');
  await vi.advanceTimersByTimeAsync(19);
  expect(log.slice(-1)).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(1);
  expect(log.slice(-1)).toEqual(['c']);
  behind('d');
  await end('c');
  expect(log.slice(-1)).toEqual(['d']);
});

it('pieces begin at any time where pauses are as long as twice the longest wait', async () => {
  const set = setUp();
  const { log, first, behind, end } = set;
  await expectPauses(set, 40);
  first('a');
  await end('a');
  await vi.advanceTimersByTimeAsync(11);
  behind('c');
  await vi.advanceTimersByTimeAsync(7);
  await end('c');
  behind('d');
  expect(log.slice(-2)).toEqual(['c', 'd']);
  expect(vi.getTimerCount()).toBe(0);
});

it('work that fails lets the next piece begin, and fails for its caller', async () => {
  const { precedence, log, behind } = setUp();
  const broken = () => Promise.reject(new Error('broken'));
  const [failed, alsoFailed] = [precedence.first(broken), precedence.behind(broken)];
  behind('c');
  await expect(failed).rejects.toThrow('broken');
  await expect(alsoFailed).rejects.toThrow('broken');
  await vi.advanceTimersByTimeAsync(0);
  expect(log).toEqual(['c']);
});

it('refuses to let work wait for no time', () => {
  expect(() => new Precedence({ maxWaitMs: 0 })).toThrow(/Precedence/);
});
