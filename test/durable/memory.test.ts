/**
 * What runs cost that wait, and what runs leave that have ended: 1,000 and 10,000 of them. Collected garbage counts, but V8's compiled code
 * does as well, so that a few runs would tell nothing: `npm run test:faults` alone has these trials.
 */
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { JsonObject } from '../../src/json.js';
import { skippedUnless } from '../support/skipped.js';
import { documentOf, ECHO, FORM } from '../transport/support/documents.js';
import { gauge } from './support/metrics.js';
import { call, environment, type ServerProcess, startProcess } from './support/server-process.js';
import { IS_FULL } from './support/size.js';

const TIME_LIMIT_MS = 600_000;
const WAITING = 1_000;
const ENDED = 10_000;
/** The most that an ended run may leave, in bytes. */
const MOST_LEFT = 256;

const MODELS: JsonObject = {
  scripted: { rules: [], default: { reply_stream: Array.from({ length: 100 }, () => 'word '), delay_ms: 60_000 } },
};

/** A run of it is at work until its model says the next word. */
const IDLE = documentOf({
  begin: ['Begin', ['LLM:Say']],
  'LLM:Say': [
    'LLM',
    ['Message:Out'],
    { llm_id: 'scripted', sys_prompt: 'x', prompts: [{ role: 'user', content: '{sys.query}' }] },
  ],
  'Message:Out': ['Message', [], { content: ['{LLM:Say@content}'] }],
});

interface Subject {
  readonly server: ServerProcess;
  readonly agent: string;
}

describe.runIf(IS_FULL)(skippedUnless(IS_FULL, 'npm run test:faults runs it', 'the memory of a server'), () => {
  it.each<
    [
      name: string,
      dsl: JsonObject,
      start: (subject: Subject) => Promise<unknown>,
      atWork: number,
      mostKilobytes: number,
    ]
  >([
    ['runs that wait for the input of their user', FORM, runToEnd, 0, 20],
    ['runs that wait for input over a WebSocket', FORM, askOverWebSocket, 0, 50],
    ['runs at work without a client', IDLE, startAndLeave, WAITING, 64],
    ['runs at work, each with a client', IDLE, startAndFollow, WAITING, 96],
  ])(`has room for ${WAITING} %s`, { timeout: TIME_LIMIT_MS }, async (name, dsl, start, atWork, mostKilobytes) => {
    const subject = await startSubject(dsl);
    // What is made once.
    await inTurns(100, () => start(subject));
    const before = await memoryOf(subject.server);
    await inTurns(WAITING, () => start(subject));
    while ((await gauge(subject.server.url, 'runnel_runs_active')) < atWork) await pause(100);
    const after = await memoryOf(subject.server);
    const each = (after.heapUsed + after.external - before.heapUsed - before.external) / WAITING;
    const resident = (after.rss - before.rss) / WAITING;
    console.log(`${name}: ${kilobytes(each)} KB each, resident ${kilobytes(resident)} KB`);
    expect(each / 1024).toBeLessThanOrEqual(mostKilobytes);
  });

  it(`is the same after ${ENDED} runs`, { timeout: TIME_LIMIT_MS }, async () => {
    const subject = await startSubject(ECHO);
    await inTurns(ENDED / 5, () => runToEnd(subject));
    const before = await memoryOf(subject.server);
    await inTurns(ENDED, () => runToEnd(subject));
    const after = await memoryOf(subject.server);
    const left = (after.heapUsed + after.external - before.heapUsed - before.external) / ENDED;
    console.log(
      `${ENDED} runs: ${left.toFixed(0)} bytes left by each, resident ${kilobytes(after.rss - before.rss)} KB`,
    );
    expect(left).toBeLessThanOrEqual(MOST_LEFT);
    expect(await gauge(subject.server.url, 'runnel_runs_active')).toBe(0);
    expect(await gauge(subject.server.url, 'runnel_open_sockets')).toBe(0);
  });
});

async function startSubject(dsl: JsonObject): Promise<Subject> {
  const env = await environment({
    NODE_OPTIONS: `--import ${pathToFileURL(path.join(import.meta.dirname, 'support/report-memory.mjs')).href}`,
    RUNNEL_WS_IDLE_MS: '3600000',
    // Longer than a trial: renewals would come in between.
    RUNNEL_LEASE_MS: '600000',
  });
  const models = path.join(env.RUNNEL_DATA_DIR as string, 'models.json');
  await writeFile(models, JSON.stringify(MODELS));
  const server = await startProcess({ ...env, RUNNEL_MODELS: models });
  const { data } = await call(`${server.url}/api/v1/agents`, { title: 'Subject', dsl });
  return { server, agent: data.id };
}

interface Memory {
  readonly report: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly rss: number;
}

/** After what was under way is over, and garbage was collected. */
async function memoryOf(server: ServerProcess): Promise<Memory> {
  const known = reportsOf(server).at(-1)?.report ?? 0;
  for (let wanted = known + 1; wanted <= known + 2; wanted += 1) {
    await pause(1_000);
    process.kill(server.pid, 'SIGUSR2');
    while (reportsOf(server).at(-1)?.report !== wanted) await pause(50);
  }
  return reportsOf(server).at(-1) as Memory;
}

function reportsOf(server: ServerProcess): readonly Memory[] {
  return [...server.log().matchAll(/^memory (.+)$/gm)].map(([, text = '']) => JSON.parse(text));
}

/** Twenty at a time. */
async function inTurns(count: number, work: () => Promise<unknown>): Promise<void> {
  let begun = 0;
  const client = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: 20 }, client));
}

async function runToEnd({ server, agent }: Subject): Promise<void> {
  const response = await fetch(`${server.url}/api/v1/agents/${agent}/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'x' }),
  });
  const text = await response.text();
  if (!text.includes('[DONE]')) throw new Error(text);
}

/** Resolves with the first events; the connection stays open. */
function startAndFollow(subject: Subject): Promise<() => void> {
  const { server, agent } = subject;
  const body = JSON.stringify({ query: 'x' });
  return new Promise((resolve, reject) => {
    const sent = request(`${server.url}/api/v1/agents/${agent}/stream`, {
      method: 'POST',
      agent: false,
      headers: { 'content-type': 'application/json', 'content-length': body.length },
    });
    onTestFinished(() => void sent.destroy());
    sent.on('error', reject);
    sent.once('response', (response) => response.once('data', () => resolve(() => void sent.destroy())).resume());
    sent.end(body);
  });
}

async function startAndLeave(subject: Subject): Promise<void> {
  (await startAndFollow(subject))();
}

function askOverWebSocket({ server, agent }: Subject): Promise<void> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/agents/${agent}/live`, ['ragflow.agent.v1']);
  onTestFinished(() => socket.terminate());
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as { readonly type: string };
      if (frame.type === 'ready') socket.send(JSON.stringify({ type: 'run', query: 'x' }));
      if (frame.type === 'done') resolve();
      if (frame.type === 'error') reject(new Error(String(data)));
    });
  });
}

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}
