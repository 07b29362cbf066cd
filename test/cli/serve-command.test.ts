import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeGroups } from '../../src/settings/read-settings.js';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { type Called, call } from './fake-terminal.js';

/** Starts `runnel serve` on a free port and gives it back once it says where it listens. */
async function serve(args: readonly string[] = [], env: Record<string, string> = {}) {
  const interrupt = new AbortController();
  const said = new AbortController();
  let welcome = '';
  const ended: Promise<Called> = call(['serve', ...args], {
    env: { RUNNEL_PORT: '0', RUNNEL_DATA_DIR: await temporaryFolder(), ...env },
    signal: interrupt.signal,
    onOut: (text) => {
      welcome += text;
      said.abort();
    },
  });
  await Promise.race([once(said.signal, 'abort'), ended]);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(welcome)?.[0] ?? '';
  const stop = (): Promise<Called> => {
    interrupt.abort();
    return ended;
  };
  onTestFinished(async () => void (await stop()));
  return { welcome, url, stop };
}

async function stream(url: string, agent: string, body: object, headers = {}): Promise<string> {
  const answer = await fetch(`${url}/api/v1/agents/${agent}/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return answer.text();
}

/** The answer in an event stream, without what was thought. */
function answerIn(text: string): string {
  return [...text.matchAll(/^data:(\{.*\})$/gm)]
    .map((match) => JSON.parse(match[1] as string))
    .filter(({ event }) => event === 'message')
    .map(({ data }) => data.content)
    .join('');
}

describe('serve', () => {
  it('tests databases for editors, private ones only where they are opened', async () => {
    const probe = async (env: Record<string, string>) => {
      const { url } = await serve([], env);
      // What listens there is this very server, and no database.
      const { port } = new URL(url);
      const answer = await fetch(`${url}/api/v1/agents/test_db_connection`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          db_type: 'PostgreSQL',
          database: 'd',
          username: 'u',
          host: '127.0.0.1',
          port,
          password: 'p',
        }),
      });
      return answer.json();
    };
    expect(await probe({})).toEqual({ code: 102, message: expect.stringContaining('RUNNEL_ALLOW_PRIVATE_NETWORK') });
    expect(await probe({ RUNNEL_ALLOW_PRIVATE_NETWORK: 'true' })).toEqual({
      code: 100,
      message: expect.stringContaining('did not answer'),
      data: false,
    });
  });

  it('offers the examples, says where to go, and stops with exit code 0', async () => {
    const { welcome, url, stop } = await serve(['--examples']);
    expect(welcome).toContain('the built-in scripted model answers');
    expect(welcome).toContain(`curl -N -X POST ${url}/api/v1/agents/example-chat/stream`);
    expect(answerIn(await stream(url, 'example-hello', { query: 'hi' }))).toBe(
      'Hello! You said "hi", and this is turn 1.',
    );
    expect(answerIn(await stream(url, 'example-chat', { query: 'why?' }))).toMatch(
      /You asked: “why\?” – and this answer/,
    );
    const { exit, err } = await stop();
    expect(exit).toBe(0);
    expect(JSON.parse(err.trim().split('\n').at(-1) as string)).toMatchObject({ msg: 'stopping' });
    await expect(fetch(url)).rejects.toThrow();
  });

  it('leaves out the examples that a tenant has no room for', async () => {
    const { url, stop } = await serve(['--examples'], { RUNNEL_QUOTA_AGENTS: '2' });
    const { data } = (await (await fetch(`${url}/api/v1/agents`)).json()) as { data: { total: number } };
    expect(data.total).toBe(2);
    expect((await stop()).err).toContain('an example is left out');
  });

  it('gives the examples to every tenant, and asks for a key', async () => {
    const { welcome, url } = await serve(['--examples'], {
      RUNNEL_API_KEYS: 'ann=secret-key-of-ann,bob=secret-key-of-bob',
    });
    expect(welcome).toContain('-H "authorization: Bearer $KEY"');
    expect(welcome).not.toContain('secret');
    for (const key of ['secret-key-of-ann', 'secret-key-of-bob']) {
      const text = await stream(url, 'example-hello', { query: 'hi' }, { authorization: `Bearer ${key}` });
      expect(answerIn(text)).toContain('Hello!');
    }
    expect(await stream(url, 'example-hello', { query: 'hi' })).not.toContain('Hello!');
  });

  it('names providers without their keys, and has no agents of its own', async () => {
    const { welcome } = await serve([], { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', OPENAI_API_KEY: 'secret-key' });
    expect(welcome).toContain('default (http://127.0.0.1:9/v1)');
    expect(welcome).toContain('none yet; --examples brings some');
    expect(welcome).not.toContain('secret');
  });

  it('refuses wrong settings and a port that is taken with exit code 2', async () => {
    const wrong = await call(['serve'], { env: { RUNNEL_PORT: 'high', RUNNEL_HOST: '0.0.0.0' } });
    expect(wrong).toMatchObject({ exit: 2, out: '' });
    expect(wrong.err).toMatch(/RUNNEL_PORT must be a whole number .*\[CONFIG_INVALID\]/s);
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const folder = await temporaryFolder();
    const taken = await call(['serve'], { env: { RUNNEL_PORT: String(port), RUNNEL_DATA_DIR: folder } });
    expect(taken).toMatchObject({ exit: 2, out: '' });
    expect(taken.err).toMatch(/EADDRINUSE.*\[CONFIG_INVALID\]/s);
    // Nothing was made for a server that cannot start.
    expect(await readdir(folder)).toEqual([]);
  });

  it('refuses a data folder that another process uses with exit code 2', async () => {
    const folder = await temporaryFolder();
    await serve([], { RUNNEL_DATA_DIR: folder });
    const second = await call(['serve'], { env: { RUNNEL_PORT: '0', RUNNEL_DATA_DIR: folder } });
    expect(second).toMatchObject({ exit: 2, out: '' });
    expect(second.err).toMatch(/is in use by process \d+.*\[CONFIG_INVALID\]/s);
  });

  it('warns of variables that are named like settings and are none', async () => {
    const { stop } = await serve([], { RUNNEL_PROT: '80', RUNNEL_SOMETHING_ELSE: 'x' });
    const { err } = await stop();
    expect(err).toContain('warning: RUNNEL_PROT is no setting and is ignored. Did you mean "RUNNEL_PORT"?\n');
    expect(err).toContain('warning: RUNNEL_SOMETHING_ELSE is no setting and is ignored.\n');
    expect(err).not.toContain('RUNNEL_DATA_DIR is no setting');
  });

  it('lists every setting in its help', async () => {
    const { exit, out } = await call(['serve', '--help']);
    expect(exit).toBe(0);
    for (const { name } of describeGroups().flatMap(([, settings]) => settings)) expect(out).toContain(`\n  ${name} (`);
  });
});
