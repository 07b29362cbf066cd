import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { catchError, concatMap, lastValueFrom } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { failureOf } from '../egress/support/servers.js';
import { callOnce, declare, textOfCall, use } from './support/using.js';

const SCRIPT = path.resolve('test/adapters/mcp/support/stdio-server.ts');

async function startable(env: Record<string, string> = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'mcp-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const started = path.join(folder, 'started');
  const args = ['--import', import.meta.resolve('tsx'), SCRIPT];
  const servers = declare({ s: { type: 'stdio', command: process.execPath, args, env: { ...env, STARTED: started } } });
  const pids = async () => (await readFile(started, 'utf8')).trim().split('\n').map(Number);
  return { servers, pids };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A process that was killed is there until its parent has heard of it. */
async function gone(pid: number): Promise<void> {
  while (isRunning(pid)) await new Promise(setImmediate);
}

describe('a program', () => {
  it('is started with its own environment alone, and ended behind the last call', async () => {
    process.env.RUNNEL_TEST_SECRET = 'not yours';
    onTestFinished(() => {
      delete process.env.RUNNEL_TEST_SECRET;
    });
    const { servers, pids } = await startable({ OWN: 'value' });
    const env = JSON.parse(await textOfCall(servers, 'env'));
    expect(env).toMatchObject({ OWN: 'value', PATH: process.env.PATH });
    expect(env).not.toHaveProperty('RUNNEL_TEST_SECRET');
    await servers.close();
    const [pid = 0, ...more] = await pids();
    expect(more).toEqual([]);
    await gone(pid);
  });

  it('that ends in the middle of a call is started anew for the next one', async () => {
    const { servers, pids } = await startable();
    const call = (name: string) => ({ name, args: {}, trace: {}, files: undefined });
    const both$ = use(servers, (connection) =>
      connection.call(call('exit')).pipe(
        catchError((error: Error) => {
          expect(error.message).toContain('closed the connection');
          return connection.tools();
        }),
        concatMap(() => connection.call(call('env'))),
      ),
    );
    expect(await lastValueFrom(both$)).toMatchObject({ type: 'result' });
    await servers.close();
    const all = await pids();
    expect(all).toHaveLength(2);
    await Promise.all(all.map(gone));
  });

  it('that says too much in one message is ended', async () => {
    const { servers, pids } = await startable();
    expect(String(await failureOf(callOnce(servers, 'huge')))).toContain('closed the connection');
    await servers.close();
    await Promise.all((await pids()).map(gone));
  });

  it('that does not end when asked is killed', async () => {
    const { servers, pids } = await startable({ STUBBORN: 'yes' });
    await textOfCall(servers, 'env');
    await servers.close();
    expect((await pids()).filter(isRunning)).toEqual([]);
  });

  it('is not started while 32 others run', async () => {
    const servers = declare({
      idle: { type: 'stdio', command: 'sleep', args: ['60'] },
      absent: { type: 'stdio', command: '/nowhere/at/all' },
    });
    const idle = Array.from({ length: 32 }, (_, n) =>
      use(servers, (connection) => connection.tools(), { id: 'idle', run: `run ${n}` }).subscribe({ error: () => {} }),
    );
    const failure = async () => String(await failureOf(callOnce(servers, 'x', {}, { id: 'absent' })));
    expect(await failure()).toContain('32 programs run already');
    for (const one of idle) one.unsubscribe();
    // They were told to end, and have not.
    expect(await failure()).toContain('32 programs run already');
    await servers.close();
    expect(await failure()).toContain('ENOENT');
  });

  it('that is not there is a failure in words', async () => {
    const servers = declare({ s: { type: 'stdio', command: '/nowhere/at/all' } });
    expect(String(await failureOf(callOnce(servers, 'x')))).toMatch(/Tool "x" of MCP server "s" failed: .*ENOENT/);
  });
});
