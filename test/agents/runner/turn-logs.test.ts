/** Logs of turns, of every kind: what is stored, who may write, and what another runner goes on from. */
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { defer, lastValueFrom, NEVER, type Observable, of, Subject, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  agent,
  createRunner,
  fileTurnLogs,
  memorySessions,
  memoryTurnLogs,
  postgresTurnLogs,
  type RunnerEvent,
  type TurnLogs,
} from '../../../src/entries/agents.js';
import { defineTool } from '../../../src/index.js';
import { embeddedForAll } from '../../stores/support/embedded-for-all.js';
import { newTenant } from '../../stores/support/records.js';
import { makeFolder, removeFolder } from '../../stores/support/temporary-folder.js';
import { replies } from '../loop/support.js';

let folder: string;
beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(() => removeFolder(folder));

const event = (seq: number) => ({ type: 'node-started', seq }) as never;
const snapshot = (seq: number) => ({ run: 'r', seq }) as never;

async function filesIn(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

describe.each(['memory', 'files', 'postgres'])('logs of turns in %s', (kind) => {
  const stores = kind === 'postgres' ? embeddedForAll() : undefined;
  let logs: TurnLogs;
  beforeEach(() => {
    if (stores !== undefined) logs = postgresTurnLogs(stores(), { tenant: newTenant() });
    else logs = kind === 'memory' ? memoryTurnLogs() : fileTurnLogs(folder);
  });

  it('give what was stored: the newest snapshot and the events behind it', async () => {
    const { log, stored } = await logs.open('s', 't');
    expect(stored).toBeUndefined();
    log.snapshot(snapshot(0));
    log.append(event(1));
    await log.flush();
    log.append(event(2));
    log.snapshot(snapshot(2));
    log.append(event(3));
    await log.close();
    const again = await logs.open('s', 't');
    expect(again.stored?.snapshot).toBe('{"run":"r","seq":2}');
    expect([...(again.stored?.events ?? [])].at(-1)).toBe('{"type":"node-started","seq":3}');
    await again.log.close();
  });

  it('store nothing more for a writer whose turn was taken over, at any time', async () => {
    const first = await logs.open('s', 't');
    first.log.snapshot(snapshot(0));
    await first.log.flush();
    const second = await logs.open('s', 't');
    expect(second.stored?.snapshot).toBe('{"run":"r","seq":0}');
    first.log.append(event(1));
    await expect(first.log.flush()).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    await expect(first.log.flush()).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    await first.log.close().catch(() => undefined);
    await second.log.close();
    expect([...((await logs.open('s', 't')).stored?.events ?? [])]).toEqual([]);
  });

  it('keep what was stored when the next writer stores nothing', async () => {
    const first = await logs.open('s', 't');
    first.log.snapshot(snapshot(0));
    await first.log.close();
    await (await logs.open('s', 't')).log.close();
    expect((await logs.open('s', 't')).stored?.snapshot).toBe('{"run":"r","seq":0}');
  });

  it('are held until they are closed, and gone when they are deleted', async () => {
    expect(await logs.heldFor('s', 't')).toBe(0);
    const { log } = await logs.open('s', 't');
    log.snapshot(snapshot(0));
    await log.flush();
    expect(await logs.heldFor('s', 't')).toBeGreaterThan(0);
    await log.close();
    expect(await logs.heldFor('s', 't')).toBe(0);
    await logs.delete('s', 't');
    expect((await logs.open('s', 't')).stored).toBeUndefined();
    expect(await logs.heldFor('s', 'other')).toBe(0);
  });
});

describe.each(['memory', 'files', 'postgres'])('old logs of turns in %s', (kind) => {
  const stores = kind === 'postgres' ? embeddedForAll() : undefined;

  it('are pruned, but none that a process holds', async () => {
    const database = stores === undefined ? undefined : postgresTurnLogs(stores(), { tenant: newTenant() });
    const logs = database ?? (kind === 'memory' ? memoryTurnLogs() : fileTurnLogs(folder));
    const store = async (session: string, turn: string) => {
      const { log } = await logs.open(session, turn);
      log.snapshot(snapshot(0));
      await log.flush();
      return log;
    };
    for (const turn of ['a', 'b']) await (await store('s', turn)).close();
    const held = await store('s', 'c');
    const later = Date.now() + 3_600_000;
    expect(await logs.prune(0)).toBe(0);
    expect(await logs.prune(later)).toBe(2);
    expect((await logs.open('s', 'a')).stored).toBeUndefined();
    held.append(event(1));
    await held.close();
    const again = await logs.open('s', 'c');
    expect(again.stored?.snapshot).toBe('{"run":"r","seq":0}');
    await again.log.close();
  });
});

describe('logs of turns in a database', () => {
  const stores = embeddedForAll();

  it('count a process as lost once its lease has expired, and belong to one tenant', async () => {
    const tenant = newTenant();
    const logs = postgresTurnLogs(stores(), { tenant });
    const { log } = await logs.open('s', 't');
    expect(await logs.heldFor('s', 't')).toBeGreaterThan(0);
    expect(await postgresTurnLogs(stores(), { tenant: newTenant() }).heldFor('s', 't')).toBe(0);
    await stores().database.repeat(
      (sql) => sql`update runnel.agent_turn_logs set expires_at = clock_timestamp() where tenant = ${tenant}`,
    );
    expect(await logs.heldFor('s', 't')).toBe(0);
    await log.close();
  });

  it('keep nothing that stands before the newest snapshot, and store lines once whose answer was lost', async () => {
    const tenant = newTenant();
    const { turnLines } = stores();
    const key = { tenant, session: 's', turn: 't' };
    const { epoch } = await turnLines.claim(key, 60_000);
    for (let at = 1; at < 20; at += 2) {
      const lines = [
        { isSnapshot: true, text: `{"seq":${at}}` },
        { isSnapshot: false, text: `{"event":${at}}` },
      ];
      const batch = { epoch, from: at, lines, leaseMs: 60_000 };
      expect(await turnLines.store(key, batch)).toBe(true);
      expect(await turnLines.store(key, batch)).toBe(true);
    }
    const next = await turnLines.claim(key, 60_000);
    expect(next.lines.map(({ text }) => text)).toEqual(['{"seq":19}', '{"event":19}']);
    expect(await turnLines.store(key, { epoch, from: 21, lines: [], leaseMs: 60_000 })).toBe(false);
    // The first snapshot of a writer takes the place of what the writer before has stored.
    const lines = [{ isSnapshot: true, text: '{"seq":20}' }];
    await turnLines.store(key, { epoch: next.epoch, from: 1, lines, leaseMs: 60_000 });
    const [row] = await stores().database.repeat(
      (sql) => sql<{ lines: number }[]>`
        select count(*)::int as lines from runnel.agent_turn_lines where tenant = ${tenant}`,
    );
    expect(row?.lines).toBe(1);
  });

  it.each([[{ leaseMs: 0 }], [{ tenant: '' }], [{ lease: 1 }]])('refuse the options %j', (options) => {
    expect(() => postgresTurnLogs(stores(), options as never)).toThrowError(
      expect.objectContaining({ code: 'OPTION_INVALID' }),
    );
  });
});

describe('logs of turns in files', () => {
  it('count a process as lost when it has told nothing of itself for the time of its lease', async () => {
    let time = 1_000_000;
    // Longer than this test takes: the log tells of itself in each third of its lease.
    const leaseMs = 3_600_000;
    const logs = fileTurnLogs(folder, { leaseMs, now: () => time });
    const { log } = await logs.open('s', 't');
    log.snapshot(snapshot(0));
    await log.flush();
    time = Date.now() + 2 * leaseMs;
    expect(await logs.heldFor('s', 't')).toBe(0);
    await log.close();
  });

  it('pass over a line that was being written, and any names of sessions', async () => {
    const logs = fileTurnLogs(folder);
    const { log } = await logs.open('../../evil', '/etc/passwd');
    log.snapshot(snapshot(0));
    await log.close();
    const [file = ''] = await filesIn();
    expect(file.startsWith(folder)).toBe(true);
    await appendFile(file, 'e{"type":"node-st');
    const { stored } = await logs.open('../../evil', '/etc/passwd');
    expect([...(stored?.events ?? [])]).toEqual([]);
  });

  it('begin anew from a snapshot when they are large, and keep one file', async () => {
    const logs = fileTurnLogs(folder, { compactBytes: 200 });
    const { log } = await logs.open('s', 't');
    for (let at = 0; at < 100; at += 1) {
      log.snapshot(snapshot(at));
      log.append(event(at));
      await log.flush();
    }
    const [file = '', ...more] = await filesIn();
    expect(more).toEqual([]);
    expect((await readFile(file, 'utf8')).length).toBeLessThan(400);
    await log.close();
    expect((await logs.open('s', 't')).stored?.snapshot).toBe('{"run":"r","seq":99}');
  });

  it('say what the system said when the folder cannot be used', async () => {
    const file = path.join(folder, 'file');
    await writeFile(file, '');
    await expect(fileTurnLogs(file).open('s', 't')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it.each([[''], [3]])('refuse the folder %j', (directory) => {
    expect(() => fileTurnLogs(directory as never)).toThrowError(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});

describe('a runner with logs', () => {
  const all = (events$: Observable<RunnerEvent>): Promise<RunnerEvent[]> => lastValueFrom(events$.pipe(toArray()));

  /** A runner whose first process stops in the middle of its second call of the model, and one that goes on. */
  function twoProcesses(now: () => number) {
    const sessions = memorySessions();
    const calls: string[] = [];
    const tool = defineTool({
      name: 'pay',
      description: 'Pays.',
      run: (_, { key }) => {
        calls.push(key);
        return 'paid';
      },
    });
    const made = (model: ReturnType<typeof replies>) =>
      createRunner({
        agent: agent({ name: 'guide', model, tools: [tool] }),
        sessions,
        logs: fileTurnLogs(folder, { leaseMs: 60_000, now }),
      });
    const stuck$ = new Subject<void>();
    const stuck = replies(
      { calls: [{ name: 'pay' }] },
      defer(() => {
        stuck$.next();
        return NEVER;
      }),
    );
    const later = replies('Done.');
    return { first: made(stuck), second: made(later), stuck$, later, calls };
  }

  const untilStuck = (first: ReturnType<typeof twoProcesses>) =>
    new Promise<{ readonly failed: Promise<unknown>; leave(): void }>((resolve) => {
      const failed = new Promise((told) => {
        const subscription = first.first.run('Go.', { session: 's' }).subscribe({
          error: told,
        });
        first.stuck$.subscribe(() => resolve({ failed, leave: () => subscription.unsubscribe() }));
      });
    });

  it('goes on from the last step that had ended, once the process counts as lost; the old one is refused', async () => {
    let time = Date.now();
    const processes = twoProcesses(() => time);
    const { failed, leave } = await untilStuck(processes);
    const { second, calls, later } = processes;
    await expect(all(second.resume('s'))).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    await expect(all(second.run('Other.', { session: 's' }))).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    time += 3_600_000;
    const events = await all(second.resume('s'));
    expect(events.at(-1)).toMatchObject({ type: 'turn-ended', status: 'succeeded', text: 'Done.' });
    expect(calls).toHaveLength(1);
    expect(later.requests[0]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'paid' });
    expect((await second.session('s')).turns).toHaveLength(1);
    leave();
    await Promise.race([failed, new Promise((done) => setImmediate(done))]);
    expect((await second.session('s')).turns).toMatchObject([{ status: 'succeeded' }]);
    expect(await filesIn()).toEqual([]);
  });

  it('begins a turn anew that was lost before anything was stored of it', async () => {
    const sessions = memorySessions();
    await sessions.append(
      's',
      [{ type: 'turn-started', turn: 't', run: 'r', input: [{ role: 'user', content: 'Go.' }] }],
      0,
    );
    const model = replies('Here.');
    const runner = createRunner({ agent: agent({ name: 'guide', model }), sessions, logs: fileTurnLogs(folder) });
    const end = (await all(runner.resume('s'))).at(-1);
    expect(end).toMatchObject({ status: 'succeeded', text: 'Here.', turn: 't' });
    expect(model.requests[0]?.messages).toMatchObject([{ content: 'Go.' }]);
  });

  it('does not open another turn for an input that is known while it goes on', async () => {
    const sessions = memorySessions();
    const input = { id: 'i', content: 'Shorter!' };
    await sessions.append(
      's',
      [
        { type: 'input-accepted', input },
        { type: 'turn-started', turn: 't', run: 'r', input: [{ role: 'user', content: 'Go.' }] },
      ],
      0,
    );
    const model = replies('Here.');
    const runner = createRunner({ agent: agent({ name: 'guide', model }), sessions, logs: fileTurnLogs(folder) });
    const events = await all(runner.resume('s', {}, { input$: of(input) }));
    expect(events.filter(({ type }) => type === 'input-delivered')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'turn-ended')).toHaveLength(1);
  });

  it('refuses a log of its own for a turn', () => {
    const runner = createRunner({ agent: agent({ name: 'guide', model: replies('x') }), logs: memoryTurnLogs() });
    expect(() =>
      runner.run('Go.', { log: { append: () => {}, snapshot: () => {}, flush: async () => {} } }),
    ).toThrowError(expect.objectContaining({ code: 'OPTION_INVALID' }));
  });
});

describe.each([false, true])('a wrong answer, with logs: %s', (hasLogs) => {
  it('leaves the question open', async () => {
    const sure = defineTool({
      name: 'sure',
      description: 'Asks.',
      run: (_, call) => (call.answer === undefined ? call.interrupt('Sure?') : `It is ${call.answer}.`),
    });
    const model = replies({ calls: [{ name: 'sure', id: 'c' }] }, 'Done.');
    const runner = createRunner({
      agent: agent({ name: 'guide', model, tools: [sure] }),
      ...(hasLogs && { logs: memoryTurnLogs() }),
    });
    const last = (events$: Observable<RunnerEvent>) => lastValueFrom(events$);
    expect(await last(runner.run('Go.', { session: 's' }))).toMatchObject({ status: 'waiting' });
    await expect(last(runner.resume('s', { 'guide/nowhere': 1 }))).rejects.toMatchObject({ code: 'ANSWER_UNKNOWN' });
    expect((await runner.session('s')).open).toMatchObject({ status: 'waiting' });
    expect(await last(runner.resume('s', { 'guide/tools#c': 'yes' }))).toMatchObject({
      status: 'succeeded',
      text: 'Done.',
    });
  });
});
