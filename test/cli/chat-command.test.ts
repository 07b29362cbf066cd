import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../stores/support/temporary-folder.js';
import { FREE, startChatServer } from '../transport/chat/chat-server.js';
import { call } from './fake-terminal.js';

/** A data folder with one dataset. */
async function withDataset() {
  const folder = await temporaryFolder();
  const env = { RUNNEL_DATA_DIR: path.join(folder, 'data') };
  await mkdir(path.join(folder, 'texts'));
  await writeFile(
    path.join(folder, 'texts/lamps.md'),
    'The lamp of the lighthouse of Ushant turns once in ten seconds.',
  );
  const made = await call(['ingest', path.join(folder, 'texts'), '--dataset', 'lamps'], { env });
  expect(made.exit).toBe(0);
  return { env };
}

const eventsIn = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('runnel chat', () => {
  it('answers from a dataset, without a model says so, and shows the sources', async () => {
    const { env } = await withDataset();
    const question = 'How fast does the lamp of Ushant turn?';
    const shown = await call(['chat', question, '--dataset', 'lamps', '--stages'], { env });
    expect(shown.exit).toBe(0);
    expect(shown.err).toContain('note: no model is configured');
    expect(shown.out).toMatch(/^\[1\] lamps\.md \(\d\.\d\d\)\n {4}The lamp of the lighthouse of Ushant turns once/);
    expect(shown.err).toMatch(/6 Multi-Channel: ok, \d+ ms/);
    const told = eventsIn((await call(['chat', question, '--json'], { env })).out);
    expect(told[0]).toMatchObject({ type: 'session' });
    expect(told.at(-1)).toMatchObject({ type: 'final', evidence: [{ n: 1, source: 'lamps.md' }] });
    // The same conversation goes on, as the first question of another one.
    const session = told[0].session_id;
    const typed = await call(['chat', '--json', '--session', session], { env, input: 'hello\n\nthanks\n' });
    const sessions = eventsIn(typed.out).filter(({ type }) => type === 'session');
    expect(sessions.map(({ session_id }) => session_id)).toEqual([session, session]);
    expect(typed.exit).toBe(0);
  });

  it('asks a server', async () => {
    const env = { RUNNEL_API_KEYS: 'ann=secret-key-of-ann' };
    const { url, model } = await startChatServer({ env });
    const client = { RUNNEL_URL: url, RUNNEL_API_KEY: 'secret-key-of-ann' };
    const answer = model.next().then((answering) => {
      answering.say('A light.');
      answering.finish();
    });
    const { message } = FREE;
    const asked = call(['chat', message, '--json'], { env: client });
    const told = eventsIn((await asked).out);
    expect(told.at(-1)).toMatchObject({ type: expect.stringMatching(/^(?:final|error)$/) });
    const refused = await call(['chat', message, '--url', url], { env: {} });
    expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining('Missing Authorization header') });
    const stopped = await call(['chat', message, '--url', 'http://127.0.0.1:1'], { env: {} });
    expect(stopped).toMatchObject({ exit: 2, err: expect.stringContaining('Cannot ask http://127.0.0.1:1') });
    void answer;
  });

  it.each([
    [['chat', ''], /question is empty/],
    [['chat', 'a', 'b'], /one argument too many/],
    [['chat', 'a', '--url', 'ftp://x'], /http:\/\//],
  ])('refuses %j', async (args, message) => {
    expect(await call(args, { env: {} })).toMatchObject({ exit: 2, err: expect.stringMatching(message) });
  });

  it('names a dataset that does not exist, and a session', async () => {
    const env = { RUNNEL_DATA_DIR: await temporaryFolder() };
    const dataset = await call(['chat', 'x', '--dataset', 'none'], { env });
    expect(dataset).toMatchObject({ exit: 1, err: expect.stringContaining('There is no dataset "none"') });
    const session = await call(['chat', 'x', '--session', 'none'], { env });
    expect(session).toMatchObject({ exit: 1, err: expect.stringContaining('Session not found!') });
  });
});
