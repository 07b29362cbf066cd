/** Agents whose process is killed at every step: nothing is done twice, no question and no input is lost. */
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeFolder, removeFolder } from '../stores/support/temporary-folder.js';
import { Ledger, type Noted, PROGRAMS, type ProgramName, runProgram } from './support/agent-programs.js';

const CHILD = path.resolve(import.meta.dirname, 'support/agent-child.ts');
/** The program as one file, which starts several times faster. */
const BUNDLE = path.resolve('node_modules/.cache/runnel', `agent-child-${process.pid}.mjs`);
const LATER = 3_600_000;

interface Expected {
  readonly answer: string;
  readonly effects: readonly string[];
  readonly models: number;
}

const EXPECTED: Readonly<Record<ProgramName, Expected>> = {
  interrupt: { answer: 'Invited.', effects: ['search', 'send'], models: 3 },
  team: { answer: 'All done.', effects: ['find_a', 'find_b', 'write'], models: 9 },
  steer: { answer: 'Told 1 times.', effects: ['read', 'read'], models: 3 },
};

/** Gives the steps of the program when it ended, and undefined when it was killed. */
function spawned(name: ProgramName, folder: string, step: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BUNDLE, name, folder, String(step)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (text: Buffer) => {
      said += text.toString();
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(undefined);
      else if (code === 0) resolve(Number(said));
      else reject(new Error(`The program ended with ${code ?? signal}.`));
    });
  });
}

const whats = (all: readonly Noted[], kind: Noted['kind']): string[] =>
  all.flatMap((noted) => (noted.kind === kind ? [noted.what] : []));

beforeAll(() =>
  build({ entryPoints: [CHILD], bundle: true, platform: 'node', format: 'esm', packages: 'external', outfile: BUNDLE }),
);
afterAll(() => rm(BUNDLE, { force: true }));

describe.each(PROGRAMS)('%s', (name) => {
  const { answer, effects, models } = EXPECTED[name];

  /** Kills the program at a step, goes on in this process, and looks at what was done altogether. */
  async function lostAt(step: number): Promise<boolean> {
    const folder = await makeFolder();
    try {
      const ended = await spawned(name, folder, step);
      const resumed = await runProgram(name, { folder, step: () => {}, now: () => Date.now() + LATER });
      const all = new Ledger(path.join(folder, 'ledger.jsonl'), () => {}).all;
      const where = `killed at step ${step}`;
      expect(resumed, where).toBe(answer);
      expect(
        whats(all, 'effect')
          .map((what) => what.split(' ')[0])
          .sort(),
        where,
      ).toEqual(effects);
      // What was at work when the process was lost is called again with its key; what had ended is not.
      expect(whats(all, 'called').length, where).toBeLessThanOrEqual(effects.length + 2);
      expect(whats(all, 'model').length, where).toBeLessThanOrEqual(models + 2);
      if (name === 'interrupt')
        expect(new Set(whats(all, 'asked')), where).toEqual(new Set(['host/review#approve/host-1']));
      return ended === undefined;
    } finally {
      await removeFolder(folder);
    }
  }

  // Hundreds of processes are started: how long that takes depends on the machine, and decides nothing.
  it('killed at any step comes to its end, with nothing done twice', { timeout: 1_800_000 }, async () => {
    const folder = await makeFolder();
    const steps = (await spawned(name, folder, 0)) as number;
    await removeFolder(folder);
    expect(steps).toBeGreaterThan(10);
    const queue = Array.from({ length: steps }, (_, at) => at + 1);
    const killed: boolean[] = [];
    const worker = async (): Promise<void> => {
      for (let step = queue.shift(); step !== undefined; step = queue.shift()) killed.push(await lostAt(step));
    };
    await Promise.all([worker(), worker()]);
    // Steps are counted from what was at work at once, so the last ones may not be there every time.
    expect(killed.filter(Boolean).length).toBeGreaterThan(steps * 0.8);
    console.log(`${name}: killed at ${killed.filter(Boolean).length} of ${steps} steps`);
  });
});
