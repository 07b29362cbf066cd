/** Conversations of agents whose process is lost at every step that it stores: nothing is done twice, no question and no input is lost. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../../scripts/support/files.js';
import { memorySessions, memoryTurnLogs, type SessionState } from '../../../src/entries/agents.js';
import { hasPostgres, type PostgresServer, startPostgres } from '../../stores/support/postgres-server.js';
import { createRandom } from '../../support/random.js';
import { buildProcess } from './support/build-process.js';
import { converse, type Noted, type World, type Write } from './support/conversation.js';
import { filesIn, folderWorld, workIn } from './support/folder-world.js';

const PROGRAMS = ['interrupt', 'team', 'steer', 'background'] as const;
type Program = (typeof PROGRAMS)[number];

/** What must have happened once, and what must have been heard once. */
const EXPECTED: Readonly<Record<Program, { readonly effects: readonly string[]; readonly inputs: readonly string[] }>> =
  {
    interrupt: { effects: ['book-flight', 'book-hotel', 'pay', 'reserve'], inputs: [] },
    team: { effects: ['fetch', 'look-left', 'look-right', 'note', 'publish'], inputs: [] },
    steer: { effects: ['pay', 'read'], inputs: ['i1', 'i2', 'i3', 'i4'] },
    background: { effects: ['dig', 'pay'], inputs: ['i1', 'q'] },
  };

/** Whether a conversation is as it would be had its process lived. `log`: what was done and what was stored, in this order. */
function expectOnce(
  program: Program,
  { turns, messages, waitingInputs, open }: SessionState,
  log: readonly string[],
): void {
  const { effects, inputs } = EXPECTED[program];
  const done = log.filter((line) => line.startsWith('effect ')).map((line) => line.slice('effect '.length));
  // What is done again before it was stored has the same key, so that whoever does it knows it again.
  expect([...new Set(done)].map((line) => line.split(' ')[0]).sort()).toEqual(effects);
  log.forEach((line, at) => {
    if (!line.startsWith('stored ')) return;
    const again = log.slice(at + 1).find((later) => later.includes(` ${line.slice('stored '.length)}#`));
    expect(again, `done again behind "${line}"`).toBeUndefined();
  });
  expect(open).toBeUndefined();
  expect(turns.map(({ status }) => status)).toEqual(turns.map(() => 'succeeded'));
  expect(waitingInputs).toEqual([]);
  const heard = messages.flatMap((message) =>
    message.role === 'user' && message.id !== undefined ? [message.id] : [],
  );
  expect(heard.toSorted()).toEqual(inputs);
  // Every call has one result.
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  const results = messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : []));
  expect(results.toSorted()).toEqual(calls.map(({ id }) => id).toSorted());
}

describe.each(PROGRAMS)('the conversation "%s", stopped at each of its writes', (program) => {
  /** One process after the other over the same stores; the first one stops at a write, the second one lives. */
  async function stopAt(count: number, when: 'before' | 'after'): Promise<boolean> {
    const logs = memoryTurnLogs();
    const log: string[] = [];
    const notes: Record<Exclude<Noted, 'effect' | 'stored'>, string[]> = {
      said: [],
      accepted: [],
      model: [],
      question: [],
    };
    const world = (isLost: () => boolean): World => ({
      sessions,
      // A process that was lost holds nothing.
      logs: { ...logs, heldFor: async () => 0 },
      note: (what, line) => {
        if (isLost()) return;
        if (what === 'effect' || what === 'stored') log.push(`${what} ${line}`);
        else notes[what].push(line);
      },
      notes: (what) => (what === 'effect' || what === 'stored' ? [] : notes[what]),
    });
    const sessions = memorySessions();
    let left = count;
    let isLost = false;
    const stopped = new Promise<undefined>((resolve) => {
      const write: Write = async (stored, note) => {
        if (isLost) return new Promise(() => {});
        left -= 1;
        const isLast = left === 0;
        if (!isLast || when === 'after') {
          const result = await stored();
          if (!isLost) note?.();
          if (!isLast) return result;
        }
        isLost = true;
        resolve(undefined);
        return new Promise(() => {});
      };
      converse(
        program,
        world(() => isLost),
        write,
      ).then(resolve as never, resolve as never);
    });
    await stopped;
    if (!isLost) return false;
    const state = await converse(
      program,
      world(() => false),
      (stored, note) =>
        stored().then((result) => {
          note?.();
          return result;
        }),
    );
    expectOnce(program, state, log);
    return true;
  }

  it.each(['before', 'after'] as const)('%s it is stored', { timeout: 600_000 }, async (when) => {
    let count = 1;
    while (await stopAt(count, when)) count += 1;
    expect(count).toBeGreaterThan(20);
  });
});

