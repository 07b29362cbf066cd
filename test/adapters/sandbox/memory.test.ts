import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { CodeLanguage } from '../../../src/adapters/sandbox/code-runner.js';
import { createEmbeddedRunner } from '../../../src/adapters/sandbox/embedded/embedded-runner.js';
import { runCode, tellResult } from './support/run-code.js';
import { countThreads } from './support/threads.js';

/** Scripts of each kind; `RUNNEL_SANDBOX_ROUNDS=25` makes a hundred in all. */
const ROUNDS = Number(process.env.RUNNEL_SANDBOX_ROUNDS ?? 2);

const BOMBS: readonly (readonly [CodeLanguage, string, RegExp])[] = [
  ['python', 'def main():\n  a = []\n  while True: a.append(bytearray(10**6))', /memory/],
  ['python', 'def main():\n  print("a" * 900000, flush=True)\n  while True: pass', /time/],
  ['nodejs', 'function main() { const a = []; for (;;) a.push(new Uint8Array(1e6)); }', /memory/],
  ['nodejs', 'function main() { require("fs").writeFileSync("artifacts/a.csv", "a".repeat(5e6)); for (;;); }', /time/],
];

it('gives all memory and all threads back', { timeout: 600_000 }, async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const threads = countThreads();
  const play = async (rounds: number): Promise<void> => {
    const runner = createEmbeddedRunner({ maxMemoryBytes: 128 * 1024 * 1024 });
    for (let round = 0; round < rounds; round += 1) {
      for (const [language, source, expected] of BOMBS) {
        const timeoutMs = expected.source === 'time' ? 200 : 30_000;
        expect(tellResult(await runCode(runner, language, source, { timeoutMs }))).toMatch(expected);
      }
    }
    await runner.close();
  };
  const measure = (): number => {
    collect();
    return process.memoryUsage().rss;
  };
  // The first round loads what stays loaded.
  await play(1);
  const before = measure();
  await play(ROUNDS);
  const after = measure();

  console.info(
    `${ROUNDS * BOMBS.length} bombs: ${Math.round(before / 2 ** 20)} MiB, then ${Math.round(after / 2 ** 20)} MiB`,
  );
  // A kind of bomb that is not given back holds 128 MiB a round, so two rounds show it; what the allocator keeps is less.
  expect(after).toBeLessThan(before + 192 * 1024 * 1024);
  expect(countThreads()).toBe(threads);
});
