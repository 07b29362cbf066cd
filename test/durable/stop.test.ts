/** Servers that are told to stop in the middle of something: each ends by itself, and the next one resumes what it left. */
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/json.js';
import { startSlowLink } from '../stores/redis/support/slow-link.js';
import { describePostgres, startPostgres } from '../stores/support/postgres-server.js';
import { documentOf } from '../transport/support/documents.js';
import { attach, startRun, textShown } from './support/follower.js';
import { call, environment, type ServerEnvironment, startProcess } from './support/server-process.js';

const TIME_LIMIT_MS = 240_000;

/** Stops at once, with the least time to do so. */
const AT_ONCE: ServerEnvironment = { RUNNEL_SHUTDOWN_GRACE_MS: '0' };

/** A model that says a word, takes long, and says the rest. */
const SLOW = { reply_stream: ['one ', 'two ', 'three'], delay_ms: 1_500 };

/** One that says more than a client reads. */
const FLOOD = { reply_stream: Array.from({ length: 100_000 }, () => 'x'.repeat(200)), delay_ms: 0 };

const speaking = (prompt: string): JsonObject =>
  documentOf({
    begin: ['Begin', ['LLM:Say']],
    'LLM:Say': [
      'LLM',
      ['Message:Out'],
      { llm_id: 'scripted', sys_prompt: prompt, prompts: [{ role: 'user', content: '{sys.query}' }] },
    ],
    'Message:Out': ['Message', [], { content: ['{LLM:Say@content}'] }],
  });

const ENDLESS = documentOf({
  begin: ['Begin', ['StringTransform:A']],
  'StringTransform:A': ['StringTransform', ['StringTransform:B'], { method: 'merge', script: 'a', delimiters: [' '] }],
  'StringTransform:B': ['StringTransform', ['StringTransform:A'], { method: 'merge', script: 'b', delimiters: [' '] }],
});

async function withModels(settings: ServerEnvironment): Promise<ServerEnvironment> {
  const given = await environment({ ...AT_ONCE, RUNNEL_MAX_STEPS: '1000000000', ...settings });
  const models = path.join(given.RUNNEL_DATA_DIR as string, 'models.json');
  await writeFile(
    models,
    JSON.stringify({ scripted: { rules: [{ when: { system: 'Flood' }, ...FLOOD }], default: SLOW } }),
  );
  return { ...given, RUNNEL_MODELS: models };
}

async function createAgent(url: string, title: string, dsl: JsonObject): Promise<string> {
  return (await call(`${url}/api/v1/agents`, { title, dsl })).data.id;
}

/** A client that requests a run, and reads nothing of it. */
function requestWithoutReading(url: string, agent: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const body = JSON.stringify({ query: 'x' });
  const head = `POST /api/v1/agents/${agent}/stream HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
      socket.pause();
      resolve(socket);
    });
    socket.once('error', reject);
    onTestFinished(() => void socket.destroy());
  });
}

it('beside a flood, an endless canvas and clients that do not read', { timeout: TIME_LIMIT_MS }, async () => {
  const env = await withModels({});
  const first = await startProcess(env);
  let url = first.url;
  const agent = await createAgent(first.url, 'Slow', speaking('Count.'));
  const flood = await createAgent(first.url, 'Flood', speaking('Flood.'));
  const endless = await createAgent(first.url, 'Endless', ENDLESS);
  for (const one of [flood, flood, endless, endless]) await requestWithoutReading(first.url, one);
  const follower = await startRun(() => url, agent);
  await first.stop();
  expect(first.log()).toContain('stopping');

  const second = await startProcess(env);
  url = second.url;
  await follower?.done;
  expect(textShown(follower?.seen ?? [])).toBe('one two three');
  await call(`${url}/api/v1/agents/${endless}/cancel`, {});
  await call(`${url}/api/v1/agents/${flood}/cancel`, {});
});

describePostgres('a server whose database does not answer', () => {
  it('ends, and leaves its runs to the next one', { timeout: TIME_LIMIT_MS }, async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.stop());
    const database = await postgres.createDatabase();
    const link = await startSlowLink(database);
    const behind = new URL(database);
    behind.port = new URL(link.url).port;
    behind.hostname = '127.0.0.1';
    const env = await withModels({});
    const first = await startProcess({ ...env, DATABASE_URL: behind.href });
    let url = first.url;
    const agent = await createAgent(first.url, 'Slow', speaking('Count.'));
    const follower = await startRun(() => url, agent);
    await link.holdRequests();
    await first.stop();
    await link.close();

    const second = await startProcess({ ...env, DATABASE_URL: database });
    url = second.url;
    await follower?.done;
    const { run = '' } = follower ?? {};
    const again = attach(() => url, agent, run);
    await again.done;
    expect(textShown(again.seen)).toBe('one two three');
  });
});
