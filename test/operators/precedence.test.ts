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
