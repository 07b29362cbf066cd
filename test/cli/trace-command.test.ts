import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MODEL } from '../transport/support/documents.js';
import { startServer } from '../transport/support/server.js';
import { call } from './fake-terminal.js';

const HELLO = new URL('../../examples/hello/canvas.json', import.meta.url).pathname;

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'runnel-trace-'));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

describe('runnel trace', () => {
  it('draws what `runnel run --events` printed, from a file and from the standard input', async () => {
    const { out: events } = await call(['run', HELLO, '--query', 'x', '--events']);
    const file = path.join(await folder(), 'events.jsonl');
    await writeFile(file, events);
    const fromFile = await call(['trace', file]);
    expect(fromFile).toMatchObject({ exit: 0, err: '' });
    expect(fromFile.out).toMatch(/^succeeded after .* · \d+ nodes/);
    expect(fromFile.out).toMatch(/^begin /m);
    expect((await call(['trace', '-'], { input: events })).out).toBe(fromFile.out);
  });

  it('writes a page, and prints JSON', async () => {
    const { out: events } = await call(['run', HELLO, '--query', 'x', '--events']);
    const file = path.join(await folder(), 'run.html');
    const shown = await call(['trace', '-', '--html', file, '--json'], { input: events });
    expect(JSON.parse(shown.out)).toMatchObject({ status: 'succeeded' });
    expect(await readFile(file, 'utf8')).toContain('<title>Run -</title>');
  });

  it('asks a server for a run by its id', async () => {
    const server = await startServer({ env: { RUNNEL_API_KEYS: 'acme=one-of-acme-long-key' } });
    const headers = { authorization: 'Bearer one-of-acme-long-key' };
    await server.agent(MODEL, headers);
    const id = await server.agent(MODEL, headers);
    const answer = await server.call('POST', `/api/v1/agents/${id}/run`, { query: 'x' }, headers);
    const run = answer.headers.get('x-run-id') as string;
    const env = { RUNNEL_API_KEY: 'one-of-acme-long-key', RUNNEL_URL: server.url };

    expect((await call(['trace', run], { env })).out).toMatch(/^succeeded .*\n[\s\S]*^LLM:M /m);
    const known = await call(['trace', run, '--agent', id, '--url', `${server.url}/`], { env });
    expect(known).toMatchObject({ exit: 0, out: expect.stringMatching(/\nAgent 2 · "x"\n[\s\S]*\n {2}model /) });
    const unknown = await call(['trace', 'no-such-run'], { env });
    expect(unknown).toMatchObject({ exit: 2, out: '' });
    expect(unknown.err).toContain('no run "no-such-run"');
    const keyless = await call(['trace', run, '--url', server.url]);
    expect(keyless).toMatchObject({ exit: 2, err: expect.stringContaining('wants a key: set RUNNEL_API_KEY') });
    const foreign = await call(['trace', run], { env: { ...env, RUNNEL_API_KEY: 'two-of-others-long-key' } });
    expect(foreign).toMatchObject({ exit: 2, err: expect.stringContaining('does not take the key in RUNNEL_API_KEY') });
  });

  it('shows a run that goes on as far as it got', async () => {
    const server = await startServer();
    const components = {
      begin: { obj: { component_name: 'Begin', params: {} }, downstream: ['Probe:P'], upstream: [] },
      'Probe:P': { obj: { component_name: 'Probe', params: {} }, downstream: [], upstream: [] },
    };
    const id = await server.agent({ ...MODEL, components });
    const stream = await fetch(`${server.url}/api/v1/agents/${id}/stream`, { method: 'POST' });
    const run = stream.headers.get('x-run-id') as string;
    const probe = await server.probes.next();
    const shown = await call(['trace', run, '--url', server.url]);
    expect(shown).toMatchObject({ exit: 0, out: expect.stringMatching(/^running/) });
    probe.settle();
    await stream.text();
  });

  it.each([
    ['nothing', ''],
    ['something else', 'hello\n'],
    ['JSON that is no event', '{"a": 1}\n'],
    ['an event that is not whole', '{"type": "node-delta", "at": 1, "seq": 1, "node": "a"}\n'],
  ])('refuses %s', async (_, input) => {
    expect(await call(['trace', '-'], { input })).toMatchObject({
      exit: 2,
      out: '',
      err: expect.stringContaining('event'),
    });
  });

  it.each([
    [['trace', '../no/such/file']],
    [['trace', 'run', '--url', 'ftp://x']],
    [['trace', 'run', '--url', 'http://127.0.0.1:1']],
    [['trace']],
  ])('refuses %j', async (args) => {
    expect((await call(args)).exit).toBe(2);
  });
});
