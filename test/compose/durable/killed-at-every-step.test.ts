/** A program with two questions, whose process is killed at every step it records. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('./support/order.ts', import.meta.url));

/** How a process ended: its code, or the signal that killed it. */
function start(folder: string, when: 'before' | 'after', count: number): Promise<number | string> {
  const child = spawn(process.execPath, ['--import', 'tsx', PROGRAM, folder, when, String(count)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(signal ?? code ?? -1));
  });
}

const ANSWERS: Readonly<Record<string, unknown>> = { size: '42', pay: true };

interface Outcome {
  readonly result: string;
  readonly effects: readonly string[];
  readonly kills: number;
  /** Steps that the log has as settled, with their keys. */
  readonly settled: readonly string[];
}

/** Starts the program until it is done. Every process dies at its first record; one that waits for an answer gets it in the next process. */
async function drive(when: 'before' | 'after'): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'runnel-order-'));
  const file = (name: string) => join(folder, name);
  const given: Record<string, unknown> = {};
  let kills = 0;
  try {
    // A process that dies before its record gets no further, so that every other one lives for one record more.
    for (let starts = 0; starts < 40; starts += 1) {
      const count = when === 'after' ? 1 : 1 + (starts % 2);
      const end = await start(folder, when, count);
      if (end === 'SIGKILL') kills += 1;
      else if (end === 0) {
        const lines = (name: string) => readFileSync(file(name), 'utf8').trim().split('\n');
        const settled = lines('log.txt').flatMap((line) => {
          const event = JSON.parse(line) as { type?: string; node: string; token: number };
          return event.type === 'node-settled' ? [`${event.node} order-1/${event.token}`] : [];
        });
        return { result: readFileSync(file('result.txt'), 'utf8'), effects: lines('effects.txt'), kills, settled };
      } else if (end === 3) {
        const asked = JSON.parse(readFileSync(file('asked.json'), 'utf8')) as string[];
        for (const address of asked) given[address] = ANSWERS[address];
        writeFileSync(file('answers.json'), JSON.stringify(given));
      } else throw new Error(`The program ended with ${end}; its log: ${existsSync(file('log.txt'))}`);
    }
    throw new Error('The program is never done.');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe.concurrent('A program that is killed', { timeout: 900_000 }, () => {
  it('behind every record of a step does everything once and loses no question', async ({ expect }) => {
    const { result, effects, kills, settled } = await drive('after');
    expect(result).toBe('shipped, paid true');
    expect(kills).toBeGreaterThanOrEqual(5);
    expect(effects.map((line) => line.split(' ')[0])).toEqual(['reserve', 'price', 'ship']);
    expect(new Set(settled).size).toBe(settled.length);
  });

  it('before its records does again what was not recorded, under the same key, and nothing else', async ({
    expect,
  }) => {
    const { result, effects, settled } = await drive('before');
    expect(result).toBe('shipped, paid true');
    expect([...new Set(effects.map((line) => line.split(' ')[0]))]).toEqual(['reserve', 'price', 'ship']);
    expect(new Set(settled).size).toBe(settled.length);
    for (const name of ['reserve', 'price', 'ship'])
      expect(new Set(effects.filter((line) => line.startsWith(name))).size).toBe(1);
  });
});