/** Files need no disk to outlive a process, and are flushed to this one at once. */
const IN_MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const plainly: Write = async (stored, note) => {
  const result = await stored();
  note?.();
  return result;
};

describe.each(PROGRAMS)('the conversation "%s" in files, killed before and behind each of its writes', (program) => {
  /**
   * A process that is killed leaves its files as they are at that moment. So one conversation is enough: its folder is copied, without letting the event
   * loop turn, wherever it might be killed, and every copy is gone on with.
   */
  it('comes to its end, with nothing done twice and the same questions asked', { timeout: 600_000 }, async () => {
    const folder = mkdtempSync(path.join(IN_MEMORY, 'runnel-copied-'));
    const live = path.join(folder, 'live');
    mkdirSync(live);
    try {
      let copies = 0;
      const copy = (): void => {
        copies += 1;
        cpSync(live, path.join(folder, `copy-${copies}`), { recursive: true });
      };
      await converse(program, folderWorld(live, filesIn(live, 0)), async (stored, note) => {
        copy();
        const result = await plainly(stored, note);
        copy();
        return result;
      });
      expect(copies).toBeGreaterThan(40);
      const { notes } = folderWorld(live, filesIn(live, 0));
      const { effects } = EXPECTED[program];
      for (let at = 1; at <= copies; at += 1) {
        const place = path.join(folder, `copy-${at}`);
        const world = folderWorld(place, filesIn(place, 1));
        const state = await converse(program, world, plainly);
        const where = `copy ${at} of ${copies}`;
        expectOnce(program, state, workIn(place));
        // Of what was not stored two things were at work at most.
        expect(world.notes('effect').length, where).toBeLessThanOrEqual(effects.length + 2);
        if (program !== 'background') {
          expect(world.notes('model').length, where).toBeLessThanOrEqual(notes('model').length + 2);
        }
        expect(new Set(world.notes('question')), where).toEqual(new Set(notes('question')));
        rmSync(place, { recursive: true });
      }
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  });
});

/** Kills at least, of each kind of stores; each conversation has some. */
const KILLS = Number(process.env.RUNNEL_TEST_KILLS ?? 8);

describe.concurrent('Conversations whose processes are killed again and again', { timeout: 3_600_000 }, () => {
  const cache = path.join(ROOT, 'node_modules/.cache');
  let folder: string;
  let main: string;
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    mkdirSync(cache, { recursive: true });
    folder = mkdtempSync(path.join(cache, 'killed-'));
    main = await buildProcess(folder);
    if (hasPostgres) server = await startPostgres();
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });

  /** Its code, or the signal that killed it. */
  function start(args: readonly (string | number)[]): Promise<number | string | null> {
    const child = spawn(process.execPath, [main, ...args.map(String)], { stdio: ['ignore', 'ignore', 'inherit'] });
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', (code, signal) => resolve(signal ?? code));
    });
  }

  it.each([
    ['files', 'files'],
    [hasPostgres ? 'a Postgres server' : 'the embedded database', 'database'],
  ])('with sessions and logs in %s', async (_, kind) => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
    const random = createRandom(seed);
    const kept = kind === 'files' ? 'files' : ((await server?.createDatabase()) ?? 'embedded');
    for (let kills = 0, talks = 0; kills < KILLS || talks < PROGRAMS.length; talks += 1) {
      const program = PROGRAMS[talks % PROGRAMS.length] as Program;
      const place = path.join(folder, `${kind}-${talks}`);
      mkdirSync(place);
      const points: string[] = [];
      let end: number | string | null = 'SIGKILL';
      for (let starts = 0; end === 'SIGKILL'; starts += 1) {
        const when = random.chance(0.5) ? 'before' : 'after';
        // The last one of many lives.
        const count = starts < 40 ? 1 + random.int(50) : 0;
        points.push(`${when} ${count}`);
        end = await start([program, kept, place, starts, when, count]);
        if (end === 'SIGKILL') kills += 1;
      }
      const about = `seed ${seed}, "${program}" killed ${points.join(', ')}`;
      expect(end, about).toBe(0);
      const log = readFileSync(path.join(place, 'effect'), 'utf8').split('\n').slice(0, -1);
      try {
        expectOnce(program, JSON.parse(readFileSync(path.join(place, 'result.json'), 'utf8')), log);
      } catch (error) {
        throw new Error(about, { cause: error });
      }
    }
  });
});
